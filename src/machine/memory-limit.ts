import { totalmem } from 'node:os'

/** The bytes of memory that this process may use: the limit of its container if it has one, else all of the machine. */
export function memoryLimitBytes(): number {
  const machine = totalmem()
  const container = process.constrainedMemory()
  // Without a limit some kernels report a number larger than any machine, others report 0.
  return container > 0 && container < machine ? container : machine
}
