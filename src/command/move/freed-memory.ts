import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Node.js frees large texts late, because there is much memory. After so many bytes they are freed at once. */
const FREED_EVERY_BYTES = 8_388_608

let passedBytes = 0
let collect: (() => void) | undefined

/** Notes that so many bytes were read or written, and are not needed any longer. A move has texts of 10 MiB, and must stay small. */
export function passed(bytes: number): void {
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
