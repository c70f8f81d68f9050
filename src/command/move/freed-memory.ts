import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Node.js frees large texts late where there is much memory. A collection is asked for after this many bytes. */
const FREED_EVERY_BYTES = 8_388_608

let passedBytes = 0
let collect: (() => void) | undefined

/** Counts bytes that were read or written, and are not needed any longer. A move has texts of 10 MiB, and must stay small. */
export function countFreed(bytes: number): void {
  passedBytes += bytes
  if (passedBytes < FREED_EVERY_BYTES) return
  passedBytes = 0
  collect ??= collector()
  collect()
}

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
