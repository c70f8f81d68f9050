import { connect, type LookupFunction, type Socket } from 'node:net'
import { startDeadline } from './deadline.ts'
import type { ProbeResult, ProbeTarget, Verdict } from './probe-target.ts'
import { resolveHost, type AllowedAddress } from './resolve-host.ts'

/**
 * One connection to a target, from resolving its name to closing the socket. The first verdict counts; the result
 * is given when the conversation is over, so that no socket outlives its probe.
 */
export class Conversation {
  readonly result: Promise<ProbeResult>
  readonly #startedMs = performance.now()
  #resolve: (result: ProbeResult) => void = () => {}
  #verdict: ProbeResult | undefined
  #socket: Socket | undefined
  #over = false

  constructor() {
    this.result = new Promise((resolve) => (this.#resolve = resolve))
  }

  get over(): boolean {
    return this.#over
  }

  /** Takes over a socket: its errors and its end are verdicts, unless one was known before. */
  hold(socket: Socket): void {
    this.#socket = socket
    socket.on('error', (error) => this.conclude(verdictOfError(error)))
    socket.on('close', () => this.conclude(down('closed before it answered')))
  }

  /** Sets the verdict and goes on, e.g. to read the rest of an answer. */
  judge(verdict: Verdict): void {
    this.#verdict ??= { ...verdict, elapsedMs: performance.now() - this.#startedMs }
  }

  /** Ends the conversation, with this verdict if there is none yet. */
  conclude(verdict: Verdict): void {
    if (this.#over) return
    this.judge(verdict)
    this.#over = true
    this.#socket?.destroy()
    if (this.#verdict !== undefined) this.#resolve(this.#verdict)
  }
}

/** What to say once the socket exists (it may still be connecting); ends by `conclude`. */
export type Speak = (talk: Conversation, socket: Socket) => void

/**
 * Connects to the target and lets `speak` find the verdict, within `timeoutMs` for everything: the name, the
 * connection and the answer. Never rejects, never leaves a socket open.
 */
export async function converse(target: ProbeTarget, timeoutMs: number, speak: Speak): Promise<ProbeResult> {
  const talk = new Conversation()
  const cancel = startDeadline(timeoutMs, () => talk.conclude(down(`no answer within ${timeoutMs} ms`)))
  open(target, talk, speak).catch((error: unknown) => talk.conclude(verdictOfError(error)))
  try {
    return await talk.result
  } finally {
    cancel()
  }
}

async function open(target: ProbeTarget, talk: Conversation, speak: Speak): Promise<void> {
  const found = await resolveHost(target.host)
  if (talk.over) return
  if (found.kind === 'refused') return talk.conclude(downNow(found.reason))
  if (found.kind === 'unresolved') return talk.conclude(down(found.reason))
  const socket = connectTo(found.addresses, target)
  talk.hold(socket)
  socket.once('connect', () => {
    if (isConnectedToItself(socket)) talk.conclude(downNow('connection refused'))
  })
  speak(talk, socket)
}

/** Connects to the checked addresses, one after the other; nothing is resolved again. */
function connectTo(addresses: readonly AllowedAddress[], { host, port }: ProbeTarget): Socket {
  const [only] = addresses
  if (addresses.length === 1 && only !== undefined) return connect({ host: only.address, port })
  const answer: LookupFunction = (_host, _options, done) => done(null, [...addresses])
  return connect({ host, port, lookup: answer, autoSelectFamily: true })
}

// The kernel may give a connection to a closed port of this machine that very port as its own end: it then "succeeds".
function isConnectedToItself(socket: Socket): boolean {
  return socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress
}

/** The target works. */
export function up(reason: string): Verdict {
  return { outcome: 'up', reason }
}

/** The target failed in a way that may pass. */
export function down(reason: string): Verdict {
  return { outcome: 'down', reason }
}

/** The target failed without doubt. */
export function downNow(reason: string): Verdict {
  return { outcome: 'down-now', reason }
}

/** Only a refused connection is beyond doubt; an unreachable network or a reset may pass. */
export function verdictOfError(error: unknown): Verdict {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code === 'ECONNREFUSED') return downNow('connection refused')
  return down(code ?? (error instanceof Error ? error.message : String(error)))
}
