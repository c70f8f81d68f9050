import { Refusal } from '../../../core/refusal.ts'
import { guarded, nothing } from '../../../core/unexpected.ts'
import { ClientTurns } from '../../../core/work/client-turns.ts'
import { CallerGone, FairQueue } from '../../../core/work/fair-queue.ts'
import { PacedWork } from '../../../core/work/paced-work.ts'
import type { Loop } from '../../../core/work/sliced-work.ts'
import { parseBody, SlicedBody, SMALL_BODY_BYTES } from '../wire/body-reader.ts'
import type { JsonObject } from '../wire/json.ts'
import type { Message } from '../wire/message-reader.ts'

/** The bytes of small bodies after which the others wait for the next turn of the loop. `SessionTurns` lets about as many come in. */
const MOST_TOGETHER_BYTES = 128 * 1024

/** Values take up to nine times the bytes of a body: only one of the larger bodies is read at a time. */
const LARGE_BODY_BYTES = 1024 * 1024

/** How many larger bodies may wait. The memory of all has a limit of its own (`BodyShares`). */
const MOST_WAITING = 10_000

/** A body that waits to be read. */
type UnreadBody = Pick<Message, 'body' | 'isOver'>

/** A small body that waits for a turn with room. */
interface Waiting {
  readonly message: UnreadBody
  readonly begin: () => void
}

/**
 * Reads the bodies of all messages. Small ones are read at once, until a turn of the loop has read enough; then clients take
 * turns. Each client has one of the others under way, and a turn of the loop reads a slice of one. Few are partly read, because
 * values take several times the memory of their text. The bodies of a connection are read in the order in which they came.
 */
export class BodyTurns {
  readonly #loop: Pick<Loop, 'soon'>
  readonly #places = new FairQueue({ atOnce: 1, firsts: 3, waiting: MOST_WAITING }, tooMany)
  readonly #largePlaces = new FairQueue({ atOnce: 1, waiting: MOST_WAITING }, tooMany)
  readonly #slices: PacedWork
  readonly #waiting = new ClientTurns<Waiting>()
  /** The bytes of small bodies that this turn of the loop has read. */
  #bytes = 0
  /** The end of the last body of each connection that has one which is not read yet. */
  readonly #unread = new Map<object, Promise<unknown>>()

  constructor(loop: Pick<Loop, 'soon'>) {
    this.#loop = loop
    this.#slices = new PacedWork(loop, 1)
  }

  /** The object in the body of a message. Throws or rejects with a Refusal, or with `CallerGone` where its call is over. */
  read(client: string, connection: object, message: UnreadBody): JsonObject | Promise<JsonObject> {
    const before = this.#unread.get(connection)
    const read =
      before === undefined ? this.#begin(client, message) : before.then(() => this.#begin(client, message))
    if (read instanceof Promise) this.#othersWait(connection, read)
    return read
  }

  /** The next bodies of a connection wait for this one. */
  #othersWait(connection: object, read: Promise<unknown>): void {
    const end = read.then(nothing, nothing)
    this.#unread.set(connection, end)
    void end.then(() => {
      if (this.#unread.get(connection) === end) this.#unread.delete(connection)
    })
  }

  #begin(client: string, message: UnreadBody): JsonObject | Promise<JsonObject> {
    checkOpen(message)
    const { length } = message.body
    if (length <= SMALL_BODY_BYTES) return this.#readSmall(client, message)
    const places = length > LARGE_BODY_BYTES ? this.#largePlaces : this.#places
    return places.run(client, () => this.#inSlices(message))
  }

  #readSmall(client: string, message: UnreadBody): JsonObject | Promise<JsonObject> {
    if (this.#waiting.size === 0 && this.#bytes < MOST_TOGETHER_BYTES) {
      this.#count(message)
      return parseBody(message.body)
    }
    return new Promise<void>((begin) => this.#waiting.add(client, { message, begin })).then(() => {
      checkOpen(message)
      return parseBody(message.body)
    })
  }

  #count({ body }: UnreadBody): void {
    if (this.#bytes === 0) this.#loop.soon(guarded('request', nothing, () => this.#nextTurn()))
    this.#bytes += Math.max(body.length, 1)
  }

  #nextTurn(): void {
    this.#bytes = 0
    while (this.#bytes < MOST_TOGETHER_BYTES) {
      const next = this.#waiting.next()?.thing
      if (next === undefined) return
      this.#count(next.message)
      next.begin()
    }
  }

  async #inSlices(message: UnreadBody): Promise<JsonObject> {
    await this.#turn(message)
    const sliced = new SlicedBody(message.body)
    while (sliced.read()) await this.#turn(message)
    return sliced.object()
  }

  /** The turn of the next slice. Nobody waits for the answer of a call that is over. */
  async #turn(message: UnreadBody): Promise<void> {
    checkOpen(message)
    await new Promise<void>((resolve) => this.#slices.run(1, resolve))
    checkOpen(message)
  }
}

function checkOpen({ isOver }: UnreadBody): void {
  if (isOver === true) throw new CallerGone('The call ended before its body was read.')
}

function tooMany(): Refusal {
  const allowed = `at most ${MOST_WAITING} bodies that wait`
  return new Refusal('body-memory', `The server reads ${allowed}: try again in a moment.`, { allowed })
}
