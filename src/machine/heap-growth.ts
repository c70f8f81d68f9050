import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Below this, collecting more often would cost more than the memory is worth. */
const LARGE_HEAP_BYTES = 256 * 1024 * 1024
/** A heap that was large is so until a collection leaves less than this: much of what is in use before one is not after. */
const SMALL_HEAP_BYTES = 96 * 1024 * 1024
/** How much a large heap may grow before it is collected. */
const GROWTH_PERCENT = 25

/**
 * Has a large heap collected before it has grown by a quarter. V8 would let it grow to a multiple of what is in use,
 * as long as the machine has memory (decision 0027).
 */
export class HeapGrowth {
  #isBounded = false

  /** To be called each second. */
  tick(usedBytes = getHeapStatistics().used_heap_size): void {
    const isLarge = usedBytes > (this.#isBounded ? SMALL_HEAP_BYTES : LARGE_HEAP_BYTES)
    if (isLarge === this.#isBounded) return
    this.#isBounded = isLarge
    // 0 is V8's own way. The flag is read anew whenever a collection ends.
    setFlagsFromString(`--heap-growing-percent=${isLarge ? GROWTH_PERCENT : 0}`)
  }
}
