import { expect } from 'vitest'
import { type Body, connectGrpc, type GrpcClient } from '../../../support/grpc-client.ts'
import { ask } from '../load/ask.ts'
import { CUT, OPEN } from '../network/gate.ts'
import type { StruckServer } from '../network/struck-cluster.ts'
import { holds, LEASE_MS, pause, seconds, SLACK, type Strike } from './scene.ts'

/** A connection that is silent for so long is asked, and ended when its client does not reply in time. */
const SILENT_MS = 20_000
const REPLY_MS = 3_000
/** The instances of a server that is gone are kept for so long. */
const KEPT_MS = 40_000
/** A sweep, and what a busy machine takes. */
const SWEEP_MS = 2_000
const LISTS = '/svc/v1/ns/instance/list'
const SHOWN = '/svc/v1/console/instances'

/** Longer than a server takes to notice that a client is gone. */
const CUT_MS = SILENT_MS + REPLY_MS + 5_000

/** Strikes against connections of clients, and clients that do not come back. */
export const CONNECTION_STRIKES: readonly Strike[] = [
  {
    name: 'nothing: the instance of a connected client that falls silent leaves in time',
    form: 'long',
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
    form: 'long',
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
    form: 'long',
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

/** The service of the instance of {@link startMovingClient}. */
const MOVING = 'moving'
const LOOK_MS = 3_000

/** A client that asks a frozen server to register its instance, gives up, and registers it at another one. */
export interface MovingClient {
  /** The frozen server reads what it was asked for when it wakes. */
  move(other: StruckServer): Promise<void>
  /** Looks for some seconds whether the instance stays where it has moved to. */
  stays(other: StruckServer): Promise<void>
}

/** Connects to a server that is going to be frozen. */
export async function startMovingClient(server: StruckServer): Promise<MovingClient> {
  const before = await clientOf(server)
  let after: GrpcClient | undefined
  return {
    async move(other) {
      before.ask('InstanceRequest', registration(MOVING)).catch(() => undefined)
      after = await clientOf(other)
      expect((await after.ask('InstanceRequest', registration(MOVING))).body).toMatchObject({
        resultCode: 200,
      })
    },
    async stays({ url }) {
      for (const untilMs = performance.now() + LOOK_MS; performance.now() < untilMs; await pause(20)) {
        const reply = await ask(url, { method: 'GET', path: SHOWN, query: { serviceName: MOVING } })
        if (reply.kind === 'answered') expect(reply.text).toContain('"where":"here"')
      }
      before.session.destroy()
      await after?.close()
    },
  }
}

/** A client that registers an instance, and then says nothing more. */
async function silentClient(server: StruckServer, serviceName: string): Promise<GrpcClient> {
  const client = await clientOf(server)
  expect((await client.ask('InstanceRequest', registration(serviceName))).body).toMatchObject({
    resultCode: 200,
  })
  return client
}

/** A client that replies to nothing. */
async function clientOf({ url, grpcPort }: StruckServer): Promise<GrpcClient> {
  return connectGrpc({ port: Number(new URL(url).port) }, { grpcPort, reply: () => undefined })
}

function registration(serviceName: string): Body {
  const instance = { ip: '127.0.6.1', port: 1, healthy: true, ephemeral: true, metadata: {} }
  return { namespace: '', groupName: 'DEFAULT_GROUP', serviceName, type: 'registerInstance', instance }
}

/** Whether no server lists an instance of a service. */
async function isGone(servers: readonly StruckServer[], serviceName: string): Promise<boolean> {
  const lists = await Promise.all(
    servers.map(async ({ url }) => ask(url, { method: 'GET', path: LISTS, query: { serviceName } })),
  )
  return lists.every((reply) => reply.kind === 'answered' && reply.text.includes('"hosts":[]'))
}
