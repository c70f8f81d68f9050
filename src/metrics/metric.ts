import type { Histogram } from './histogram.ts'

/** Label values by name. They come from fixed lists, never from requests. */
export type Labels = Readonly<Record<string, string>>

/** One value, or one for each set of labels. */
export type Reading<T> = T | readonly (readonly [labels: Labels, value: T])[]

interface DescribedMetric {
  /** Ends with the base unit, `_seconds` or `_bytes`; the name of a counter ends with `_total`. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** A metric. `read` runs only when somebody scrapes. */
export type Metric =
  | (DescribedMetric & {
      readonly type: 'counter' | 'gauge'
      readonly read: () => Awaitable<Reading<number>>
    })
  | (DescribedMetric & { readonly type: 'histogram'; readonly read: () => Reading<Histogram> })

type Awaitable<T> = T | Promise<T>

/** A gauge without labels. */
export function gauge(name: string, help: string, read: () => Awaitable<Reading<number>>): Metric {
  return { name, help, type: 'gauge', read }
}

/** A counter without labels. */
export function counter(name: string, help: string, read: () => Awaitable<Reading<number>>): Metric {
  return { name, help, type: 'counter', read }
}

/** A counter with a value for each entry, whose name is the value of the label. */
export function counterBy(
  name: string,
  help: string,
  { label, read }: { readonly label: string; readonly read: () => Iterable<readonly [string, number]> },
): Metric {
  const readings = () => Array.from(read(), ([value, count]) => [{ [label]: value }, count] as const)
  return { name, help, type: 'counter', labels: [label], read: readings }
}
