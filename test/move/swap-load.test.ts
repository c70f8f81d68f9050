/** Clients through a whole swap: another server is filled beside their own, and starts on its ports. */
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { connectGrpc } from '../support/grpc-client.ts'
import { startManaged } from '../support/administrator.ts'
import { isNightly } from '../support/nightly.ts'
import { startWaypost } from '../support/waypost.ts'
import { type LightClient, SwapRecord } from './light-clients.ts'
import { LightGrpcClient } from './light-grpc-client.ts'
import { LightHttpClient } from './light-http-client.ts'
import { applyPlan, importHead, readPlanOf } from './swap-steps.ts'

const CLIENTS = isNightly ? 200 : 40
const SERVICES = 10
const AHEAD_MS = 30_000
const DRIVE_LIMIT_MS = 300_000
/** Each of its records takes a call. */
const WITHOUT_HISTORY = ['--history', 'none'] as const
/** A port of no client. */
const DEAD_PORT = 9_999

const serviceOf = (index: number): string => `load-${index % SERVICES}`
const itemOf = (index: number): string => `value-${index % CLIENTS}`
const portOf = (index: number): number => 1_000 + index
const livePorts = (service: string): number[] =>
  Array.from({ length: CLIENTS }, (_, index) => index)
    .filter((index) => serviceOf(index) === service)
    .map(portOf)

function clientOf(index: number, record: SwapRecord, serverPort: number): LightClient {
  const own = { service: serviceOf(index), item: itemOf(index), port: portOf(index) }
  const spec = { index, ...own, listensTo: itemOf(index + 1), record }
  return index % 2 === 0 ? new LightHttpClient(spec, serverPort) : new LightGrpcClient(spec, serverPort)
}

interface Swapped {
  readonly record: SwapRecord
  /** When the new server answered on the old ports. */
  readonly answersMs: number
  /** When the old server was asked to stop. */
  readonly stopMs: number
  /** How many lists there were before. */
  readonly listsBefore: ReadonlyMap<string, number>
  /** The state of the new server at the end, by item. */
  readonly contents: ReadonlyMap<string, number>
}

async function swap(): Promise<Swapped> {
  const old = await startManaged({ settings: { auth: 'report' } })
  const next = await startManaged({ settings: { auth: 'report' } })
  const { port } = old.waypost
  let server = next.waypost
  const record = new SwapRecord()
  const clients = Array.from({ length: CLIENTS }, (_, index) => clientOf(index, record, port))
  try {
    await importHead(old, Date.now() + AHEAD_MS)
    for (let begin = 0; begin < CLIENTS; begin += 20)
      await Promise.all(clients.slice(begin, begin + 20).map((client) => client.start()))
    await applyPlan(await readPlanOf(old.waypost.url, ...WITHOUT_HISTORY), next.waypost.url)
    await allHear(record)
    // Nobody publishes from the last reading until the old server has stopped: that would be lost with it.
    record.isFrozen = true
    await allHear(record)
    for (let index = 0; index < SERVICES; index++) await registerDead(old.waypost.url, serviceOf(index))
    const listsBefore = new Map([...record.lists].map(([service, lists]) => [service, lists.length]))
    const last = await readPlanOf(old.waypost.url, '--ephemeral', ...WITHOUT_HISTORY)
    const stopMs = Date.now()
    await old.waypost.stop()
    record.isFrozen = false
    await applyPlan(last, next.waypost.url)
    const { dataDir } = next.waypost
    await next.waypost.stop()
    server = await startWaypost({ port, dataDir, settings: { auth: 'report' } })
    await (await connectGrpc({ port })).close()
    const answersMs = Date.now()
    await vi.waitFor(async () => {
      const listed = await Promise.all(services().map((service) => portsAt(server.url, service)))
      expect(listed).toEqual(services().map(livePorts))
    }, LONG)
    record.isFrozen = true
    await allHear(record)
    const contents = await contentsAt(server.url)
    return { record, answersMs, stopMs, listsBefore, contents }
  } finally {
    await Promise.all(clients.map((client) => client.stop()))
    await Promise.all([old.waypost.stop(), server.stop()])
  }
}

const LONG = { timeout: 120_000, interval: 500 }
const services = (): string[] => Array.from({ length: SERVICES }, (_, index) => serviceOf(index))

/** Waits until each listener has heard of what was acknowledged last. */
async function allHear({ acknowledged, heard }: SwapRecord): Promise<void> {
  const late = (): string[] =>
    [...acknowledged].filter(([item, last]) => (heard.get(item)?.at(-1) ?? 0) < last).map(([item]) => item)
  await vi.waitFor(() => expect(late()).toEqual([]), LONG)
}

async function registerDead(url: string, serviceName: string): Promise<void> {
  const body = new URLSearchParams({ serviceName, ip: '10.9.0.2', port: String(DEAD_PORT) })
  expect((await fetch(`${url}/nacos/v1/ns/instance`, { method: 'POST', body })).status).toBe(200)
}

async function portsAt(url: string, serviceName: string): Promise<number[]> {
  const response = await fetch(`${url}/nacos/v1/ns/instance/list?serviceName=${serviceName}`)
  const { hosts } = (await response.json()) as { hosts: { port: number }[] }
  return hosts.map((one) => one.port).sort((a, b) => a - b)
}

async function contentsAt(url: string): Promise<Map<string, number>> {
  const contents = new Map<string, number>()
  for (let index = 0; index < CLIENTS; index++) {
    const item = itemOf(index)
    const response = await fetch(`${url}/nacos/v1/cs/configs?dataId=${item}&group=G`)
    contents.set(item, Number(await response.text()))
  }
  return contents
}

describe(`${CLIENTS} clients, when another server takes over`, () => {
  let swapped: Swapped
  beforeAll(async () => void (swapped = await swap()), DRIVE_LIMIT_MS)

  test('no list lacks a live instance', () => {
    const { record, listsBefore } = swapped
    for (const [service, lists] of record.lists) {
      const live = livePorts(service)
      const since = lists.slice(listsBefore.get(service))
      expect(since.length).toBeGreaterThan(0)
      const lacking = since.map((ports) => live.filter((port) => !ports.includes(port)))
      expect(lacking.filter((ports) => ports.length > 0)).toEqual([])
    }
  })

  test('no value is missed, and none comes back', () => {
    const { record, contents } = swapped
    expect(contents).toEqual(record.acknowledged)
    for (const heard of record.heard.values()) expect(heard).toEqual(heard.toSorted((a, b) => a - b))
    // Everybody has published on the new server too.
    expect(Math.min(...record.acknowledged.values())).toBeGreaterThan(1)
  })

  test('calls fail only while no server answers', () => {
    const { record, answersMs, stopMs } = swapped
    const outside = record.failures.filter(({ beganMs, endedMs }) => endedMs < stopMs || beganMs >= answersMs)
    expect(outside).toEqual([])
    const failed = new Map<string, number>()
    for (const { call } of record.failures) failed.set(call, (failed.get(call) ?? 0) + 1)
    const shown = { stoppedMs: answersMs - stopMs, failed: [...failed], done: [...record.counts] }
    console.log(`a swap under load: ${JSON.stringify(shown)}`)
  })
})
