import { Refusal } from '../../../core/refusal.ts'
import { guarded, nothing } from '../../../core/unexpected.ts'
import { FairQueue } from '../../../core/work/fair-queue.ts'
import { PacedWork } from '../../../core/work/paced-work.ts'
import type { Loop } from '../../../core/work/sliced-work.ts'
import { parseBody, SlicedBody, SMALL_BODY_BYTES } from '../wire/body-reader.ts'
import type { JsonObject } from '../wire/json.ts'
import type { Message } from '../wire/message-reader.ts'

/** The bytes of small bodies that one turn of the loop reads. */
const MOST_TOGETHER_BYTES = 256 * 1024

/** Values take up to nine times the bytes of a body: only one of the larger bodies is read at a time. */
const LARGE_BODY_BYTES = 1024 * 1024

/** How many bodies may wait. Their memory has a limit of its own (`BodyShares`). */
const MOST_WAITING = 10_000

/** A body that waits to be read. */
type UnreadBody = Pick<Message, 'body' | 'isOver'>

/**
 * Reads the bodies of all messages. Small ones are read at once, until a turn of the loop has read enough. Each client has one
 * of the others under way, and a turn of the loop reads a slice of one. Few are partly read, because values take several times
 * the memory of their text.
 */
export class BodyTurns {
  readonly #loop: Pick<Loop, 'soon'>
  readonly #places = new FairQueue({ atOnce: 1, firsts: 3, waiting: MOST_WAITING }, tooMany)
  readonly #largePlaces = new FairQueue({ atOnce: 1, waiting: MOST_WAITING }, tooMany)
  readonly #slices: PacedWork
  /** The bytes of small bodies that this turn of the loop has read. */
  #bytes = 0

  constructor(loop: Pick<Loop, 'soon'>) {
    this.#loop = loop
    this.#slices = new PacedWork(loop, 1)
  }

  /** The object in the body of a message. Throws or rejects with a Refusal. */
  read(client: string, message: UnreadBody): JsonObject | Promise<JsonObject> {
    checkOpen(message)
    const { body } = message
    if (body.length <= SMALL_BODY_BYTES && this.#hasRoom(body.length)) return parseBody(body)
    const places = body.length > LARGE_BODY_BYTES ? this.#largePlaces : this.#places
    return places.run(client, () => this.#inSlices(message))
  }

  #hasRoom(bytes: number): boolean {
    if (this.#bytes + bytes > MOST_TOGETHER_BYTES) return false
    if (this.#bytes === 0) this.#loop.soon(guarded('request', nothing, () => void (this.#bytes = 0)))
    this.#bytes += Math.max(bytes, 1)
    return true
  }

  async #inSlices(message: UnreadBody): Promise<JsonObject> {
    await this.#turn(message)
    if (message.body.length <= SMALL_BODY_BYTES) return parseBody(message.body)
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
  if (isOver === true) throw new Refusal('malformed-request', 'The call ended before its body was read.')
}

function tooMany(): Refusal {
  const allowed = `at most ${MOST_WAITING} bodies that wait`
  return new Refusal('body-memory', `The server reads ${allowed}: try again in a moment.`, { allowed })
}
