import { Refusal } from '../../../core/refusal.ts'
import { sendAnswer, sendChunks, sendLingering } from './answer-sending.ts'
import { callerAddress, plainAddress } from './client-address.ts'
import { countRequest } from './connection-load.ts'
import { failureAnswer } from './failure-answer.ts'
import { tellOfClose } from './held-response.ts'
import type { ExchangeContext } from './exchange-context.ts'
import { valuesOf } from '../../parameters/form-parser.ts'
import { hasBody, hasForm, type BodyReceiver, type IncomingRequest } from './incoming-request.ts'
import type { OutgoingResponse } from './outgoing-response.ts'
import { endsConnection, tooLongToTell, tooManyHeaders } from './request-limits.ts'
import { pathOf } from '../../parameters/request-target.ts'
import type { Answer, Caller, Handled, Held, Request, Route } from '../routing/route.ts'
import type { CompiledRoute } from '../routing/router.ts'
import type { Waiting } from './pipelining.ts'
import type { Work } from './turn.ts'

const NO_PARAMS: Record<string, unknown> = Object.freeze({})

/**
 * One request and its answer. It is the Request that the handler sees, the Held it may ask for, and the
 * Caller: one object for each request, because this is the hot path and because polls are held by thousands.
 */
export class Exchange implements Request<Record<string, unknown>>, Held, Caller, BodyReceiver, Waiting, Work {
  params: Record<string, unknown> = NO_PARAMS
  rawBody: Buffer | undefined
  readonly #context: ExchangeContext
  readonly #request: IncomingRequest
  readonly #response: OutgoingResponse
  readonly #url: string
  readonly #startedMs: number
  #compiled: CompiledRoute | undefined
  #body: Buffer | undefined
  #hasUploadPlace = false
  #streaming = false
  #held = false
  #done = false
  #gone: (() => void) | undefined

  constructor(context: ExchangeContext, request: IncomingRequest, response: OutgoingResponse) {
    this.#context = context
    this.#request = request
    this.#response = response
    this.#url = request.url ?? ''
    this.#startedMs = context.onAnswer === undefined ? 0 : performance.now()
    this.#count(1)
  }

