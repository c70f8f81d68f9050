import { guarded } from '../core/unexpected.ts'
import { connect, type LookupFunction, type Socket } from 'node:net'
import { QUERIES, resolveHost, type AllowedAddress } from './resolve-host.ts'
import type { HealthChecker } from '../core/naming/state/health-checker.ts'
import { type ServiceKey, serviceKeyText } from '../core/naming/state/service.ts'
import type { ProbedNetworks } from './address-guard.ts'

/** The checker of one kind, e.g. `CheckerOf<'HTTP'>`. */
export type CheckerOf<Kind extends HealthChecker['type']> = Extract<HealthChecker, { type: Kind }>

/** The target of a probe: an address (IP or host name), its port and its checker. */
export interface ProbeTarget<Checker extends HealthChecker = HealthChecker> {
  readonly host: string
  readonly port: number
  readonly checker: Checker
  /** The service of its instance. */
  readonly service?: ServiceKey
  /** The networks that may be probed. Absent: all that are not forbidden. */
  readonly networks?: ProbedNetworks | undefined
}

/**
 * The result of one probe. `up` and `down` count towards `checkTimes`. `down-now` (a refused connection, a wrong
 * status) makes the target unhealthy at once. `reason` is for logs.
 */
export interface Verdict {
  readonly outcome: 'up' | 'down' | 'down-now'
  readonly reason: string
}

/** A verdict, and the time from the start of the probe to it, in milliseconds. */
export interface ProbeResult extends Verdict {
  readonly elapsedMs: number
}

/** If a timer fires later than this, the process was paused; the target was not slow. */
const PAUSED_AFTER_MS = 100

/** A host chooses the text of some reasons, and the last one of each instance is kept. */
const REASON_CAP_CHARACTERS = 300

/**
 * One connection to a target, from resolving its name to closing the socket. The first verdict counts. The result
 * resolves when the conversation is over, so no socket outlives its probe.
 */
export class Conversation {
  readonly result: Promise<ProbeResult>
  readonly #startedMs = performance.now()
  #resolve: (result: ProbeResult) => void = () => {}
  #verdict: ProbeResult | undefined
  readonly #sockets: Socket[] = []
  #over = false

  constructor() {
    this.result = new Promise((resolve) => (this.#resolve = resolve))
  }

  get over(): boolean {
    return this.#over
  }

  /** Takes a socket, or TLS on top of it. Its error or end is the verdict, unless there is a verdict already. */
  hold(socket: Socket): void {
    this.#sockets.push(socket)
    socket.on(
      'error',
      this.guard((error: Error) => this.conclude(verdictOfError(error))),
    )
    socket.on(
      'close',
      this.guard(() => this.conclude(down('closed before it answered'))),
    )
  }

  /** A callback of this probe: a fault in it ends the probe, which then has found nothing certain. */
  guard<Args extends unknown[]>(run: (...args: Args) => void): (...args: Args) => void {
    return guarded('probe', () => this.conclude(down('the probe failed by a fault of this server')), run)
  }

  /** Sets the verdict and continues, for example to read the rest of an answer. */
  judge(verdict: Verdict): void {
    if (this.#verdict !== undefined) return
    const reason = verdict.reason.slice(0, REASON_CAP_CHARACTERS)
    this.#verdict = { ...verdict, reason, elapsedMs: performance.now() - this.#startedMs }
  }

  /** Ends the conversation, with this verdict unless there is a verdict already. */
  conclude(verdict: Verdict): void {
    if (this.#over) return
    this.judge(verdict)
    this.#over = true
    for (const socket of this.#sockets) socket.destroy()
    if (this.#verdict !== undefined) this.#resolve(this.#verdict)
  }
}

/** Runs the protocol of a probe on a socket, which may still be connecting. It ends with `conclude`. */
export type Speak = (talk: Conversation, socket: Socket) => void

/**
 * Connects to the target and lets `speak` find the verdict. `timeoutMs` covers everything: the name, the connection and
 * the answer. It never rejects and leaves no socket open.
 */
export async function converse(target: ProbeTarget, timeoutMs: number, speak: Speak): Promise<ProbeResult> {
  const talk = new Conversation()
  const cancel = startDeadline(
    timeoutMs,
    talk.guard(() => talk.conclude(down(`no answer within ${timeoutMs} ms`))),
  )
  open(target, talk, speak).catch((error: unknown) => talk.conclude(verdictOfError(error)))
  try {
    return await talk.result
  } finally {
    cancel()
  }
}

/**
 * Calls `expire` after `timeoutMs`, unless the returned function is called before. If the timer itself is late, because
 * this process was busy or suspended, the target gets the full time once more.
 */
export function startDeadline(timeoutMs: number, expire: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = (mayRepeat: boolean): void => {
    const due = performance.now() + timeoutMs
    const late = guarded('probe', expire, () => {
      if (mayRepeat && performance.now() - due > PAUSED_AFTER_MS) arm(false)
      else expire()
    })
    timer = setTimeout(late, timeoutMs)
  }
  arm(true)
  return () => clearTimeout(timer)
}

async function open(target: ProbeTarget, talk: Conversation, speak: Speak): Promise<void> {
  const names = QUERIES.of(target.service === undefined ? '' : serviceKeyText(target.service))
  const found = await resolveHost(target.host, names, target.networks)
  if (talk.over) return
  if (found.kind === 'refused') return talk.conclude(downNow(found.reason))
  if (found.kind === 'unresolved') return talk.conclude(down(found.reason))
  const socket = connectTo(found.addresses, target)
  talk.hold(socket)
  const connected = (): void => {
    if (isConnectedToItself(socket)) talk.conclude(downNow('connection refused'))
  }
  socket.once('connect', talk.guard(connected))
  speak(talk, socket)
}

/** Connects to the checked addresses, one after the other, without resolving the name again. */
function connectTo(addresses: readonly AllowedAddress[], { host, port }: ProbeTarget): Socket {
  const [only] = addresses
  if (addresses.length === 1 && only !== undefined) return connect({ host: only.address, port })
  const answer: LookupFunction = (_host, _options, done) => done(null, [...addresses])
  return connect({ host, port, lookup: answer, autoSelectFamily: true })
}

// For a connection to a closed port of this machine, the kernel may choose the same port as its local port. It then
// connects to itself.
function isConnectedToItself(socket: Socket): boolean {
  return socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress
}

/** The target works. */
export function up(reason: string): Verdict {
  return { outcome: 'up', reason }
}

/** The target failed, perhaps for a moment only. */
export function down(reason: string): Verdict {
  return { outcome: 'down', reason }
}

/** The target failed without doubt. */
export function downNow(reason: string): Verdict {
  return { outcome: 'down-now', reason }
}

/** Only a refused connection is certain. An unreachable network or a reset may be temporary. */
export function verdictOfError(error: unknown): Verdict {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code === 'ECONNREFUSED') return downNow('connection refused')
  return down(code ?? (error instanceof Error ? error.message : String(error)))
}
