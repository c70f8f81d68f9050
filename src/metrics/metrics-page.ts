import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Histogram } from './histogram.ts'
import type { Labels, Metric, Reading } from './metric.ts'

/** The answer to a scrape. */
export interface Scraped {
  readonly contentType: string
  readonly body: string
}

/** The metrics in the text format of Prometheus, version 0.0.4. */
export class MetricsPage {
  readonly #metrics: readonly Metric[]

  constructor(metrics: readonly Metric[]) {
    this.#metrics = metrics
  }

  async scrape(): Promise<Scraped> {
    const parts: string[] = []
    for (const metric of this.#metrics) {
      const head = [`# HELP ${metric.name} ${escaped(metric.help)}`, `# TYPE ${metric.name} ${metric.type}`]
      parts.push([...head, ...(await linesOf(metric))].join('\n'))
      // The histogram of a hundred routes takes milliseconds, so requests run between two metrics.
      await nextTurn()
    }
    return { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: `${parts.join('\n\n')}\n` }
  }
}

async function linesOf(metric: Metric): Promise<string[]> {
  const { name } = metric
  if (metric.type === 'histogram')
    return each(metric.read()).flatMap(([labels, histogram]) => histogramLines(name, labels, histogram))
  const readings = each(await metric.read())
  // A metric without labels always has a value, also where it cannot be read.
  if (readings.length === 0 && metric.labels === undefined) return [`${name} 0`]
  return readings.map(([labels, value]) => line(name, textOf(labels), value))
}

function histogramLines(name: string, labels: Labels, histogram: Histogram): string[] {
  const shared = textOf(labels)
  const cumulative = histogram.cumulative()
  const buckets = [...histogram.bounds, '+Inf'].map((bound, place) => {
    const le = `le="${bound}"`
    return line(`${name}_bucket`, shared === '' ? le : `${le},${shared}`, cumulative[place] ?? 0)
  })
  return [
    ...buckets,
    line(`${name}_sum`, shared, histogram.sum),
    line(`${name}_count`, shared, histogram.count),
  ]
}

function line(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${numberOf(value)}` : `${name}{${labels}} ${numberOf(value)}`
}

function textOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(value).replaceAll('"', '\\"')}"`)
    .join(',')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

/** A value in the words of the format. */
function numberOf(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

function each<T extends number | Histogram>(reading: Reading<T>): readonly (readonly [Labels, T])[] {
  return Array.isArray(reading) ? reading : [[{}, reading as T]]
}
