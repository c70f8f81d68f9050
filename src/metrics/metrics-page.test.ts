import { expect, test } from 'vitest'
import { Histogram } from './histogram.ts'
import type { Metric } from './metric.ts'
import { MetricsPage } from './metrics-page.ts'

async function bodyOf(...metrics: Metric[]): Promise<string> {
  return (await new MetricsPage(metrics).scrape()).body
}

test('a page has all metrics with their help and type, with a blank line between', async () => {
  const { contentType, body } = await new MetricsPage([
    { name: 'a_total', help: 'All of a.', type: 'counter', read: () => 3 },
    { name: 'b_seconds', help: 'Age of b.', type: 'gauge', read: async () => 0.25 },
  ]).scrape()
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(body).toBe(
    '# HELP a_total All of a.\n# TYPE a_total counter\na_total 3\n\n# HELP b_seconds Age of b.\n# TYPE b_seconds gauge\nb_seconds 0.25\n',
  )
})

test('a value has its labels in order, with quotes, backslashes and line ends escaped', async () => {
  const labels = { route: '/a', text: 'say "\\n"\nnow' }
  const metric: Metric = {
    name: 'a_total',
    help: 'A \\ and\na line.',
    type: 'counter',
    labels: ['route', 'text'],
    read: () => [[labels, 1e21]],
  }
  const [help, , value] = (await bodyOf(metric)).split('\n')
  expect(help).toBe('# HELP a_total A \\\\ and\\na line.')
  expect(value).toBe('a_total{route="/a",text="say \\"\\\\n\\"\\nnow"} 1e+21')
})

test('a histogram has cumulative buckets, a sum and a count for each set of labels', async () => {
  const histogram = new Histogram([0.5, 10])
  for (const value of [0.5, 1, 99]) histogram.observe(value)
  const read = (labels: Record<string, string>) => () => [[labels, histogram]] as const
  const described = { name: 'h_seconds', help: 'H.', type: 'histogram' } as const
  const lines = (await bodyOf({ ...described, labels: ['a'], read: read({ a: 'x' }) })).trim().split('\n')
  expect(lines.slice(2)).toEqual([
    'h_seconds_bucket{le="0.5",a="x"} 1',
    'h_seconds_bucket{le="10",a="x"} 2',
    'h_seconds_bucket{le="+Inf",a="x"} 3',
    'h_seconds_sum{a="x"} 100.5',
    'h_seconds_count{a="x"} 3',
  ])
  expect(await bodyOf({ ...described, read: () => histogram })).toContain(
    'h_seconds_bucket{le="+Inf"} 3\nh_seconds_sum 100.5\nh_seconds_count 3\n',
  )
})

test('without a reading a metric without labels is 0, and one with labels has no line', async () => {
  const metric = { help: 'H.', type: 'gauge', read: () => [] } as const
  const body = await bodyOf({ ...metric, name: 'a' }, { ...metric, name: 'b', labels: ['x'] })
  expect(body).toBe('# HELP a H.\n# TYPE a gauge\na 0\n\n# HELP b H.\n# TYPE b gauge\n')
})

test('values that are no finite number are written as Prometheus reads them', async () => {
  const readings = [Infinity, -Infinity, Number.NaN].map((value) => [{ x: String(value) }, value] as const)
  const body = await bodyOf({ name: 'a', help: 'H.', type: 'gauge', labels: ['x'], read: () => readings })
  expect(body.match(/ \S+$/gm)?.slice(-3)).toEqual([' +Inf', ' -Inf', ' NaN'])
})
