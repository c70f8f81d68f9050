import type { IncomingMessage, ServerResponse } from 'node:http'
import { ANONYMOUS, type Identity } from '../../../core/access/identity.ts'
import { Refusal } from '../../../core/refusal.ts'
import { guarded, nothing, unawaited } from '../../../core/unexpected.ts'
import { CallerGone } from '../../../core/work/fair-queue.ts'
import { sendAnswer, sendChunks, sendLingering } from './answer-sending.ts'
import { plainAddress } from '../../sockets/plain-address.ts'
import { callerAddress, cameByTls, isTrusted } from './client-address.ts'
import { turnOf } from '../../../core/access/turn-of.ts'
import type { BodyOwner, BodyShare } from '../../sockets/body-shares.ts'
import type { Connection, Sequenced } from './connection.ts'
import { failureAnswer, type ExchangeContext } from './exchange-context.ts'
import { valuesOf } from '../../parameters/form-parser.ts'
import { brokenFraming } from './framing.ts'
import type { AnswerSender } from './node-internals/whole-response.ts'
import { isOpen } from './identification.ts'
import { type BodyKind, bodyKindOf, isPlainForm, mayHaveCredentials } from './body-kind.ts'
import { hasBody, hasEndlessRest, readBody, type BodyReceiver } from './request-body.ts'
import { formOfFields, unusualValues } from './unusual-bodies.ts'
import { endsConnection, tooLongToTell, tooManyHeaders, stopping } from './request-limits.ts'
import { pathOf } from '../../parameters/request-target.ts'
import { sayingTrimmed } from '../routing/answer.ts'
import type { HttpCaller, Handled, Held, Request, Route, Answer } from '../routing/route.ts'
import type { CompiledRoute } from '../routing/router.ts'
import { MAX_OPEN_BODY_BYTES, Sender } from './sender.ts'
import type { ReadyWork } from './turn.ts'

const NO_PARAMS: Record<string, unknown> = Object.freeze({})

/**
 * One request and its answer. It is the Request that the handler sees, the Held it may ask for, and the HttpCaller. It
 * is one object for each request, because this is the hot path and because polls are held by thousands.
 */
