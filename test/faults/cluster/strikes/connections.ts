import { expect } from 'vitest'
import { connectGrpc, type GrpcClient } from '../../../support/grpc-client.ts'
import { ask } from '../load/ask.ts'
import { CUT, OPEN } from '../network/gate.ts'
import type { StruckServer } from '../network/struck-cluster.ts'
import { holds, LEASE_MS, pause, seconds, SLACK, type Strike } from './scene.ts'

/** A connection that is silent for so long is asked, and ended when its client does not reply in time. */
const SILENT_MS = 20_000
const REPLY_MS = 3_000
/** The instances of a server that is gone are kept for so long. */
const KEPT_MS = 35_000
/** A sweep, and what a busy machine takes. */
const SWEEP_MS = 2_000

/** Longer than a server takes to notice that a client is gone. */
const CUT_MS = SILENT_MS + REPLY_MS + 5_000

/** Strikes against connections of clients, and clients that do not come back. */
export const CONNECTION_STRIKES: readonly Strike[] = [
  {
    name: 'nothing: the instance of a connected client that falls silent leaves in time',
    isShort: false,
    struck: () => [],
    isHiddenFromOthers: true,
    async run({ cluster: { servers }, note }) {
      const client = await silentClient(servers[1]!, 'silent-client')
      const limitMs = (SILENT_MS + REPLY_MS + SWEEP_MS) * SLACK
      const tookMs = await holds('it leaves', () => isGone(servers, 'silent-client'), limitMs)
      expect(tookMs).toBeGreaterThan(SILENT_MS)
      note(`the instance of a silent client was gone after ${seconds(tookMs)}`)
      client.session.destroy()
    },
  },
  {
    name: 'a server cut off from its clients of gRPC',
    isShort: false,
    struck: () => [2],
    isHiddenFromOthers: true,
    async run({ cluster: { servers } }) {
      const server = servers[2]!
      server.toClients(CUT)
      await pause(CUT_MS)
      server.toClients(OPEN)
    },
  },
  {
    name: 'kill -9 of a server whose client does not come back',
    isShort: false,
    struck: () => [0],
    isHiddenFromOthers: true,
    async run({ cluster: { servers }, note }) {
      const [struck, ...others] = servers
      const client = await silentClient(struck!, 'left-behind')
      await struck!.kill()
      client.session.destroy()
      await pause(KEPT_MS - 1_000)
      expect(await isGone(others, 'left-behind')).toBe(false)
      const limitMs = (LEASE_MS + SWEEP_MS) * SLACK
      const tookMs = await holds('its instance leaves', () => isGone(others, 'left-behind'), limitMs)
      note(`the instance of a lost client was gone ${seconds(KEPT_MS - 1_000 + tookMs)} after its server`)
      await struck!.restart()
    },
  },
]

/** A client that registers an instance, and then says nothing more. */
async function silentClient(server: StruckServer, serviceName: string): Promise<GrpcClient> {
  const { url, grpcPort } = server
  const client = await connectGrpc({ port: Number(new URL(url).port) }, { grpcPort, reply: () => undefined })
  const instance = { ip: '127.0.6.1', port: 1, ephemeral: true, metadata: {} }
  const service = { namespace: '', groupName: 'DEFAULT_GROUP', serviceName }
  const { body } = await client.ask('InstanceRequest', { ...service, type: 'registerInstance', instance })
  expect(body).toMatchObject({ resultCode: 200 })
  return client
}

/** Whether no server lists an instance of a service. */
async function isGone(servers: readonly StruckServer[], serviceName: string): Promise<boolean> {
  const lists = await Promise.all(
    servers.map(async ({ url }) =>
      ask(url, { method: 'GET', path: '/svc/v1/ns/instance/list', query: { serviceName } }),
    ),
  )
  return lists.every((reply) => reply.kind === 'answered' && reply.text.includes('"hosts":[]'))
}
