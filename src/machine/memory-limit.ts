import { totalmem } from 'node:os'

/** The bytes of memory that this process may use: those of its container where that has a limit, else the machine's. */
export function memoryLimitBytes(): number {
  const machine = totalmem()
  const container = process.constrainedMemory()
  // Without a limit some kernels tell a number beyond any machine, others none.
  return container > 0 && container < machine ? container : machine
}
