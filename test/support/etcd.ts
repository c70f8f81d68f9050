import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe } from 'vitest'
import { needTool } from './need-tool.ts'
import { freePort, temporaryDirectory } from './waypost.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/etcd.js', import.meta.url))
const { builtEtcd } = (await import(pathToFileURL(SCRIPT).href)) as { builtEtcd: () => Promise<string> }

/** Whether tests on etcd must be skipped, with the reason: it is built with Go. */
export const etcdTools = needTool('go')

/** Tests on etcd. Where it cannot be built they are skipped, and the title has the reason. */
export function describeOnEtcd(title: string, timeout: number, tests: () => void): void {
  const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''
  // oxlint-disable-next-line vitest/valid-describe-callback
  describe.skipIf(etcdTools.skip)(`${title}${note}`, { timeout }, tests)
}

/** The time that a hook which starts etcd may take: the first one builds it. */
export const ETCD_HOOK_MS = 600_000

/** How to start etcd. */
export interface EtcdOptions {
  /** Three members can lose one. */
  readonly members?: 1 | 3
  /** Where the data are; by default a new directory for each member. */
  readonly directory?: string
  /** How large the database may become. etcd accepts no changes then. */
  readonly quotaBytes?: number
  /** Whether each change is synced to disk. It is not by default: only a crash of the machine would lose it. */
  readonly fsync?: boolean
  /** TLS for clients; with `clientCa` they must show a certificate of that authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string }
  /** Further flags of every member: `{ 'max-txn-ops': '128' }`. */
  readonly flags?: Readonly<Record<string, string>>
}

/** One member of etcd in a process of its own. */
export interface EtcdMember {
  readonly name: string
  /** Where clients reach it: `http://127.0.0.1:<port>`, or https. */
  readonly endpoint: string
  /** Where it tells its health and its metrics, without TLS: `http://127.0.0.1:<port>`. */
  readonly health: string
  readonly pid: number
  /** Its log so far. */
  output(): string
  /** Sends SIGKILL. The data stays. */
  kill(): Promise<void>
  /** The same, and removes the data: `restart` begins without any. */
  lose(): Promise<void>
  /** Stops the process with SIGSTOP: connections stay open and nothing is answered. */
  pause(): void
  /** Continues a paused process. */
  resume(): void
  /** Starts the member on its data again, after SIGKILL if it still runs, and waits until it answers. */
  restart(): Promise<void>
}

/** The members of etcd. */
export interface Etcd {
  readonly members: readonly EtcdMember[]
  readonly endpoints: readonly string[]
  /** Ends all members. The data is removed after the run. */
  stop(): Promise<void>
}

const START_LIMIT_MS = 60_000
const DATA_DIR = '--data-dir='
const HEALTH_LIMIT_MS = 1_000

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Builds etcd if needed, starts it with empty data on free loopback ports, and waits until every member is healthy. */
export async function startEtcd(options: EtcdOptions = {}): Promise<Etcd> {
  const file = await builtEtcd()
  const places = await findPlaces(options.members ?? 1, options.tls === undefined ? 'http' : 'https')
  const all = places.map(({ name, peer }) => `${name}=${peer}`).join(',')
  const members = places.map((place) => new Member(file, place, flagsOf(place, all, options)))
  for (const member of members) member.start()
  try {
    await Promise.all(members.map((member) => member.healthy()))
  } catch (error) {
    await Promise.all(members.map((member) => member.kill()))
    throw error
  }
  return {
    members,
    endpoints: places.map(({ client }) => client),
    stop: async () => void (await Promise.all(members.map((member) => member.kill()))),
  }
}

interface Place {
  readonly name: string
  readonly client: string
  readonly peer: string
  /** It tells its health here without TLS. */
  readonly health: string
}

