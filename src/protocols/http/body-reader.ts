import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../core/refusal.ts'
import type { BodyMemory } from './body-memory.ts'

/** Who gets a body that `readBody` was asked for: exactly one of these is called, once. */
export interface BodyReceiver {
  bodyRead(body: Buffer): void
  /** The body is too large. What remains of it has not been read. */
  refuse(refusal: Refusal): void
  /** The client left in the middle of it. */
  bodyLost(): void
}

const READING = Symbol('the reading of a body')

/** A request whose body is being read. One property and three shared listeners: nothing is made per request. */
interface ReadingRequest extends IncomingMessage {
  [READING]?: Reading | undefined
}

/** What bounds a body: its own size, and what all bodies take together. */
export interface BodyLimits {
  readonly limitBytes: number
  readonly memory: BodyMemory
}

interface Reading extends BodyLimits {
  readonly receiver: BodyReceiver
  readonly chunks: Buffer[]
  bytes: number
}

/** Whether the request carries a body of any kind. */
export function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}

/** Whether the request carries a form body; other bodies hold no parameters and are not read. */
export function hasForm(request: IncomingMessage): boolean {
  if (!hasBody(request)) return false
  const contentType = request.headers['content-type']
  return contentType === undefined || contentType === '' || FORM.test(contentType)
}

/** Whatever charset it claims: forms are UTF-8. */
const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i

/**
 * Collects a body of at most `limitBytes`. A declared length above that is refused before anything is read.
 * A body that comes without a length is refused at the first chunk too many, which is not kept.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, receiver: BodyReceiver): void {
  const { limitBytes, memory } = limits
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > limitBytes) return receiver.refuse(tooLarge(limitBytes))
  ;(request as ReadingRequest)[READING] = { receiver, limitBytes, memory, chunks: [], bytes: 0 }
  request.on('data', onData)
  request.on('end', onEnd)
  request.on('close', onClose)
}

function onData(this: ReadingRequest, chunk: Buffer): void {
  const reading = this[READING]
  if (reading === undefined) return
  const bytes = reading.bytes + chunk.length
  if (bytes > reading.limitBytes) {
    stopReading(this)?.receiver.refuse(tooLarge(reading.limitBytes))
  } else if (!reading.memory.take(chunk.length, bytes)) {
    stopReading(this)?.receiver.refuse(reading.memory.refusal())
  } else {
    reading.bytes = bytes
    reading.chunks.push(chunk)
  }
}

function onEnd(this: ReadingRequest): void {
  const reading = stopReading(this)
  if (reading === undefined) return
  const { chunks, bytes } = reading
  reading.receiver.bodyRead(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes))
}

function onClose(this: ReadingRequest): void {
  stopReading(this)?.receiver.bodyLost()
}

function stopReading(request: ReadingRequest): Reading | undefined {
  const reading = request[READING]
  if (reading === undefined) return undefined
  // Not deleted, and the listeners stay: both would cost more than what they leave behind, nothing.
  request[READING] = undefined
  reading.memory.release(reading.bytes)
  return reading
}

function tooLarge(limitBytes: number): Refusal {
  const allowed = `at most ${limitBytes} bytes`
  return new Refusal('too-large', `The body of this request may have ${allowed}.`, { allowed })
}
