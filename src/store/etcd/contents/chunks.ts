import { LEAST_COMMIT_MS } from '../../../core/engine/ports.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { Keys } from '../keys/keys.ts'
import { chunksOf, type LargeContent } from './large-contents.ts'
import { textOfPieces } from './shared-texts.ts'
import type { ContentParts } from '../keys/stored-shapes.ts'

/** A chunk of a content is missing. The key that names it has changed meanwhile, or is about to be read again. */
export class MissingChunk extends Error {
  override readonly name = 'MissingChunk'

  constructor(stamp: number, index: number) {
    super(`Chunk ${index} of the content of stamp ${stamp} is missing.`)
  }
}

/** etcd has not taken contents in time. Nothing names them yet, so nothing was changed. */
export class SlowContents extends EtcdError {
  constructor(written: number, bytes: number) {
    const mib = (some: number): string => (some / 1024 / 1024).toFixed(1)
    const how = `of ${mib(bytes)} MiB it has taken ${mib(written)} in time`
    super(
      'unavailable',
      `etcd is too slow for a content of this size: ${how}. The change was not made: try again later.`,
    )
  }
}

/** The time that the unit needs after its contents. With less than `LEAST_COMMIT_MS` nobody tries once more. */
const UNIT_MS = LEAST_COMMIT_MS - 20
/** Between two tries of a chunk: a member may refuse at once, because it has too much to do. */
const AGAIN_MS = 50
/** Less time than this is not enough for a chunk. */
const LEAST_MS = 50

/** Contents that are too large for one value, in chunks. */
export class Chunks {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  readonly #clock: Pick<Clock, 'sleep'>
  /** The contents of the commits underway, by stamp: the feed need not read them. */
  readonly #underway = new Map<number, Buffer>()
  /** Settles when the contents are written that came before. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys, clock: Pick<Clock, 'sleep'>) {
    this.#client = client
    this.#keys = keys
    this.#clock = clock
  }

  /**
   * Writes contents before the unit that names them: chunks without a unit are removed later. Contents of several
   * commits are written one after the other. Rejects with {@link SlowContents} if time runs out.
   */
  async write(contents: readonly LargeContent[], leftMs: () => number): Promise<void> {
    if (contents.length === 0) return
    for (const { stamp, content } of contents) this.#underway.set(stamp, content)
    const written = this.#turn.then(() => this.#writeAll(contents, () => leftMs() - UNIT_MS))
    this.#turn = written.catch(() => undefined)
    await written
  }

  async #writeAll(contents: readonly LargeContent[], leftMs: () => number): Promise<void> {
    const bytes = contents.reduce((sum, { content }) => sum + content.length, 0)
    let written = 0
    for (const { stamp, content } of contents)
      for (const [index, value] of chunksOf(content).entries()) {
        const key = this.#keys.of({ of: 'chunk', stamp, index })
        if (!(await this.#isWritten(key, value, leftMs))) throw new SlowContents(written, bytes)
        written += value.length
      }
  }

  /** Writes a chunk, and repeats it if an answer was lost: the bytes are the same. False: there was no time. */
  async #isWritten(key: string, value: Buffer, leftMs: () => number): Promise<boolean> {
    for (let limitMs = leftMs(); limitMs >= LEAST_MS; limitMs = leftMs())
      try {
        await this.#client.txn({ compare: [], success: [{ do: 'put', key, value }] }, limitMs)
        return true
      } catch (error) {
        // In doubt: a member was asked.
        if (!(error instanceof EtcdError && error.inDoubt)) throw error
        await this.#clock.sleep(AGAIN_MS)
      }
    return false
  }

  /** The units that name these contents are answered. */
  forget(contents: readonly LargeContent[]): void {
    for (const { stamp } of contents) this.#underway.delete(stamp)
  }

  /** Reads a content. Rejects with {@link MissingChunk}. */
  readonly read = async (parts: ContentParts): Promise<Buffer> => {
    const pieces = await this.#pieces(parts)
    return parts.of === 'gray-text' ? textOfPieces(pieces) : pieces
  }

  async #pieces({ stamp, count, of }: ContentParts): Promise<Buffer> {
    const known = this.#underway.get(stamp)
    if (known !== undefined) return known
    const indexes = Array.from({ length: count }, (_, index) => index)
    const pieces = await Promise.all(
      indexes.map(async (index) => {
        const piece = await this.#piece(stamp, index)
        if (piece === undefined) throw new MissingChunk(stamp, index)
        return piece
      }),
    )
    return Buffer.concat(
      of === undefined ? pieces : await withMore(pieces, (index) => this.#piece(stamp, index)),
    )
  }

  async #piece(stamp: number, index: number): Promise<Uint8Array | undefined> {
    const { kvs } = await this.#client.range({ key: this.#keys.of({ of: 'chunk', stamp, index }) })
    return kvs[0]?.value
  }
}

/** All pieces of a content whose number of pieces is known only as a minimum. */
export async function withMore(
  pieces: readonly Uint8Array[],
  read: (index: number) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array[]> {
  const all = [...pieces]
  for (;;) {
    const piece = await read(all.length)
    if (piece === undefined) return all
    all.push(piece)
  }
}
