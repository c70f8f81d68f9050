import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { captureFloor } from './capture.ts'
import { childOf, forkModule } from './child.ts'
import type { LoopDelay } from './loop-probe.ts'
import { modulePath } from './project.ts'

/** What kinds of server are measured: ours, the bare node:http floor, the Rust peer, or one given by its URL. */
export type Kind = 'ours' | 'floor' | 'peer' | 'other'

/** A server that is measured. */
export interface Target {
  readonly name: string
  readonly kind: Kind
  /** Up to the dialect: `http://127.0.0.1:8848/svc/v1`. */
  readonly base: string
  /** Undefined where it runs elsewhere: then nothing is told of processor and memory. */
  readonly pid: number | undefined
  /** From the start of the process to its first answer. */
  readonly startMs: number
  /** How late its event loop ran since this was last asked. */
  loopDelay(): Promise<LoopDelay | undefined>
  stop(): Promise<void>
}

/** How a target is started. `dataDir` is kept by its owner; without one a fresh one is made, and removed at the stop. */
export type Launch = (dataDir?: string) => Promise<Target>

/** Ours, from a built `main.js`. */
export function launchOurs(name: string, mainFile: string): Launch {
  return async (dataDir) => {
    const data = directoryFor(dataDir)
    const began = performance.now()
    const probe = modulePath('loop-probe')
    const args = [
      '--import',
      probe,
      mainFile,
      'start',
      '--port',
      '0',
      '--data-dir',
      data.path,
      '--log-level',
      'error',
    ]
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: cleanEnvironment(),
    })
    const watched = childOf(child)
    const url = await new Promise<string>((resolve, reject) => {
      let said = ''
      child.stdout!.setEncoding('utf8').on('data', (text: string) => {
        said += text
        const found = /(http:\/\/\S+)/.exec(said)?.[1]
        if (found !== undefined) resolve(found)
      })
      child.on('exit', (code) => reject(new Error(`${name} did not start (${code}): ${said}`)))
    })
    await firstAnswer(`${url}/svc/v1/console/namespaces`)
    return {
      name,
      kind: 'ours',
      base: `${url}/svc/v1`,
      pid: watched.pid,
      startMs: performance.now() - began,
      loopDelay: async () => (await watched.ask('loop-delay')) as LoopDelay,
      stop: () => watched.stop().then(data.remove),
    }
  }
}

/** The floor with the answers of `like`, which has to know the service and the item. */
export function launchFloor(like: Target, known: { service: string; dataId: string }): Launch {
  return async () => {
    const setup = await captureFloor(like.base, known)
    const began = performance.now()
    const child = forkModule(modulePath('floor'))
    const { port } = (await child.ask(setup)) as { port: number }
    return {
      name: 'floor',
      kind: 'floor',
      base: `http://127.0.0.1:${port}/svc/v1`,
      pid: child.pid,
      startMs: performance.now() - began,
      loopDelay: async () => (await child.ask('loop-delay')) as LoopDelay,
      stop: () => child.stop(),
    }
  }
}

/** Below the range that clients' sockets are given, where one in TIME_WAIT could hold the port. */
let nextPeerPort = 18_848

/** The Rust peer from its binary, on the loopback address. */
export function launchPeer(binary: string): Launch {
  return async (dataDir) => {
    const data = directoryFor(dataDir)
    const port = nextPeerPort
    nextPeerPort = port >= 19_700 ? 18_848 : port + 1
    const env = {
      ...cleanEnvironment(),
      RNACOS_SDK_HOST: '127.0.0.1',
      RNACOS_CONSOLE_HOST: '127.0.0.1',
      RNACOS_HTTP_PORT: String(port),
      RNACOS_GRPC_PORT: String(port + 1_000),
      RNACOS_HTTP_CONSOLE_PORT: '0',
      RNACOS_DATA_DIR: data.path,
    }
    const began = performance.now()
    const child = childOf(spawn(binary, [], { stdio: 'ignore', env, cwd: data.path }))
    const base = `http://127.0.0.1:${port}/nacos/v1`
    await firstAnswer(`${base}/console/namespaces`)
    const startMs = performance.now() - began
    await takesWrites(base)
    return {
      name: 'peer',
      kind: 'peer',
      base,
      pid: child.pid,
      startMs,
      loopDelay: () => Promise.resolve(undefined),
      stop: () => child.stop().then(data.remove),
    }
  }
}

/** A server that runs already: its base, and after a comma the id of its process where that is on this machine. */
export function foundTarget(text: string): Launch {
  const [base = '', pid] = text.split(',')
  return () =>
    Promise.resolve({
      name: base.replace(/^https?:\/\//, ''),
      kind: 'other',
      base,
      pid: pid === undefined ? undefined : Number(pid),
      startMs: 0,
      loopDelay: () => Promise.resolve(undefined),
      stop: () => Promise.resolve(),
    })
}

/** A directory for data that goes with its server. */
export function directoryFor(given?: string): { path: string; remove: () => void } {
  if (given !== undefined) return { path: given, remove: () => {} }
  const path = mkdtempSync(join(tmpdir(), 'waypost-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** The environment without settings of either server, which would change what is measured. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(WAYPOST|RNACOS)_/.test(name)))
}

const START_TIMEOUT_MS = 120_000

async function firstAnswer(url: string): Promise<void> {
  const until = performance.now() + START_TIMEOUT_MS
  for (;;) {
    const answered = await fetch(url).then(
      (answer) => answer.arrayBuffer().then(() => answer.ok),
      () => false,
    )
    if (answered) return
    if (performance.now() > until) throw new Error(`${url} does not answer.`)
    await sleep(5)
  }
}

/** Resolves once a publish can be read: the peer answers some time before it has elected itself. */
async function takesWrites(base: string): Promise<void> {
  const item = 'dataId=takes-writes&group=DEFAULT_GROUP'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  for (let tries = 0; tries < 200; tries++) {
    await fetch(`${base}/cs/configs`, { method: 'POST', headers, body: `${item}&content=yes` }).then(
      (answer) => answer.text(),
    )
    const read = await fetch(`${base}/cs/configs?${item}`)
    if ((await read.text()) === 'yes') return
    await sleep(50)
  }
  throw new Error(`${base} takes no writes.`)
}
