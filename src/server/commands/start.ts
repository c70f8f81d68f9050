import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadSettings, type Settings, type SettingsSources } from '../../settings/settings.ts'
import { HeapTooSmallError, SettingsError } from '../../settings/sources.ts'
import { tell } from '../../command/standard-error.ts'
import { inWords } from '../../command/system-errors.ts'
import { packageVersion } from '../../command/version.ts'
import { hasUsualHeap, runWithHeap } from './larger-heap.ts'
import { StopSignals } from './stop-signals.ts'

/** The exit code after a fault of the program: EX_SOFTWARE of sysexits.h. */
const FAULT_EXIT = 70
/** The time limit for a server that ends by itself to write its data. */
const MOST_ENDING_MS = 5_000

/** Starts a server. main.ts passes it, so that this folder does not depend on the server. */
export type StartServer = (settings: Settings) => Promise<{
  readonly url: string
  readonly grpcPort: number | undefined
  readonly firstCode: string | undefined
  /** Resolves with the cause of the server's own end, and the exit code for that. */
  readonly ended: Promise<{ readonly message: string; readonly exitCode: number }>
  /** Ends the server, because something was thrown past all its boundaries. */
  fail(error: unknown, text: string): void
  stop(): Promise<void>
}>

/**
 * Runs the server until a signal stops it. Resolves with the exit code. 0: a signal; 1: it could not start or stop; 2: wrong
 * settings, or too little memory for the data. 70: a fault of the program. A second signal ends the process at once with 1.
 * `say`: the output of a start.
 */
export async function start(
  given: Omit<SettingsSources, 'env'>,
  startServer: StartServer,
  say = banner,
): Promise<number> {
  const settings = settingsOrProblems(given)
  if (!settings) return 2
  const signals = new StopSignals()
  const faults = new UncaughtFaults()
  const starting = startServer(settings).catch((error: unknown) => new FailedStart(error))
  // A start may wait for its store for very long.
  const givenUp = signals.received.then(() => sleep(MOST_ENDING_MS, 'given up' as const, { ref: false }))
  const server = await Promise.race([starting, givenUp])
  if (server === 'given up') return 0
  if (server instanceof FailedStart) return afterFailure(server.error, settings, signals)
  faults.goTo(server)
  // The server keeps running when nobody reads its output any more.
  process.stdout.on('error', () => {})
  process.stdout.write(say(settings, server))
  const ended = await Promise.race([signals.received, server.ended])
  if (ended !== undefined) return end(server, ended)
  // A failure during the stop ends the process too.
  return Promise.race([server.stop().then(() => 0, stopFailed), server.ended.then(endSoon)])
}

type Server = Awaited<ReturnType<StartServer>>

class FailedStart {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** Runs with a larger heap if only the heap was too small, or reports why there is no server. Resolves with the exit code. */
async function afterFailure(error: unknown, settings: Settings, signals: StopSignals): Promise<number> {
  if (error instanceof HeapTooSmallError && error.possibleBytes !== undefined && hasUsualHeap()) {
    if (signals.isReceived) return 0
    signals.leave()
    return runWithHeap(error.possibleBytes)
  }
  report(startFailure(error, settings))
  return error instanceof SettingsError ? 2 : 1
}

/** Stops a server that has ended by itself, within a bound. */
async function end(server: Server, ended: Awaited<Server['ended']>): Promise<number> {
  report(ended.message)
  await Promise.race([server.stop().catch(stopFailed), endSoon(ended)])
  return ended.exitCode
}

async function endSoon({ exitCode }: Awaited<Server['ended']>): Promise<number> {
  await sleep(MOST_ENDING_MS)
  return exitCode
}

/** Catches errors thrown past all catches. They end the process: nobody knows what they left half done. */
class UncaughtFaults {
  #server: Server | undefined

