import { Store } from './store.ts'

const TICK_MS = 1_000

/** The time, second by second, for texts such as "3 s ago". */
export const now = new Store(Date.now())

setInterval(() => document.hidden || now.set(Date.now()), TICK_MS)
