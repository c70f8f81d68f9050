/**
 * Random frames against a model of the states of streams (RFC 9113, section 5.1), and mutated ones against the rules of any
 * connection.
 */
import { expect, test } from 'vitest'
import {
  data,
  frame,
  open,
  PREFACE_AND_SETTINGS,
  settings,
  TestConnection,
  uint32,
  whole,
  windowUpdate,
} from '@waypost/http2/connection.test-support'
import { headerBlockOf } from '@waypost/http2/header-encoder'
import { ERROR, FLAG, FRAME } from '@waypost/http2/protocol'
import { asText, foundBy, SEED, secondsOf } from './found.ts'
import { mutated } from './mutate.ts'
import { Random } from './random.ts'

/** Each of the two tests. */
const SECONDS = secondsOf(2) / 2
const LIMIT_MS = 30_000 + SECONDS * 1_000
const MOST_STEPS = 40
const IDS = [1, 3, 5, 7, 9]

const OK = headerBlockOf([{ name: ':status', value: '200' }])
const TRAILERS = headerBlockOf([{ name: 'x', value: 'y' }])

/** `left`: closed by the server, while the client may still send. */
type State = 'idle' | 'open' | 'half-closed' | 'left' | 'closed'

/** What a step causes: an error of the stream or the connection, or a stream that is closed. */
interface Effect {
  readonly reset?: number
  readonly goAway?: number
}

const NOTHING: Effect = {}
const STEPS = {
  headers: (id: number) => open(id),
  request: (id: number) => whole(id),
  trailers: (id: number) => whole(id, TRAILERS),
  data: (id: number) => data(id, 'x'.repeat(20)),
  end: (id: number) => data(id, '', FLAG.endStream),
  reset: (id: number) => frame(FRAME.rstStream, id, { payload: uint32(ERROR.cancel) }),
  window: (id: number) => windowUpdate(id, 10),
  'no window': (id: number) => windowUpdate(id, 0),
  'large window': (id: number) => windowUpdate(id, 0x7fffffff),
  priority: (id: number) => frame(FRAME.priority, id, { payload: Buffer.alloc(5) }),
  answer: undefined,
  cancel: undefined,
} as const
type StepName = keyof typeof STEPS
const NAMES = Object.keys(STEPS) as StepName[]

/** The states of the streams of a connection, by the words of the RFC. */
class Model {
  readonly #states = new Map<number, State>()
  #lastId = 0

  /** A stream below one that was opened is closed (section 5.1.1). */
  stateOf(id: number): State {
    return this.#states.get(id) ?? (id < this.#lastId ? 'closed' : 'idle')
  }

  take(step: StepName, id: number): Effect {
    const state = this.stateOf(id)
    if (step === 'priority') return NOTHING
    if (step === 'answer' || step === 'cancel') return this.#ofServer(step, id)
    if (step === 'headers' || step === 'request' || step === 'trailers') return this.#fields(step, id)
    if (state === 'idle') return { goAway: ERROR.protocolError }
    if (state === 'left') return NOTHING
    if (step === 'data' || step === 'end') return this.#body(step, id)
    if (state === 'closed') return NOTHING
    if (step === 'reset') return this.#to(id, 'closed')
    if (step === 'window') return NOTHING
    return this.#error(id, step === 'no window' ? ERROR.protocolError : ERROR.flowControlError)
  }

  /** An answer leaves a stream that its client has not ended (section 8.1). */
  #ofServer(step: 'answer' | 'cancel', id: number): Effect {
    const state = this.stateOf(id)
    if (state !== 'open' && state !== 'half-closed') return NOTHING
    if (step === 'cancel') return this.#error(id, ERROR.cancel)
    return state === 'open' ? this.#error(id, ERROR.noError) : this.#to(id, 'closed')
  }

  #fields(step: 'headers' | 'request' | 'trailers', id: number): Effect {
    const state = this.stateOf(id)
    if (state === 'left') return NOTHING
    if (state === 'closed') return { goAway: id === this.#lastId ? ERROR.streamClosed : ERROR.protocolError }
    if (state === 'half-closed') return this.#error(id, ERROR.streamClosed)
    if (state === 'open')
      return step === 'trailers' ? this.#to(id, 'half-closed') : this.#error(id, ERROR.protocolError)
    this.#lastId = id
    // Trailers are no request: they have no method.
    if (step === 'trailers') return this.#error(id, ERROR.protocolError)
    return this.#to(id, step === 'headers' ? 'open' : 'half-closed')
  }

  #body(step: 'data' | 'end', id: number): Effect {
    const state = this.stateOf(id)
    if (state === 'open') return step === 'end' ? this.#to(id, 'half-closed') : NOTHING
    if (state === 'half-closed') return this.#error(id, ERROR.streamClosed)
    this.#to(id, 'left')
    return { reset: ERROR.streamClosed }
  }

  #error(id: number, reset: number): Effect {
    this.#to(id, this.stateOf(id) === 'half-closed' ? 'closed' : 'left')
    return { reset }
  }

  #to(id: number, state: State): Effect {
    this.#states.set(id, state)
    return NOTHING
  }
}

