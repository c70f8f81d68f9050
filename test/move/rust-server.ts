import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { type Client, clientsOf } from '../interface/client.ts'
import type { NeededTools } from '../support/need-tool.ts'

/** Where scripts/install-peer.sh puts the binary. */
const BUILT = fileURLToPath(new URL('../../.cache/peer/bin/rnacos', import.meta.url))
/** The binary of the Rust server, if there is one. */
const BINARY = process.env['RNACOS'] ?? (existsSync(BUILT) ? BUILT : undefined)
/** Whether its tests are skipped: it is no program of a package, and its build takes about 15 minutes. */
export const PEER: NeededTools = {
  skip: BINARY === undefined,
  reason:
    'no binary of the Rust server: scripts/install-peer.sh builds one in 15 minutes, or RNACOS names it',
}
/** How long a test waits for it at most. */
export const RUST_START_MS = 480_000
const READY_WITHIN_MS = 60_000
/** Some starts acknowledge writes and never store them. */
const MOST_STARTS = 8

/** The Rust server on loopback. */
export class RustServer {
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

/** Starts one that stores what it acknowledges. */
export async function startRustServer(): Promise<RustServer> {
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
