/** The memory of this process, for tests that compare an account with it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The bytes on the heap and outside of it after collections. The memory of buffers is freed in the background, shortly after their collection. */
export async function bytesInUse(): Promise<number> {
  let [before, now] = [Infinity, Infinity]
  for (let round = 0; round < 5 || (now < before && round < 50); round++) {
    collectGarbage()
    await new Promise((resolve) => setTimeout(resolve, 10))
    const { heapUsed, external } = process.memoryUsage()
    ;[before, now] = [now, heapUsed + external]
  }
  return now
}
