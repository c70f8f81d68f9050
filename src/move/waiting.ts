import type { Progress } from '../command/progress.ts'

/** When a command first says what it waits for, ms; then after twice the time, and so on. */
const FIRST_SAID_MS = 5_000

/** Waits for a piece of work, and says so if that takes long. */
export type Waiting = <T>(what: string, work: Promise<T>) => Promise<T>

/** Tells it by `progress`, such as `waypost: waiting for http://old:8848/nacos, 5 s`. */
export function waitingOn(progress: Pick<Progress, 'show'>): Waiting {
  return async (what, work) => {
    let timer: NodeJS.Timeout
    const tellAfter = (ms: number, spentMs: number): void => {
      timer = setTimeout(() => {
        progress.show(`waypost: waiting for ${what}, ${Math.round((spentMs + ms) / 1_000)} s`)
        tellAfter(spentMs + ms, spentMs + ms)
      }, ms)
    }
    tellAfter(FIRST_SAID_MS, 0)
    try {
      return await work
    } finally {
      clearTimeout(timer!)
    }
  }
}
