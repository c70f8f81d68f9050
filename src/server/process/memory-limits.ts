import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Bytes } from '../../core/memory/bytes-of.ts'
import type { MemoryLimits } from '../../core/records/memory-limits.ts'
import type { Settings } from '../../settings/settings.ts'

const MIB = 1024 * 1024
/** The part of the heap for new objects, at most and in a small container, unless a flag says it. */
const MOST_YOUNG_BYTES = 48 * MIB
const LEAST_YOUNG_BYTES = 3 * MIB
/** The memory from which on this part grows with the memory. */
const SMALL_CONTAINER_BYTES = 512 * MIB
/** The heap of a server without data, with room for a collection of garbage. */
const EMPTY_SERVER_BYTES = 64 * 1024 * 1024
/** The share of the heap for data. The rest is for requests, answers and Maps that double. */
const SHARE_OF_HEAP = 0.7
/** The share of the memory for data. The rest is for the same, for the store's thread and the disk's cache. */
const SHARE_OF_MEMORY = 0.75
/** The share of the memory for contents, unless a setting says how much. */
const SHARE_FOR_CONTENTS = 0.5

/** The share of the heap for the things that clients watch. */
const SHARE_FOR_CLIENTS = 0.1

/** How much memory the data of this server may take: by its heap, by its machine or container, and by the settings. */
export function memoryLimitsOf({
  maxStateMemoryBytes,
  maxContentMemoryBytes,
}: Pick<Settings, 'maxStateMemoryBytes' | 'maxContentMemoryBytes'>): MemoryLimits {
  const most = maxStateMemoryBytes === 0 ? Infinity : maxStateMemoryBytes
  const memory = memoryLimitBytes()
  return {
    heapBytes: Math.floor(Math.min(most, SHARE_OF_HEAP * usableHeap())),
    memoryBytes: Math.floor(Math.min(most, SHARE_OF_MEMORY * memory)),
    contentBytes: maxContentMemoryBytes || Math.floor(SHARE_FOR_CONTENTS * memory),
  }
}

/** How much memory the things may take that clients of this server watch. */
export function clientMemoryBytes(): number {
  return SHARE_FOR_CLIENTS * usableHeap()
}

/** The share of the heap for contents that wait to be written: each is there as a text, and some as JSON. */
const SHARE_OF_WAITING = 1 / 24

/** The most bytes of contents that wait to be written. */
export function waitingContentBytes(): number {
  return SHARE_OF_WAITING * getHeapStatistics().heap_size_limit
}

/** The heap for objects that stay, as `--max-old-space-size` says it: V8 ends the process where that is full. */
function oldHeap(): number {
  const flags = [process.env['NODE_OPTIONS'], ...process.execArgv].join(' ')
  return getHeapStatistics().heap_size_limit - youngBytes(memoryLimitBytes(), flags)
}

/** The part of the heap limit for new objects, as V8 reckons it: three parts of a 256th of the memory, but in small containers. */
export function youngBytes(memory: number, flags: string): number {
  const half = /--max[-_]semi[-_]space[-_]size[= ](\d+)/.exec(flags)?.[1]
  if (half !== undefined) return 3 * Number(half) * MIB
  return memory <= SMALL_CONTAINER_BYTES ? LEAST_YOUNG_BYTES : Math.min(MOST_YOUNG_BYTES, (3 * memory) / 256)
}

function usableHeap(): number {
  return Math.max(0, oldHeap() - EMPTY_SERVER_BYTES)
}

/** The heap that an operation with much in memory may take. */
const BYTES_OF_PLACE = 64 * 1024 * 1024

/** How many operations with much in memory may run at once. */
export function placesOfHeap(): number {
  return Math.floor(oldHeap() / BYTES_OF_PLACE)
}

/** The share of the heap for bodies that are being read: their texts take up to twice as much. */
const SHARE_FOR_BODIES = 1 / 8

function mostForBodies(): number {
  return Math.floor(SHARE_FOR_BODIES * getHeapStatistics().heap_size_limit)
}

/** How much memory bodies may take that are being read: as the setting says, but never more than a small heap can hold. */
export function bodyMemoryOf({ maxBodyMemoryBytes }: Pick<Settings, 'maxBodyMemoryBytes'>): number {
  return Math.min(maxBodyMemoryBytes, mostForBodies())
}

/** The share of the memory for answers that clients have not read, and the most. They wait outside of the heap. */
const SHARE_FOR_UNREAD = 1 / 8
const MOST_UNREAD_BYTES = 512 * MIB

/** How much memory unread answers may take: as bodies where the setting says it, and else what the memory allows. */
export function unreadMemoryOf({ maxBodyMemoryBytes }: Pick<Settings, 'maxBodyMemoryBytes'>): number {
  if (maxBodyMemoryBytes < mostForBodies()) return maxBodyMemoryBytes
  return Math.max(maxBodyMemoryBytes, Math.min(MOST_UNREAD_BYTES, SHARE_FOR_UNREAD * memoryLimitBytes()))
}

/** The size of the heap that a server needs for data of this size on it. */
export function heapForData(bytes: number): number {
  return bytes / SHARE_OF_HEAP + EMPTY_SERVER_BYTES
}

/**
 * The size of a heap for data that do not fit into this one. They may grow to twice their size where the memory has it.
 * Undefined: the memory has no room, or a setting keeps the data from this heap.
 */
export function largerHeapFor({ heap, external }: Bytes, limits: MemoryLimits): number | undefined {
  const isLimitedBySetting = limits.heapBytes < Math.floor(SHARE_OF_HEAP * usableHeap())
  const possible = Math.min(heapForData(2 * heap), limits.memoryBytes - external)
  return isLimitedBySetting || possible < heapForData(heap) ? undefined : possible
}

/** The bytes of memory that this process may use: the limit of its container, or else all of the machine. */
function memoryLimitBytes(): number {
  const machine = totalmem()
  const container = process.constrainedMemory()
  // Without a limit some kernels report a number larger than any machine, others report 0.
  return container > 0 && container < machine ? container : machine
}