/** Carries a step out, and gives its effect. */
function effectOf(client: TestConnection, step: StepName, id: number): Effect {
  const [resets, goAways] = [client.resets.length, client.sentOf(FRAME.goAway).length]
  const stream = client.opened.get(id)
  if (step === 'answer') {
    stream?.respond(OK)
    stream?.end()
  } else if (step === 'cancel') stream?.reset(ERROR.cancel)
  else client.receive(STEPS[step](id))
  client.flush()
  const reset = client.resets[resets]
  if (reset !== undefined) expect(reset[0]).toBe(id)
  return {
    ...(reset === undefined ? {} : { reset: reset[1] }),
    ...(client.sentOf(FRAME.goAway).length === goAways ? {} : { goAway: client.goAway! }),
  }
}

type Taken = readonly (readonly [step: StepName, id: number])[]

/** Inputs that were found, then random ones until the time is over. */
function* inputsOf<Input>(fuzzer: string, make: (random: Random) => Input): Generator<Input> {
  yield* foundBy<Input>(fuzzer)
  const untilMs = performance.now() + SECONDS * 1_000
  for (let number = 0; performance.now() < untilMs; number++) yield make(new Random(SEED + 31 * number))
}

const stepsOf = (random: Random): Taken =>
  Array.from({ length: 1 + random.below(MOST_STEPS) }, () => [random.of(NAMES), random.of(IDS)] as const)

test(`streams have the states of the RFC, whatever frames come (seed ${SEED})`, { timeout: LIMIT_MS }, () => {
  for (const steps of inputsOf('states', stepsOf)) {
    const [client, model] = [new TestConnection(), new Model()]
    for (const [step, id] of steps) {
      const before = model.stateOf(id)
      const expected = model.take(step, id)
      expect(effectOf(client, step, id), `${step} ${id} (${before}): ${asText(steps)}`).toEqual(expected)
      if (expected.goAway !== undefined) break
      const isOpen = ['open', 'half-closed'].includes(model.stateOf(id))
      const hasClosed = client.events.includes(`${id} closed`)
      expect(isOpen, asText(steps)).toBe(client.opened.has(id) && !hasClosed)
    }
  }
})

/** The frames of a conversation, mostly in an order that makes sense. */
function framesOf(random: Random): Buffer[] {
  const frames = Array.from({ length: 1 + random.below(MOST_STEPS) }, () => {
    const make = STEPS[random.of(NAMES)] ?? STEPS.request
    return random.chance(0.1) ? settings([1 + random.below(7), random.below(70_000)]) : make(random.of(IDS))
  })
  return frames.map((each) => (random.chance(0.15) ? mutated([each], random) : each))
}

/** Bytes to a connection; `seed`: of what the server does meanwhile. */
interface Bytes {
  readonly seed: number
  readonly begin: Buffer
  readonly frames: readonly Buffer[]
}

const bytesOf = (random: Random): Bytes => ({
  seed: random.below(2 ** 31),
  begin: random.chance(0.05) ? mutated([PREFACE_AND_SETTINGS], random) : PREFACE_AND_SETTINGS,
  frames: framesOf(random),
})

test(`mutated frames throw nothing, and every stream ends once (seed ${SEED})`, { timeout: LIMIT_MS }, () => {
  for (const input of inputsOf('frames-of-states', bytesOf)) {
    const random = new Random(input.seed)
    const client = new TestConnection({
      begin: input.begin,
      onOpen: (stream) => {
        if (random.chance(0.3)) stream.pause()
        stream.respond(OK)
        if (random.chance(0.8)) stream.write(Buffer.alloc(random.below(100_000)))
        if (random.chance(0.5)) stream.end(random.chance(0.5) ? TRAILERS : undefined)
      },
    })
    try {
      for (const bytes of input.frames) client.receive(bytes)
      const isOver = client.goAway !== undefined
      expect(client.events.filter((event) => event.startsWith('ended')).length).toBe(isOver ? 1 : 0)
      client.connection.lost()
      for (const id of client.opened.keys()) expectOrder(client.events, id)
    } catch (error) {
      throw new Error(asText(input), { cause: error })
    }
  }
})

/** A stream is opened, gets data, ends, and is closed, in this order. */
function expectOrder(events: readonly string[], id: number): void {
  const kinds = events
    .filter((event) => event.startsWith(`${id} `) && !event.endsWith('drained'))
    .map((event) => ['data', 'end', 'closed'].find((kind) => event.startsWith(`${id} ${kind}`)) ?? 'open')
  expect(kinds.join(' ')).toMatch(/^open( data)*( end)? closed$/)
}
