/** How much State may take. All hold at the same time. */
export interface MemoryLimits {
  /** The most bytes on the heap of V8. */
  readonly heapBytes: number
  /** The most bytes on the heap and outside of it together. */
  readonly memoryBytes: number
  /** The most bytes of all current contents: `max-content-memory`. */
  readonly contentBytes: number
}

/** The name under which a store remembers the memory that its data take. */
export const NOTED_MEMORY = 'memory'
