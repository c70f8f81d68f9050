import { expect, test } from 'vitest'
import { MetricsPage } from './metrics-page.ts'
import { RequestCounts } from './request-counts.ts'

const READ = { method: 'GET', path: '/nacos/v1/cs/configs' }

test('answers are counted by route and status class, with cumulative buckets of their duration', async () => {
  const requests = new RequestCounts()
  requests.onAnswer(READ, 200, 0.4)
  requests.onAnswer(READ, 200, 0.6)
  requests.onAnswer(READ, 404, 70_000)
  const { body } = await new MetricsPage(requests.metrics()).scrape()
  const of = 'method="GET",route="/nacos/v1/cs/configs",dialect="nacos"'
  expect(body).toContain(`waypost_http_requests_total{${of},status="2xx"} 2\n`)
  expect(body).toContain(`waypost_http_requests_total{${of},status="4xx"} 1\n`)
  expect(body).toContain(`waypost_http_request_duration_seconds_bucket{le="0.0005",${of}} 1\n`)
  expect(body).toContain(`waypost_http_request_duration_seconds_bucket{le="60",${of}} 2\n`)
  expect(body).toContain(`waypost_http_request_duration_seconds_bucket{le="+Inf",${of}} 3\n`)
  expect(body).toContain(`waypost_http_request_duration_seconds_count{${of}} 3\n`)
  expect(body).toMatch(/duration_seconds_sum\{[^}]*\} 70\.001/)
})

test('routes that a parameter chooses share the series of their path', async () => {
  const requests = new RequestCounts()
  requests.onAnswer(READ, 200, 1)
  requests.onAnswer({ ...READ }, 200, 1)
  const { body } = await new MetricsPage(requests.metrics()).scrape()
  expect(body.match(/^waypost_http_requests_total\{.*$/gm)).toEqual([
    'waypost_http_requests_total{method="GET",route="/nacos/v1/cs/configs",dialect="nacos",status="2xx"} 2',
  ])
})

test('requests to unknown paths share one series', async () => {
  const requests = new RequestCounts()
  requests.onAnswer(undefined, 404, 1)
  requests.onAnswer(undefined, 405, 1)
  const { body } = await new MetricsPage(requests.metrics()).scrape()
  expect(body).toContain(
    'waypost_http_requests_total{method="any",route="unknown",dialect="none",status="4xx"} 2',
  )
})

test('a second scrape has the current counts, not the sum of both scrapes', async () => {
  const requests = new RequestCounts()
  const page = new MetricsPage(requests.metrics())
  requests.onRefusal('too-large')
  await Promise.all([page.scrape(), page.scrape()])
  requests.onRefusal('too-large')
  expect((await page.scrape()).body).toContain('waypost_http_refusals_total{code="too-large"} 2\n')
})