  /** Judges the origin of the request, finds the route, asks the gate, and reads the body if there is one to read; `run` follows. */
  begin(): void {
    try {
      const { guard, router, maxParameters, limits } = this.#context
      const refused = guard.refusalOf(this.#request)
      if (refused !== undefined) return this.#fail(refused)
      const found = router.find(this.#request.method ?? '', pathOf(this.#url))
      if (found instanceof Refusal) return this.#fail(found)
      if (this.#request.rawHeaders.length > 2 * limits.maxHeaders)
        return this.#fail(tooManyHeaders(limits.maxHeaders))
      const compiled = router.variantOf(found, this.#url, maxParameters)
      this.#compiled = compiled
      const barred = this.#context.gate?.(compiled.route, this.#url, this)
      if (barred !== undefined) return this.#send(barred)
      const isRaw = compiled.route.body === 'raw'
      this.#hasUploadPlace = isRaw && this.#context.uploads.take()
      const toRead = compiled.readsBody && (isRaw ? hasBody(this.#request) : hasForm(this.#request))
      if (toRead) this.#readBody(compiled.maxBodyBytes)
      else this.#context.turn.add(this)
    } catch (error) {
      this.#fail(error)
    }
  }

  // ---- Request and Caller

  get caller(): Caller {
    return this
  }

  get ip(): string {
    return callerAddress(this.socketIp, this.headers['x-forwarded-for'], this.#context.trusted)
  }

  get socketIp(): string {
    return plainAddress(this.#request.socket.remoteAddress)
  }

  get userAgent(): string {
    return this.headers['user-agent'] ?? ''
  }

  get target(): string | undefined {
    return hasBody(this.#request) ? undefined : this.#url
  }

  get headers(): IncomingRequest['headers'] {
    return this.#request.headers
  }

  // ---- Held

  hold(): Held {
    if (!this.#held && !this.#done) {
      this.#held = true
      // A held poll lives long; what it was asked with need not.
      this.params = NO_PARAMS
      const response = this.#response
      tellOfClose(response, this)
      // A client that left while the handler waited is told of once the handler has said whom to tell.
      if (response.destroyed) queueMicrotask(() => this.connectionClosed())
    }
    return this
  }

  answer(answer: Answer): void {
    this.#send(answer)
  }

  onGone(callback: () => void): void {
    // After an answer nobody is missed.
    if (!this.#done) this.#gone = callback
  }

  /** The connection of a request that is held or waits is closed: after its answer, or because the client left. */
  connectionClosed(): void {
    const gone = this.#gone
    this.#gone = undefined
    if (this.#finish()) gone?.()
  }

  // ---- BodyReceiver

  bodyRead(body: Buffer): void {
    this.#body = body
    this.#context.turn.add(this)
  }

  refuse(refusal: Refusal): void {
    this.#fail(refusal)
  }

  bodyLost(): void {
    this.#finish()
  }

  // ---- Work

  /** Handles the request, once all of it is there. */
  run(): void {
    try {
      const handled = this.#handle(this.#compiled!)
      if (handled instanceof Promise) void this.#settle(handled)
      else this.#take(handled)
    } catch (error) {
      this.#fail(error)
    }
  }

  #readBody(limitBytes: number): void {
    const { expect, 'content-length': declared } = this.#request.headers
    // A client that asks first is not told to go on with a body that will be refused.
    if (expect !== undefined && !(Number(declared) > limitBytes)) this.#response.writeContinue()
    this.#request.readBody({ limitBytes, memory: this.#context.bodyMemory }, this)
  }

  #handle({ route, readParameters }: CompiledRoute): Handled {
    const body = this.#body
    const known = body === undefined ? route.again?.(this.#url, this) : undefined
    if (known !== undefined) return known
    const isRaw = route.body === 'raw'
    this.params = readParameters(valuesOf(this.#url, isRaw ? undefined : body, this.#context.maxParameters))
    this.#body = undefined
    if (isRaw) this.rawBody = body
    return route.handle(this as unknown as Parameters<Route['handle']>[0])
  }

  async #settle(handled: Promise<Answer | undefined>): Promise<void> {
    try {
      this.#take(await handled)
    } catch (error) {
      this.#fail(error)
    }
  }

  #take(handled: Awaited<Handled>): void {
    if (handled !== undefined) this.#send(handled)
    else if (!this.#held) throw new Error('The handler gave no answer and does not hold the request.')
  }

  #fail(thrown: unknown): void {
    const error = tooLongToTell(thrown)
    const answer = failureAnswer(this.#context, error, {
      method: this.#request.method ?? '',
      path: pathOf(this.#url),
      errors: this.#compiled?.route.errors,
    })
    // A fault after the answer was decided on: nothing sensible can be sent any more.
    if (this.#done && !this.#response.headersSent) this.#response.destroy()
    const isStillComing = !this.#request.complete
    if (!endsConnection(error)) this.#send(answer)
    else if (isStillComing) this.#sendAndLinger(answer)
    else this.#send(answer, true)
  }

  #send(answer: Answer, ends = this.#context.stopping): void {
    if (answer.chunks !== undefined) return void this.#sendChunks(answer)
    if (!this.#finish()) return
    const { commonHeaders, turn } = this.#context
    sendAnswer(this.#response, answer, { commonHeaders, turn, ends })
    this.#tell(answer)
  }

  /** The exchange lasts until all is sent. */
  async #sendChunks(answer: Answer): Promise<void> {
    if (this.#done || this.#streaming) return
    this.#streaming = true
    this.#tell(answer)
    await sendChunks(this.#response, answer, { log: this.#context.log, ends: this.#context.stopping })
    this.#finish()
  }

  #sendAndLinger(answer: Answer): void {
    if (!this.#finish()) return
    sendLingering(this.#request, this.#response, answer)
    this.#tell(answer)
  }

  #tell({ status }: Answer): void {
    const { onAnswer } = this.#context
    if (onAnswer !== undefined) onAnswer(this.#compiled?.route, status, performance.now() - this.#startedMs)
  }

  /** Ends the exchange; false where it has ended before. */
  #finish(): boolean {
    if (this.#done) return false
    this.#done = true
    this.#gone = undefined
    if (this.#hasUploadPlace) this.#context.uploads.leave()
    this.rawBody = undefined
    this.#count(-1)
    return true
  }

  #count(difference: 1 | -1): void {
    this.#context.inFlight += difference
    countRequest(this.#request.socket, difference)
  }
}
