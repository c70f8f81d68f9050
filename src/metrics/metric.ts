import type { Histogram } from './histogram.ts'

/** Label values by their names. Values come from closed lists, never from what clients send. */
export type Labels = Readonly<Record<string, string>>

/** One value, or one for each of some labels. */
export type Reading<T> = T | readonly (readonly [labels: Labels, value: T])[]

interface Described {
  /** With the base unit at the end: `_seconds`, `_bytes`, and `_total` for what only rises. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** What is measured, read when somebody asks; nothing is done for it in between. */
export type Metric =
  | (Described & { readonly type: 'counter' | 'gauge'; readonly read: () => Awaitable<Reading<number>> })
  | (Described & { readonly type: 'histogram'; readonly read: () => Reading<Histogram> })

type Awaitable<T> = T | Promise<T>
