import type { InstanceIndex } from './instance-index.ts'
import { isSaved, type Line } from './instance-lines.ts'
import { type InstancePacks, missingPacks, sizeOf, weightOf } from './instance-packs.ts'

/**
 * Reads the instance log from its newest pack on: gives the newest line of each instance that is there, those of a pack
 * together, and notes it in an empty index. Throws `DamagedRow`.
 */
export function* newestLines(packs: InstancePacks, index: InstanceIndex): Generator<readonly Line[]> {
  const gone = new Set<number>()
  for (const { id, lines } of packs.newestFirst()) {
    if (index.bytes === 0) index.nextPack = id + 1
    else if (id !== index.firstPack - 1) throw missingPacks(id, index.firstPack)
    index.firstPack = id
    index.bytes += sizeOf(lines)
    const newest = lines.toReversed().filter((line) => isNewest(line, { index, gone, pack: id }))
    index.begin()
    if (newest.length > 0) yield newest
  }
}

interface Reading {
  readonly index: InstanceIndex
  /** Those that a later line says are gone. */
  readonly gone: Set<number>
  readonly pack: number
}

/** Whether a line is the newest of an instance that is there; of lines that are read from the newest on. */
function isNewest(line: Line, { index, gone, pack }: Reading): boolean {
  if (gone.has(line.serial) || index.packOf(line.serial) !== undefined) return false
  if (isSaved(line)) index.set(line.serial, pack, weightOf(line))
  else gone.add(line.serial)
  return isSaved(line)
}
