import type { EtcdClient } from './client/etcd-client.ts'
import type { Keys } from './keys.ts'
import { chunksOf, type LargeContent } from './large-contents.ts'
import type { ContentParts } from './values.ts'

/** A chunk of a content is not there. What names it has changed meanwhile, or is about to be read again. */
export class MissingChunk extends Error {
  override readonly name = 'MissingChunk'

  constructor(stamp: number, index: number) {
    super(`Chunk ${index} of the content of stamp ${stamp} is missing.`)
  }
}

/** Contents that are too large for one value, in chunks. */
export class Chunks {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  /** The contents of the commits underway, by stamp: the feed need not read them. */
  readonly #underway = new Map<number, Buffer>()

  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  /** Writes contents before the unit that names them: a chunk that no unit names is removed later. */
  async write(contents: readonly LargeContent[], leftMs: () => number): Promise<void> {
    for (const { stamp, content } of contents) {
      this.#underway.set(stamp, content)
      for (const [index, value] of chunksOf(content).entries()) {
        const key = this.#keys.of({ of: 'chunk', stamp, index })
        await this.#client.txn({ compare: [], success: [{ do: 'put', key, value }] }, leftMs())
      }
    }
  }

  /** The units that name these contents are answered. */
  forget(contents: readonly LargeContent[]): void {
    for (const { stamp } of contents) this.#underway.delete(stamp)
  }

  /** Reads a content. Rejects with {@link MissingChunk}. */
  readonly read = async ({ stamp, count }: ContentParts): Promise<Buffer> => {
    const known = this.#underway.get(stamp)
    if (known !== undefined) return known
    const indexes = Array.from({ length: count }, (_, index) => index)
    return Buffer.concat(await Promise.all(indexes.map((index) => this.#readOne(stamp, index))))
  }

  async #readOne(stamp: number, index: number): Promise<Uint8Array> {
    const { kvs } = await this.#client.range({ key: this.#keys.of({ of: 'chunk', stamp, index }) })
    if (kvs[0] === undefined) throw new MissingChunk(stamp, index)
    return kvs[0].value
  }
}
