import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Counter, Gauge, Registry } from 'prom-client'
import type { Histogram } from './histogram.ts'
import type { Labels, Metric, Reading } from './metric.ts'

/** The answer to a scrape. */
export interface Scraped {
  readonly contentType: string
  readonly body: string
}

/**
 * The metrics in the text format of Prometheus. The first scrape loads prom-client, so a server without a scraper does
 * not load it.
 */
export class MetricsPage {
  readonly #metrics: readonly Metric[]
  #registry: Promise<Registry> | undefined

  constructor(metrics: readonly Metric[]) {
    this.#metrics = metrics
  }

  async scrape(): Promise<Scraped> {
    const registry = await (this.#registry ??= registryOf(this.#metrics))
    const parts: string[] = []
    for (const { name } of this.#metrics) {
      parts.push(await registry.getSingleMetricAsString(name))
      // The histogram of a hundred routes takes milliseconds, so requests run between two metrics.
      await nextTurn()
    }
    return { contentType: registry.contentType, body: `${parts.join('\n\n')}\n` }
  }
}

type Client = typeof import('prom-client')

async function registryOf(metrics: readonly Metric[]): Promise<Registry> {
  const { default: client } = await import('prom-client')
  const registry = new client.Registry()
  for (const metric of metrics) {
    if (metric.type === 'histogram') registry.registerMetric(histogramOf(metric))
    else scalar(client, registry, metric)
  }
  return registry
}

type ScalarMetric = Extract<Metric, { type: 'counter' | 'gauge' }>
type HistogramMetric = Extract<Metric, { type: 'histogram' }>

function scalar(
  client: Client,
  registry: Registry,
  { type, name, help, labels = [], read }: ScalarMetric,
): void {
  const Kind = type === 'counter' ? client.Counter : client.Gauge
  new Kind({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect(this: Counter | Gauge) {
      const reading = await read()
      this.reset()
      for (const [labelled, value] of each(reading)) this.inc(labelled, value)
    },
  })
}

/** prom-client's own histogram observes single values. This one reports counts that exist already. */
function histogramOf({ name, help, read }: HistogramMetric): Parameters<Registry['registerMetric']>[0] {
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: each(read()).flatMap(([labels, histogram]) => lines(name, labels, histogram)),
  })
  return { name, help, get, reset: () => undefined } as unknown as Parameters<Registry['registerMetric']>[0]
}

/** prom-client serializes the shared labels of a histogram once and caches the text. */
function lines(name: string, sharedLabels: Labels, histogram: Histogram): object[] {
  const cumulative = histogram.cumulative()
  const buckets = [...histogram.bounds.map(String), '+Inf'].map((le, place) => ({
    metricName: `${name}_bucket`,
    labels: { le },
    sharedLabels,
    value: cumulative[place]!,
  }))
  return [
    ...buckets,
    { metricName: `${name}_sum`, sharedLabels, value: histogram.sum },
    { metricName: `${name}_count`, sharedLabels, value: histogram.count },
  ]
}

function each<T extends number | Histogram>(reading: Reading<T>): readonly (readonly [Labels, T])[] {
  return Array.isArray(reading) ? reading : [[{}, reading as T]]
}
