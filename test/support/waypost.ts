import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { claimPort } from './port-claims.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory for the files of tests. It is removed after the run. */
    temporaryDirectory: string
    /** Where the etcd of the run is, for the project `on-etcd` (vitest.config.ts); undefined in others. */
    etcdEndpoints: readonly string[] | undefined
  }
}

/** The options of a server. By default it has a new directory and a free port. */
export interface WaypostOptions {
  /** Settings by their names, as flags: `{ 'log-level': 'debug' }`. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
  readonly dataDir?: string
  readonly port?: number
  /** A file that sets the port; no flag does then. */
  readonly settingsFile?: string
  readonly env?: Readonly<Record<string, string>>
  /** How long it may take until it answers. */
  readonly startMs?: number
}

/** A server in a process of its own. */
export interface Waypost {
  /** `http://127.0.0.1:<port>`, or `https:` with the setting `tls-cert`. */
  readonly url: string
  readonly port: number
  readonly dataDir: string
  readonly pid: number
  /** Its output so far, of both streams. */
  output(): string
  /** Sends the signal, SIGTERM by default. Resolves with the exit code, or null if the process did not handle the signal. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<number | null>
  /** Sends SIGKILL. The data directory stays as after a crash. */
  kill(): Promise<void>
  /** Starts the server again on the same port and data directory, after a stop if it still runs. */
  restart(): Promise<Waypost>
}

/** The program of this build. */
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
/** Passed on, so that a run of the tests can be repeated with Node's streams (vitest.config.ts). */
const PASSED_ON = 'WAYPOST_NODE_STREAMS'

/** A start takes half a second, and on a busy machine 50 times as long. */
const START_LIMIT_MS = 45_000
const STOP_LIMIT_MS = 30_000
const PORT_TRIES = 20
/** From the HTTP port to the gRPC port, as clients compute it. */
const GRPC_OFFSET = 1_000

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/**
 * Starts the built server on a free loopback port with an empty data directory (in the project `on-etcd`: without data in
 * etcd), and waits until it answers.
 * Throws with the output of the server where it ends or stays silent.
 */
export async function startWaypost(options: WaypostOptions = {}): Promise<Waypost> {
  const port = options.port ?? (await freePort())
  const dataDir = options.dataDir ?? temporaryDirectory('data-')
  const place = options.settingsFile === undefined ? { port } : { settings: options.settingsFile }
  const store = await storeOf(dataDir)
  const flags = flagsOf({ ...store, ...options.settings, ...place, 'data-dir': dataDir })
  const child = spawnWaypost(flags, options)
  const server = handleOf(child, { ...options, port, dataDir })
  await answering(child, server, options.startMs)
  return server
}

/** In the project `on-etcd` data are in etcd: a prefix for each directory, so that a restart finds them again. */
async function storeOf(dataDir: string): Promise<Record<string, string | number>> {
  const endpoints = inject('etcdEndpoints')
  if (endpoints === undefined) return {}
  return {
    store: 'etcd',
    'etcd-endpoints': endpoints.join(','),
    'etcd-prefix': basename(dataDir),
    'peer-port': await freePort(),
  }
}

/** A fresh directory that is removed after the run. */
export function temporaryDirectory(prefix: string): string {
  return mkdtempSync(join(inject('temporaryDirectory'), prefix))
}

/** The result of a run of the `waypost` command. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the `waypost` command to its end, which must come within the limit. */
export async function runWaypost(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  limitMs = START_LIMIT_MS,
): Promise<CommandResult> {
  const child = spawnProcess(args, env)
  const result = { stdout: '', stderr: '' }
  child.stdout!.on('data', (chunk: string) => (result.stdout += chunk))
  child.stderr!.on('data', (chunk: string) => (result.stderr += chunk))
  const ended = once(child, 'close')
  await bounded(ended, limitMs, () => `waypost ${args.join(' ')} did not end`)
  return { code: child.exitCode, ...result }
}

