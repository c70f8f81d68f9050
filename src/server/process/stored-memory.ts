import type { KeptRecords } from '../../core/engine/ports.ts'
import type { Bytes } from '../../core/memory/bytes-of.ts'
import type { MemoryLimits } from '../../core/records/memory-limits.ts'
import { readOrNone, STORED_MEMORY } from '../../core/engine/remembered-values.ts'
import { SettingsError } from '../../settings/sources.ts'
import { heapForData } from './memory-limits.ts'

/** Data at their limit must be loaded again: sessions and records of the server itself may have made them a little larger. */
const TOLERANCE = 1.1
const MIB = 1024 * 1024

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

/** Throws SettingsError if data of this size do not fit into the memory of this server. */
export function requireMemory({ heap, external }: Bytes, { heapBytes, memoryBytes }: MemoryLimits): void {
  if (heap > TOLERANCE * heapBytes) {
    const needed = Math.ceil(heapForData(heap) / MIB)
    throw new SettingsError([
      `The data need ${shown(heap)} on the heap of the process, and this server allows ${shown(heapBytes)}: start it with ` +
        `NODE_OPTIONS=--max-old-space-size=${needed} (MiB), and raise max-state-memory if it is set.`,
    ])
  }
  if (heap + external > TOLERANCE * memoryBytes)
    throw new SettingsError([
      `The data need ${shown(heap + external)} of memory, and this server allows ${shown(memoryBytes)}: give the machine or ` +
        'the container more, and raise max-state-memory if it is set.',
    ])
}

function shown(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`
}
