import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { captureFloor } from './capture.ts'
import { childOf, forkModule } from './child.ts'
import type { InsideFigures } from './inside-probe.ts'
import { ASK_INSIDE, COLLECT } from './probe-messages.ts'
import { modulePath } from './project.ts'

/** The kinds of measured servers: ours, ours on etcd, ours whose callers sign in, the plain node:http floor, the Rust peer, or one with a given URL. */
export type Kind = 'ours' | 'on-etcd' | 'signed-in' | 'floor' | 'peer' | 'other'

/** A measured server. */
export interface Target {
  readonly name: string
  readonly kind: Kind
  /** The URL with the dialect: `http://127.0.0.1:8848/svc/v1`. */
  readonly base: string
  /** The header `Authorization` of every request, where callers must sign in. */
  readonly authorization?: string
  /** Undefined if it runs on another machine: then processor and memory are not measured. */
  readonly pid: number | undefined
  /** The time from the start of the process to its first answer. */
  readonly startMs: number
  /** The report of its process, since the last call. */
  inside(): Promise<InsideFigures | undefined>
  /** Collects the whole heap of its process, if it has the probe. */
  collect(): Promise<unknown>
  /** Sends a message to its probes, where it has them. */
  readonly ask?: (message: string) => Promise<unknown>
  /** Stops it; with SIGKILL as in a crash. */
  stop(signal?: 'SIGKILL'): Promise<void>
}

/** The options of one start of a target. */
export interface LaunchOptions {
  /** A data directory of the caller. By default a new one is created, and removed at the stop. */
  readonly dataDir?: string
  /** Settings of our server by name. Other kinds ignore them. */
  readonly settings?: Readonly<Record<string, string>>
  /** Its threads can be profiled. */
  readonly isProfiled?: boolean
}

/** Starts a target. */
export type Launch = (options?: LaunchOptions) => Promise<Target>

/** Our server, from a built `main.js`. */
export function launchOurs(name: string, mainFile: string): Launch {
  return async ({ dataDir, settings = {}, isProfiled = false } = {}) => {
    const data = directoryFor(dataDir)
    const began = performance.now()
    const probes = ['inside-probe', ...(isProfiled ? ['profile-probe'] : [])]
    const args = [
      ...probes.flatMap((probe) => ['--import', modulePath(probe)]),
      mainFile,
      'start',
      '--port',
      '0',
      '--data-dir',
      data.path,
      '--log-level',
      'error',
      ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
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
    await firstAnswer(`${url}/healthz`)
    return {
      name,
      kind: 'ours',
      base: `${url}/svc/v1`,
      pid: watched.pid,
      startMs: performance.now() - began,
      inside: async () => (await watched.ask(ASK_INSIDE)) as InsideFigures,
      collect: () => watched.ask(COLLECT),
      ask: watched.ask,
      stop: (signal) => watched.stop(signal).then(data.remove),
    }
  }
}

/** Our server with authentication on. Its loads sign in as a user who may do everything in the default namespace. */
export function launchSignedIn(mainFile: string): Launch {
  const launch = launchOurs('signed-in', mainFile)
  return async (options = {}) => {
    const { path: dataDir, remove } = directoryFor(options.dataDir)
    await addUsers(mainFile, dataDir, launch)
    const target = await launch({ ...options, dataDir })
    const authorization = `Bearer ${await tokenOf(target.base, USER)}`
    return { ...target, kind: 'signed-in', authorization, stop: (signal) => target.stop(signal).then(remove) }
  }
}

const USER = 'bench'
const ADMINISTRATOR = 'admin'
const PASSWORD = 'the password of the bench'

/** The first start makes the store, and the commands of the program its users. */
async function addUsers(mainFile: string, dataDir: string, launch: Launch): Promise<void> {
  await (await launch({ dataDir })).stop()
  for (const flags of [[ADMINISTRATOR, '--admin'], [USER]])
    execFileSync(process.execPath, [mainFile, 'user', 'add', ...flags, '--data-dir', dataDir], {
      input: `${PASSWORD}\n`,
    })
  const target = await launch({ dataDir })
  const headers = { Authorization: `Bearer ${await tokenOf(target.base, ADMINISTRATOR)}` }
  const permission = { role: 'benches', resource: 'public:*:*', action: 'rw' }
  for (const [path, form] of [
    ['roles', { role: 'benches', username: USER }],
    ['permissions', permission],
  ] as const)
    await fetch(`${target.base}/auth/${path}`, { method: 'POST', headers, body: new URLSearchParams(form) })
  await target.stop()
}

async function tokenOf(base: string, username: string): Promise<string> {
  const body = new URLSearchParams({ username, password: PASSWORD })
  const answer = await fetch(`${base}/auth/login`, { method: 'POST', body })
  return ((await answer.json()) as { accessToken: string }).accessToken
}

/** The floor with the answers of `like`, which must have the service and the item. */
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
      inside: async () => (await child.ask(ASK_INSIDE)) as InsideFigures,
      collect: () => child.ask(COLLECT),
      stop: () => child.stop(),
    }
  }
}

/** A running server: its base, and after a comma the id of its process if that is on this machine. */
export function foundTarget(text: string): Launch {
  const [base = '', pid] = text.split(',')
  return () =>
    Promise.resolve({
      name: base.replace(/^https?:\/\//, ''),
      kind: 'other',
      base,
      pid: pid === undefined ? undefined : Number(pid),
      startMs: 0,
      inside: () => Promise.resolve(undefined),
      collect: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    })
}

/** A data directory that is removed with its server. */
export function directoryFor(given?: string): { path: string; remove: () => void } {
  if (given !== undefined) return { path: given, remove: () => {} }
  const path = mkdtempSync(join(tmpdir(), 'waypost-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** The environment without settings of the servers, which would change the measurement. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(WAYPOST|RNACOS)_/.test(name)))
}

const START_TIMEOUT_MS = 120_000

/** Resolves when the address answers with a success. */
export async function firstAnswer(url: string): Promise<void> {
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