export class Exchange
  implements
    Request<Record<string, unknown>>,
    Held,
    HttpCaller,
    BodyReceiver,
    Sequenced,
    AnswerSender,
    ReadyWork
{
  params: Record<string, unknown> = NO_PARAMS
  identity: Identity = ANONYMOUS
  rawBody: Buffer | undefined
  bytes = 0
  readonly #context: ExchangeContext
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #connection: Connection
  readonly #url: string
  readonly #startedMs: number
  #compiled: CompiledRoute | undefined
  #kind: BodyKind = 'none'
  #body: Buffer | undefined
  #share: BodyShare | undefined
  #isStranger = false
  /** Undefined while nobody has to sign in. */
  readonly #sender: Sender | undefined
  /** The owner whose place for an upload is taken. */
  #uploader: string | undefined
  #streaming = false
  #begun = false
  #held = false
  #done = false
  #gone: (() => void) | undefined
  #trimmed: string[] | undefined

  constructor(
    context: ExchangeContext,
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    connection: Connection,
  ) {
    this.#context = context
    this.#connection = connection
    this.#request = request
    this.#response = response
    this.#url = request.url ?? ''
    this.#startedMs = context.onAnswer === undefined ? 0 : performance.now()
    const { identification, maxParameters } = context
    this.#sender = identification === undefined ? undefined : new Sender(identification, maxParameters)
    context.inFlight++
  }

  /** Judges the origin of the request, finds the route, asks the gate, and reads the body if there is one; `run` follows. */
  begin(): void {
    this.#begun = true
    // While the server stops, an answer ends the connection unless requests wait: so arrived requests are parsed first.
    if (this.#context.stopping) this.#context.turn.add({ run: () => this.#judge() })
    else this.#judge()
  }

  #judge(): void {
    try {
      const { guard, router, maxParameters, limits } = this.#context
      // Only then it may be one whose end is not clear.
      const broken = this.#connection.isRetired ? brokenFraming(this.#request) : undefined
      const refused = broken ?? guard.refusalOf(this.#request)
      if (refused !== undefined) return this.#fail(refused)
      const found = router.find(this.#request.method ?? '', pathOf(this.#url))
      if (found instanceof Refusal) return this.#fail(found)
      if (this.#request.rawHeaders.length > 2 * limits.maxHeaders)
        return this.#fail(tooManyHeaders(limits.maxHeaders))
      const compiled = router.variantOf(found, this.#url, maxParameters)
      this.#compiled = compiled
      if (this.#context.stopping) return this.#fail(stopping())
      const barred = this.#context.gate?.(compiled.route, this.#url, this)
      if (barred !== undefined) return this.#send(barred)
      this.#kind = bodyKindOf(this.#request, compiled)
      if (this.#kind === 'none') this.#context.turn.add(this)
      else this.#judgeHead(compiled)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Reads the body if its sender may ask for something, or if it is a form that may have the credentials. */
  #judgeHead({ route, maxBodyBytes }: CompiledRoute): void {
    const sender = this.#sender
    if (sender === undefined) return this.#readBody(maxBodyBytes)
    if (isOpen(route)) return this.#readBody(Math.min(maxBodyBytes, MAX_OPEN_BODY_BYTES))
    const admit = (identity: Identity): void => {
      this.identity = identity
      // The client may have left while its sender was identified.
      if (this.#request.destroyed) return this.bodyLost()
      const isStranger = !sender.counts(this)
      if (isStranger && (sender.isSettled || !mayHaveCredentials(this.#kind)))
        return this.#fail(sender.refuse(this, route))
      this.#readBody(maxBodyBytes, isStranger)
    }
    const identity = this.#isSenderKnown() ? this.identity : this.#identify(sender, route)
    if (identity instanceof Promise) identity.then(admit).catch((error: unknown) => this.#fail(error))
    else admit(identity)
  }

  // ---- Request and HttpCaller

  get caller(): HttpCaller {
    return this
  }

  get ip(): string {
    return callerAddress(this.socketIp, this.headers['x-forwarded-for'], this.#context.trusted)
  }

  get isProxied(): boolean {
    return isTrusted(this.socketIp, this.#context.trusted)
  }

  get socketIp(): string {
    return plainAddress(this.#request.socket.remoteAddress)
  }

  get socketPort(): number {
    return this.#request.socket.remotePort ?? 0
  }

  get isSecure(): boolean {
    return cameByTls(this.#request.socket, this.headers['x-forwarded-proto'], this.#context.trusted)
  }

  get userAgent(): string {
    return this.headers['user-agent'] ?? ''
  }

  get certificateUser(): HttpCaller['certificateUser'] {
    return this.#connection.certificateUser
  }

  get isGone(): boolean {
    return !this.#request.socket.writable
  }

  get target(): string | undefined {
    return hasBody(this.#request) ? undefined : this.#url
  }

  get headers(): IncomingMessage['headers'] {
    return this.#request.headers
  }

  // ---- Held

  hold(): Held {
    if (!this.#held && !this.#done) {
      this.#held = true
      // A held poll lives long, and no longer needs its parameters.
      this.params = NO_PARAMS
      // If the client disconnected before `hold()`, call `onGone` once the handler has set it.
      if (this.#request.socket.destroyed)
        queueMicrotask(guarded('request', nothing, () => this.connectionClosed()))
    }
    return this
  }

  answer(answer: Answer): void {
    this.#send(answer)
  }

  onGone(callback: () => void): void {
    // After the answer it does not matter that the client leaves.
    if (!this.#done) this.#gone = callback
  }

  // ---- Sequenced and AnswerSender

  get isReceived(): boolean {
    return this.#request.complete
  }

  get isAnswering(): boolean {
    return this.#response.headersSent
  }

  drop(): void {
    this.#finish()
    // Unread, its body would keep Node from reading on and from noticing that the client disconnects.
    this.#request.resume()
  }

  connectionClosed(): void {
    // A request that is being handled ends with its handler, and one that is arriving ends with its body.
    if (this.#begun && !this.#held) return
    const gone = this.#gone
    this.#gone = undefined
    if (this.#finish()) gone?.()
  }

  answerSent(): void {
    this.#connection.answered(this)
  }

  // ---- BodyReceiver

  bodyRead(body: Buffer, share: BodyShare | undefined): void {
    this.#body = body
    this.bytes = body.length
    this.#share = share
    this.#context.turn.add(this)
  }

  refuse(refusal: Refusal): void {
    this.#fail(refusal)
  }

  bodyLost(): void {
    this.#finish()
  }

  bodyOwner(): BodyOwner {
    return { name: turnOf(this), isStranger: this.#isStranger }
  }

  // ---- ReadyWork

  /** Handles the request, once all of it is there. */
  run(): void {
    try {
      const handled = this.#handle(this.#compiled!)
      if (handled instanceof Promise) unawaited('request', () => this.cut(), this.#settle(handled))
      else this.#take(handled)
    } catch (error) {
      this.#fail(error)
    }
  }

  cut(): void {
    this.#finish()
    this.#response.destroy()
  }

  #readBody(limitBytes: number, isStranger = false): void {
    const { expect, 'content-length': declared } = this.#request.headers
    // A client that waits for a go-ahead does not get one for a body that will be refused.
    if (expect !== undefined && !(Number(declared) > limitBytes)) this.#response.writeContinue()
    this.#isStranger = isStranger
    readBody(this.#request, { limitBytes, memory: this.#context.bodyMemory }, this)
  }

  #handle(compiled: CompiledRoute): Handled {
    const { route } = compiled
    if (this.#kind === 'multipart')
      this.#body = formOfFields(this.#body!, { headers: this.headers, share: this.#share }, this.#context)
    const isKnown = this.#isSenderKnown()
    const known = isKnown && this.#body === undefined ? route.again?.(this.#url, this) : undefined
    if (known !== undefined) return known
    if (isKnown) return this.#carryOut(compiled)
    const identity = this.#identify(this.#sender!, route)
    if (identity instanceof Promise) return this.#carryOutLater(compiled, identity)
    this.identity = identity
    return this.#carryOut(compiled)
  }

  /** Whether the sender of this request is known before any of its parameters is read. */
  #isSenderKnown(): boolean {
    const sender = this.#sender
    if (sender === undefined || sender.isSettled) return true
    const identity = sender.known(this, this.#url)
    if (identity !== undefined) this.identity = identity
    return identity !== undefined
  }

  #identify(sender: Sender, route: Route): Identity | Promise<Identity> {
    return sender.identify({ caller: this, url: this.#url, kind: this.#kind, body: this.#body }, route)
  }

  async #carryOutLater(compiled: CompiledRoute, identity: Promise<Identity>): Promise<Answer | undefined> {
    this.identity = await identity
    // The form may have given way to another one.
    return this.#done ? undefined : this.#carryOut(compiled)
  }

  #carryOut(compiled: CompiledRoute): Handled {
    const { route } = compiled
    const body = this.#body
    this.#body = undefined
    const refusal = this.#sender?.refusalOf(this, route, this.#url.length + (body?.length ?? 0))
    if (refusal !== undefined) throw refusal
    this.#share?.release()
    if (this.#kind === 'raw') this.#uploader = this.#context.uploads.take(turnOf(this))
    const [most, kind] = [this.#context.maxParameters, this.#kind]
    const values =
      body === undefined || isPlainForm(kind)
        ? valuesOf(this.#url, body, most)
        : unusualValues({ url: this.#url, kind, body, headers: this.headers }, compiled, most)
    this.params = compiled.readParameters(values)
    this.#trimmed = compiled.trimmedIn?.(values)
    if (this.#kind === 'raw') this.rawBody = body
    return route.handle(this as unknown as Parameters<Route['handle']>[0])
  }

  async #settle(handled: Promise<Answer | undefined>): Promise<void> {
    try {
      this.#take(await handled)
    } catch (error) {
      if (error instanceof CallerGone) this.cut()
      else this.#fail(error)
    }
  }

  #take(handled: Awaited<Handled>): void {
    if (handled !== undefined) this.#send(sayingTrimmed(handled, this.#trimmed))
    else if (!this.#held && !this.#done)
      throw new Error('The handler gave no answer and does not hold the request.')
  }

  #fail(thrown: unknown): void {
    const error = tooLongToTell(thrown)
    const answer = failureAnswer(this.#context, error, {
      method: this.#request.method ?? '',
      path: pathOf(this.#url),
      errors: this.#compiled?.route.errors,
    })
    // An error after the answer was decided: nothing useful can be sent any more.
    if (this.#done && !this.#response.headersSent) this.#response.destroy()
    this.#send(answer, endsConnection(error) || this.#endsConnection() || hasEndlessRest(this.#request))
  }

  #endsConnection(): boolean {
    return (this.#context.stopping || this.#connection.isRetired) && !this.#connection.hasWaiting
  }

  #send(answer: Answer, ends = this.#endsConnection()): void {
    if (answer.chunks !== undefined) return unawaited('request', () => this.cut(), this.#sendChunks(answer))
    if (!this.#finish()) return
    const sending = { response: this.#response, sender: this, ends }
    if (ends && !this.#request.complete) sendLingering(this.#request, sending, answer)
    else sendAnswer(this.#context, answer, sending)
    this.#tell(answer)
  }

  /** The exchange lasts until all is sent. */
  async #sendChunks(answer: Answer): Promise<void> {
    if (this.#done || this.#streaming) return
    this.#streaming = true
    this.#tell(answer)
    const sending = { response: this.#response, sender: this, ends: this.#endsConnection() }
    await sendChunks(this.#context, answer, sending)
    this.#finish()
  }

  #tell({ status }: Answer): void {
    const { onAnswer } = this.#context
    if (onAnswer !== undefined) onAnswer(this.#compiled?.route, status, performance.now() - this.#startedMs)
  }

  /** Ends the exchange; false when it has ended already. */
  #finish(): boolean {
    if (this.#done) return false
    this.#done = true
    this.#gone = undefined
    if (this.#uploader !== undefined) this.#context.uploads.leave(this.#uploader)
    this.#share?.release()
    this.#body = undefined
    this.rawBody = undefined
    this.#context.inFlight--
    return true
  }
}