async function findPlaces(count: number, scheme: string): Promise<readonly Place[]> {
  const ports = new Set<number>()
  while (ports.size < 3 * count) ports.add(await freePort())
  const hosts = [...ports].map((port) => `127.0.0.1:${port}`)
  return Array.from({ length: count }, (_, i) => ({
    name: `etcd-${i + 1}`,
    client: `${scheme}://${hosts[3 * i]}`,
    peer: `http://${hosts[3 * i + 1]}`,
    health: `http://${hosts[3 * i + 2]}`,
  }))
}

function flagsOf({ name, client, peer, health }: Place, all: string, options: EtcdOptions): string[] {
  const flags = {
    name,
    'data-dir': join(options.directory ?? temporaryDirectory('etcd-'), name),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': all,
    'log-level': 'warn',
    'listen-metrics-urls': health,
    ...tlsFlags(options.tls),
    ...(options.quotaBytes === undefined ? {} : { 'quota-backend-bytes': String(options.quotaBytes) }),
    ...(options.fsync === true ? {} : { 'unsafe-no-fsync': 'true' }),
    ...options.flags,
  }
  return Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
}

function tlsFlags(tls: EtcdOptions['tls']): Readonly<Record<string, string>> {
  if (tls === undefined) return {}
  const { cert, key, clientCa } = tls
  const files = { 'cert-file': cert, 'key-file': key }
  return clientCa === undefined
    ? files
    : { ...files, 'client-cert-auth': 'true', 'trusted-ca-file': clientCa }
}

class Member implements EtcdMember {
  readonly name: string
  readonly endpoint: string
  readonly health: string
  readonly #file: string
  readonly #flags: readonly string[]
  #child: ChildProcess | undefined
  #output = ''

  constructor(file: string, place: Place, flags: readonly string[]) {
    this.name = place.name
    this.endpoint = place.client
    this.health = place.health
    this.#file = file
    this.#flags = flags
  }

  get pid(): number {
    return this.#child!.pid!
  }

  start(): void {
    // Variables of the environment would be taken for flags.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ETCD_')))
    const child = spawn(this.#file, this.#flags, { stdio: ['ignore', 'pipe', 'pipe'], env })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk))
    running.add(child)
    child.on('exit', () => running.delete(child))
    this.#child = child
  }

  async healthy(): Promise<void> {
    const deadline = Date.now() + START_LIMIT_MS
    while (!(await isHealthy(this.health))) {
      const late = Date.now() > deadline
      if (late || hasEnded(this.#child!))
        throw new Error(
          `${this.name} ${late ? 'did not become healthy' : 'ended'}; it printed:\n${this.#output}`,
        )
      await sleep(50)
    }
  }

  output(): string {
    return this.#output
  }

  async kill(): Promise<void> {
    const child = this.#child!
    if (hasEnded(child)) return
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }

  async lose(): Promise<void> {
    await this.kill()
    const directory = this.#flags.find((flag) => flag.startsWith(DATA_DIR))!.slice(DATA_DIR.length)
    rmSync(directory, { recursive: true, force: true })
  }

  pause(): void {
    this.#child!.kill('SIGSTOP')
    // Its threads stop one after the other: until the last has, it may answer.
    for (let looks = 0; looks < MOST_LOOKS && !areStopped(this.pid); looks++);
  }

  resume(): void {
    this.#child!.kill('SIGCONT')
  }

  async restart(): Promise<void> {
    await this.kill()
    this.start()
    await this.healthy()
  }
}

async function isHealthy(endpoint: string): Promise<boolean> {
  try {
    const answer = await fetch(`${endpoint}/health`, { signal: AbortSignal.timeout(HEALTH_LIMIT_MS) })
    return answer.ok && ((await answer.json()) as { health?: string }).health === 'true'
  } catch {
    return false
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** How often is looked whether a process has stopped. */
const MOST_LOOKS = 1_000

/** Whether all threads of a process are stopped. Where there is no /proc nobody can say. */
function areStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return true
  // The state follows the name, which is in parentheses.
  return readdirSync(tasks).every((task) => /\) [Tt] /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8')))
}