  constructor() {
    // An unhandled rejection comes here too.
    process.on('uncaughtException', (error, origin) => this.#caught(error, origin))
  }

  goTo(server: Server): void {
    this.#server = server
  }

  #caught(error: unknown, origin: string): void {
    const text =
      origin === 'unhandledRejection'
        ? 'a promise was rejected, and nobody expected it'
        : 'an error was not caught'
    if (this.#server !== undefined) return this.#server.fail(error, text)
    report(`${text}: ${error instanceof Error ? error.stack : String(error)}`)
    process.exit(FAULT_EXIT)
  }
}

function stopFailed(error: unknown): number {
  report(`stopping failed: ${error instanceof Error ? error.message : String(error)}`)
  return 1
}

function settingsOrProblems(given: Omit<SettingsSources, 'env'>): Settings | undefined {
  try {
    return loadSettings({ ...given, env: process.env })
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    for (const problem of error.problems) report(problem)
    return undefined
  }
}

function report(problem: string): void {
  tell(`waypost: ${inWords(problem)}\n`)
}

/** One sentence with the reason why the server could not start, and the setting to change. */
export function startFailure(error: unknown, settings: Settings): string {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  const { host, port } = settings
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is in use already. Stop the process that uses it, or choose another with --port.`
  if (syscall === 'listen' && code === 'EACCES')
    return `port ${port} is not allowed for this user. Choose one above 1023 with --port.`
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return `cannot listen on ${host}: ${message}. Choose an address of this machine with --host.`
  if (syscall)
    return `cannot use the data directory ${resolve(settings.dataDir)}: ${message}. Choose another with --data-dir.`
  return error instanceof Error ? message : String(error)
}

/**
 * The output of a start: version, addresses and place of the data. The last line is the next step: a command to try, how to
 * sign in, or how the first administrator is made.
 */
function banner(
  settings: Settings,
  { url, grpcPort, firstCode }: Pick<Server, 'url' | 'grpcPort' | 'firstCode'>,
): string {
  const addresses = addressesOf(settings.host, url)
  const address = addresses[0]!
  return `Waypost ${packageVersion()}
  address  ${addresses.join('  ')}
  console  ${address}/ui
  gRPC     ${grpcPort === undefined ? 'off' : `port ${grpcPort}`}
  data     ${placeOf(settings)}
${firstCode === undefined ? nextStep(settings, address) : firstSteps(firstCode, address)}`
}

/** A line that works as it is: with sign-in on, a request without credentials would be refused. */
function nextStep({ auth }: Settings, address: string): string {
  return auth === 'on'
    ? `  sign-in  on: waypost login ${address}\n`
    : `  try      curl '${address}/svc/v1/cs/configs' -d 'dataId=hello&group=DEFAULT_GROUP&content=world'\n`
}

/** How the first administrator is made. The code is behind the `#`, which browsers never send. */
function firstSteps(code: string, address: string): string {
  return `  sign-in  there is no administrator yet. Make one on this page, which has a one-time code:
           ${address}/ui/#/first-administrator?code=${code}
           or: curl '${address}/svc/v1/auth/users/admin' -d 'code=${code}' --data-urlencode 'password=…'
`
}

/** The place of the data. */
function placeOf({ store, etcdEndpoints, etcdPrefix, dataDir }: Settings): string {
  return store === 'etcd' ? `${etcdPrefix}/ in etcd at ${etcdEndpoints.join(', ')}` : resolve(dataDir)
}

const EVERY_ADDRESS = new Set(['0.0.0.0', '::', '[::]', ''])

/** The addresses of a server. If it listens on every address, all addresses of the machine, loopback first. */
function addressesOf(host: string, url: string): string[] {
  if (!EVERY_ADDRESS.has(host)) return [url]
  const found = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const hosts = found.filter(({ family }) => family === 'IPv4').map(({ address }) => address)
  const { protocol, port } = new URL(url)
  return [...new Set(['127.0.0.1', ...hosts])].map((address) => `${protocol}//${address}:${port}`)
}