/**
 * A port of the loopback address that is free together with the one 1000 above it, where the server speaks gRPC. Such pairs
 * never overlap: this port is of an even thousand. Both are outside the range from which outgoing connections take theirs.
 * No other test process gets them while this one runs.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    const port = 20_000 + 2_000 * randomBelow(6) + randomBelow(1_000)
    if (claimPort(port) && (await isFree(port)) && (await isFree(port + GRPC_OFFSET))) return port
  }
  throw new Error(`no free port found in ${PORT_TRIES} tries`)
}

function spawnWaypost(
  flags: readonly string[],
  { env = {} }: Pick<WaypostOptions, 'env'>,
): ChildProcess & { printed: string } {
  const child = Object.assign(spawnProcess(['start', ...flags], env), { printed: '' })
  child.stdout!.on('data', (chunk: string) => (child.printed += chunk))
  child.stderr!.on('data', (chunk: string) => (child.printed += chunk))
  return child
}

function spawnProcess(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const inherited = Object.entries(process.env).filter(
    ([name]) => name === PASSED_ON || (!name.startsWith('WAYPOST_') && name !== 'NODE_OPTIONS'),
  )
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // The contexts of the developer are no part of a test, and most passwords of tests are short.
    env: {
      ...Object.fromEntries(inherited),
      WAYPOST_CLIENT_FILE: join(inject('temporaryDirectory'), 'no-contexts', 'client.json'),
      WAYPOST_PASSWORD_RULE: 'off',
      ...env,
    },
  })
  child.stdout.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

function handleOf(
  child: ChildProcess & { printed: string },
  options: WaypostOptions & { port: number; dataDir: string },
): Waypost {
  const end = (signal: NodeJS.Signals) => endProcess(child, signal)
  return {
    url: `${options.settings?.['tls-cert'] === undefined ? 'http' : 'https'}://127.0.0.1:${options.port}`,
    port: options.port,
    dataDir: options.dataDir,
    pid: child.pid!,
    output: () => child.printed,
    stop: (signal = 'SIGTERM') => end(signal),
    kill: () => end('SIGKILL').then(() => undefined),
    restart: () => end('SIGTERM').then(() => startWaypost(options)),
  }
}

async function endProcess(
  child: ChildProcess & { printed: string },
  signal: NodeJS.Signals,
): Promise<number | null> {
  if (!hasEnded(child)) {
    const ended = once(child, 'close')
    child.kill(signal)
    await bounded(ended, STOP_LIMIT_MS, () => {
      child.kill('SIGKILL')
      return `the server did not stop within ${STOP_LIMIT_MS} ms of ${signal}; it printed:\n${child.printed}`
    })
  }
  return child.exitCode
}

async function answering(child: ChildProcess, server: Waypost, withinMs = START_LIMIT_MS): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await answers(server.url))) {
    if (hasEnded(child))
      throw new Error(`the server ended with ${child.exitCode}; it printed:\n${server.output()}`)
    if (Date.now() > deadline) {
      await server.kill()
      throw new Error(`the server did not answer within ${withinMs} ms; it printed:\n${server.output()}`)
    }
    await sleep(20)
  }
}

async function answers(url: string): Promise<boolean> {
  const options = { agent: false, timeout: 2000, rejectUnauthorized: false } as const
  const ask = url.startsWith('https:') ? https.get : http.get
  return new Promise((resolve) => {
    const request = ask(url, options, (response) => response.resume().on('end', () => resolve(true)))
    request.on('timeout', () => request.destroy()).on('error', () => resolve(false))
  })
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function flagsOf(settings: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
}

function randomBelow(limit: number): number {
  return Math.floor(Math.random() * limit)
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const outcome = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (outcome) await new Promise((resolve) => probe.close(resolve))
  return outcome
}

async function bounded(promise: Promise<unknown>, limitMs: number, onLimit: () => string): Promise<void> {
  const timer = new AbortController()
  const limit = sleep(limitMs, 'late', { signal: timer.signal, ref: false }).catch(() => undefined)
  if ((await Promise.race([promise, limit])) === 'late') throw new Error(onLimit())
  timer.abort()
}
