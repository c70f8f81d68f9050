/** The memory of this process, in bytes. Empty if unknown: Node.js reads /proc, which a chroot may not have. */
export function processMemory(): Partial<NodeJS.MemoryUsage> {
  try {
    return process.memoryUsage()
  } catch {
    return {}
  }
}
