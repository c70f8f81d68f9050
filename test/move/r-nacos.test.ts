import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { PlanLine } from '../../src/move/plan.ts'
import { readPlanLine } from '../../src/move/read-plan.ts'
import { type Client, clientsOf } from '../interface/client.ts'
import { runWaypost } from '../support/waypost.ts'

/** The binary of the Rust server: scripts/install-peer.sh builds it. */
const BINARY = process.env['RNACOS']
const READY_WITHIN_MS = 60_000
/** Some starts acknowledge writes and never store them. */
const MOST_STARTS = 8

/** The Rust server on loopback. */
class RustServer {
  readonly port: number
  readonly #child: ChildProcess

  constructor(port: number) {
    this.port = port
    const directory = mkdtempSync(join(inject('temporaryDirectory'), 'r-nacos-'))
    const env = {
      PATH: process.env['PATH'],
      RNACOS_SDK_HOST: '127.0.0.1',
      RNACOS_CONSOLE_HOST: '127.0.0.1',
      RNACOS_HTTP_PORT: String(port),
      RNACOS_GRPC_PORT: String(port + 1_000),
      RNACOS_HTTP_CONSOLE_PORT: '0',
      RNACOS_DATA_DIR: directory,
    }
    this.#child = spawn(BINARY!, [], { stdio: 'ignore', env, cwd: directory })
  }

  get client(): Client {
    return clientsOf(`http://127.0.0.1:${this.port}`).nacos
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

async function startRustServer(): Promise<RustServer> {
  for (let start = 0; start < MOST_STARTS; start++) {
    const server = new RustServer(await freePort())
    if (await takesWrites(server.client)) return server
    server.stop()
  }
  throw new Error(`The Rust server took no writes in ${MOST_STARTS} starts.`)
}

async function takesWrites(client: Client): Promise<boolean> {
  const item = { dataId: 'first', group: 'G' }
  const end = performance.now() + READY_WITHIN_MS
  while (performance.now() < end) {
    const written = await client.post('/cs/configs', { ...item, content: 'x' }).catch(() => undefined)
    if (written?.status === 200) {
      await sleep(1_000)
      return (await client.get('/cs/configs', item)).status === 200
    }
    await sleep(100)
  }
  return false
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port < 60_000 ? port : freePort()
}

describe.skipIf(BINARY === undefined)('the plan of the Rust server (RNACOS names its binary)', () => {
  let server: RustServer
  beforeAll(async () => {
    server = await startRustServer()
  }, READY_WITHIN_MS * MOST_STARTS)
  afterAll(() => server?.stop())

  test('has its items, services and persistent instances, and says what it does not give', async () => {
    const { client } = server
    await client.post('/console/namespaces', {
      customNamespaceId: 'dev',
      namespaceName: 'Dev',
      namespaceDesc: '',
    })
    await client.post('/cs/configs', {
      tenant: 'dev',
      dataId: 'a.json',
      group: 'G',
      content: '{"日": "⚙"}\r\n',
      type: 'json',
    })
    for (let index = 0; index < 20; index++)
      await client.post('/cs/configs', { dataId: `item-${index}`, group: 'G', content: `${index}` })
    await client.post('/ns/service', {
      serviceName: 'db',
      groupName: 'G',
      protectThreshold: 0.5,
      metadata: '{"a":"b"}',
      namespaceId: 'dev',
    })
    const instance = { serviceName: 'G@@db', ip: '10.0.0.1', port: 3306, namespaceId: 'dev' }
    await client.post('/ns/instance', { ...instance, ephemeral: false, metadata: '{"k":"v"}', weight: 2.5 })
    await client.post('/ns/instance', { serviceName: 'G@@app', ip: '10.0.0.2', port: 80 })

    const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
    const from = `http://127.0.0.1:${server.port}`
    expect(await runWaypost(['move', '--from', from, '--ephemeral', '--plan', file])).toMatchObject({
      code: 0,
      stderr: '',
    })
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((text, index) => readPlanLine(text, index + 1))
    const of = (kind: PlanLine['kind']) => lines.filter((line) => line.kind === kind)
    expect(of('plan')).toMatchObject([{ sources: [{ kind: 'r-nacos' }] }])
    expect(of('namespace')).toContainEqual({ kind: 'namespace', id: 'dev', name: 'Dev', desc: '' })
    expect(of('config')).toHaveLength(22)
    expect(of('config')).toContainEqual(
      expect.objectContaining({
        namespace: 'dev',
        dataId: 'a.json',
        content: '{"日": "⚙"}\r\n',
        type: 'json',
      }),
    )
    expect(of('service')).toContainEqual(
      expect.objectContaining({
        namespace: 'dev',
        group: 'G',
        name: 'db',
        protectThreshold: 0.5,
        metadata: { a: 'b' },
      }),
    )
    expect(of('instance')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          service: 'db',
          ip: '10.0.0.1',
          ephemeral: false,
          weight: 2.5,
          metadata: { k: 'v' },
        }),
        expect.objectContaining({ service: 'app', ip: '10.0.0.2', ephemeral: true }),
      ]),
    )
    const missing = of('cannot-come').map((line) => ('about' in line ? line.about : ''))
    expect(missing).toEqual(['history', 'config', 'user', 'switch'])
  })
})
