import type { KeyRange } from '@waypost/etcd-client/messages'
import type { Keys } from '../keys/keys.ts'

/** Chunks of one content that follow each other. */
export interface ChunkRun {
  readonly stamp: number
  /** Holds these chunks, and no key of another form that was there when they were read. */
  readonly range: KeyRange
}

/** The chunks among these keys, which are all keys of a range in their order. Keys of another form are in no run. */
export function chunkRuns(keys: Keys, found: readonly { readonly key: string }[]): ChunkRun[] {
  const runs: ChunkRun[] = []
  let last: { stamp: number; key: string } | undefined
  for (const { key } of found) {
    const place = keys.read(key)
    if (place?.of !== 'chunk') {
      last = undefined
      continue
    }
    const { stamp } = place
    const first = last?.stamp === stamp ? runs.pop()!.range.key : key
    runs.push({ stamp, range: { key: first, end: `${key}\0` } })
    last = { stamp, key }
  }
  return runs
}
