import type { KeptRecords } from '../../core/engine/ports.ts'
import type { Bytes } from '../../core/memory/bytes-of.ts'
import { readOrNone, STORED_MEMORY } from '../../core/engine/remembered-values.ts'
import type { MemoryLimits } from '../../core/records/memory-limits.ts'
import { HeapTooSmallError, SettingsError } from '../../settings/sources.ts'
import { heapForData, largerHeapFor } from './memory-limits.ts'

/** Data at their limit must be loaded again: sessions and records of the server itself may have made them a little larger. */
const TOLERANCE = 1.1
const MIB = 1024 * 1024
/** The note of the data may be behind by this much (`MemoryCare`): the named heap must be enough for the data as they are. */
const NOTED_BEHIND_BYTES = 16 * MIB

/**
 * Throws SettingsError if the data of the store would not fit into the memory of this server. It asks before they are
 * loaded: otherwise the engine of JavaScript would end the process in the middle.
 */
export async function requireNotedMemory(
  store: Pick<KeptRecords, 'recall'>,
  limits: MemoryLimits,
): Promise<void> {
  // A damaged note says nothing of the data. It is written again while servers run.
  const noted = readOrNone(STORED_MEMORY, await store.recall(STORED_MEMORY.name))
  if (noted !== undefined) requireMemory(noted, limits)
}

/** Throws SettingsError if data of this size do not fit into the memory of this server, HeapTooSmallError if not on its heap. */
export function requireMemory(needed: Bytes, limits: MemoryLimits): void {
  const { heapBytes, memoryBytes } = limits
  const { heap, external } = needed
  if (heap > TOLERANCE * heapBytes)
    throw new HeapTooSmallError(
      `The data need ${shown(heap)} on the heap of the process, and this server allows ${shown(heapBytes)}: start it with ` +
        `NODE_OPTIONS=--max-old-space-size=${Math.ceil(heapForData(heap + NOTED_BEHIND_BYTES) / MIB)} (MiB), and raise max-state-memory if it is set.`,
      largerHeapFor(needed, limits),
    )
  if (heap + external > TOLERANCE * memoryBytes)
    throw new SettingsError([
      `The data need ${shown(heap + external)} of memory, and this server allows ${shown(memoryBytes)}: give the machine or ` +
        'the container more, and raise max-state-memory if it is set.',
    ])
}

function shown(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`
}
