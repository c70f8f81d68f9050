/** The addresses of the Java server for probes and monitoring. */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { actuatorRoutes } from '../../src/protocols/http/nacos/actuator-routes.ts'
import { grpcClients } from '../support/grpc-clients.ts'
import { Client, serverForThisFile, unique } from './client.ts'

const waypost = serverForThisFile()
const connect = grpcClients(() => waypost.server)
const client = () => new Client(waypost.server.url)

test('health is UP, or DOWN with 503 as /readyz', async () => {
  const { status, text } = await client().get('/nacos/actuator/health')
  expect([status, text]).toEqual([200, '{"status":"UP"}'])
})

test('health is DOWN, with 503, while the server should get no requests', async () => {
  const operator = { scrapeForNacos: Object.assign(() => undefined, { permission: {} }) } as never
  const notReady = () => [{ code: 'stopping', detail: 'The server is stopping.', forMs: 1 }]
  const [health] = actuatorRoutes({ operator, notReady })
  expect(await health!.handle({} as never)).toMatchObject({ status: 503, body: '{"status":"DOWN"}' })
})

/** What each panel with data of the boards for the Java server asks for. */
const PANELS: readonly (readonly [panel: string, selector: string])[] = [
  ['UP, config count', `nacos_monitor{name="configCount"}`],
  ['service count', `nacos_monitor{name="domCount"}`],
  ['service count of 2.4', `nacos_monitor{name="serviceCount"}`],
  ['ip count, service provider count', `nacos_monitor{name="ipCount"}`],
  ['service subscriber count', `nacos_monitor{name="subscriberCount"}`],
  ['long polling', `nacos_monitor{name="longPolling"}`],
  ['config push total, config statistics', `nacos_monitor{name="getConfig"}`],
  ['config statistics', `nacos_monitor{name="publish"}`],
  ['config connection, GRPC connection count', `nacos_monitor{module="core",name="longConnection"}`],
  ['failed push alert', `nacos_monitor{name="failedPush"}`],
  ['config listener count', `nacos_config_subscriber{}`],
  ['cpu, cpu usage, cpu alert', `system_cpu_usage{}`],
  ['load, load 1m, load alert', `system_load_average_1m{}`],
  ['qps, rt, ops', `http_server_requests_seconds_count{}`],
  ['rt, ops', `http_server_requests_seconds_sum{}`],
  ['rt and ops (HTTP) by uri', `http_server_requests_seconds_sum{uri=~".*/cs/configs|.*/ns/instance.*"}`],
  ['rt (HTTP) by uri and method', `http_server_requests_seconds_count{uri=~".*/cs/configs",method="POST"}`],
  ['ops, rt and ops (GRPC)', `grpc_server_requests_seconds_count{}`],
  ['rt (GRPC) by class', `grpc_server_requests_seconds_sum{requestClass=~".+"}`],
]

/** The panels that docs/operations.md says are empty ask for these. */
const EMPTY = [
  'jvm_memory_used_bytes',
  'jvm_threads_daemon_threads',
  'nacos_timer_seconds_sum',
  'nacos_exception_total',
]

describe('the metrics under the names of the Java server', () => {
  let page: string
  beforeAll(async () => {
    const dataId = unique('measured')
    await waypost.nacos.post('/cs/configs', { dataId, group: 'G', content: 'a' })
    await waypost.nacos.get('/cs/configs', { dataId, group: 'G' })
    await waypost.nacos.post('/ns/instance', { serviceName: dataId, ip: '10.0.0.1', port: 80 })
    const connected = await connect()
    await connected.ask('ConfigQueryRequest', { dataId, group: 'G' })
    await waypost.svc.get('/cs/configs', { dataId, group: 'G' })
    await waypost.svc.get('/cs/configs', { dataId, group: 'G', show: 'all' })
    page = (await client().get('/nacos/actuator/prometheus')).text
  })

  test.each(PANELS)('have data for %s', (_, selector) => {
    expect(matching(page, selector), selector).not.toEqual([])
  })

  test('have each series once', () => {
    const series = page.split('\n').flatMap((line) => /^(\w+(?:\{.*\})?) /.exec(line)?.[1] ?? [])
    expect(series.length).toBeGreaterThan(20)
    expect(new Set(series).size).toBe(series.length)
  })

  test('count what was done', () => {
    const value = (name: string) =>
      Number(/ (\d+)$/.exec(matching(page, `nacos_monitor{name="${name}"}`)[0]!)?.[1])
    expect(value('getConfig')).toBe(4)
    for (const name of ['configCount', 'serviceCount', 'ipCount', 'publish', 'longConnection'])
      expect(value(name), name).toBe(1)
    expect(matching(page, 'process_resident_memory_bytes{}')).toHaveLength(1)
  })

  test('leave out what the table of docs/operations.md names', () => {
    const docs = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
    const table = docs.split('### Boards made for Nacos')[1]!.split('### ')[0]!
    for (const name of EMPTY) {
      expect(matching(page, `${name}{}`)).toEqual([])
      expect(table).toContain(name.replace(/_(memory|threads|seconds)_\w+$/, '_$1_*'))
    }
  })
})

/** The lines of a page that a selector of PromQL matches: a name, and labels by `=` or `=~`. */
function matching(page: string, selector: string): string[] {
  const [name = '', labels = ''] = selector.slice(0, -1).split('{')
  const wanted = [...labels.matchAll(/(\w+)(=~?)"([^"]*)"/g)]
  return page.split('\n').filter((line) => {
    if (!(line.startsWith(`${name}{`) || line.startsWith(`${name} `))) return false
    return wanted.every(([, label, operator, value]) => {
      const sent = new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1] ?? ''
      return operator === '=' ? sent === value : new RegExp(`^(?:${value})$`).test(sent)
    })
  })
}
