/** A user who may write fills the memory with the dearest things: the servers live, answer, and start again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { Client, type Params } from '../interface/client.ts'
import { startCluster } from '../support/cluster.ts'
import { ETCD_HOOK_MS, etcdTools } from '../support/etcd.ts'
import { startWaypost } from '../support/waypost.ts'

const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' }
const SETTINGS = {
  'log-level': 'error',
  'max-form-body': '64MiB',
  'max-instance-metadata': '8KiB',
  // By default contents may take half of the machine.
  'max-content-memory': '512MiB',
}
const AT_ONCE = 16
const MOST_REQUESTS = 400_000
/** A thing that was not made. */
const UNUSED = MOST_REQUESTS + 10
const LIMIT_MS = 600_000
/** A start reads half a gigabyte of texts in a small heap. */
const START_MS = 120_000
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const wide = (start: string, length: number): string => `→${start}`.padEnd(length, 'x')

interface Sent {
  readonly method: string
  readonly path: string
  readonly form: Params
}

const configs = (form: Params): Sent => ({
  method: 'POST',
  path: '/cs/configs',
  form: { group: 'G', ...form },
})
const gray = (index: number, form: Params): Sent => ({
  method: 'POST',
  path: '/cs/configs/gray',
  form: {
    group: 'G',
    dataId: `g${Math.floor(index / 10)}`,
    grayName: `n${index % 10}`,
    grayType: 'percent',
    grayMatchRuleExp: '1',
    content: 'x',
    ...form,
  },
})
const instance = (index: number, form: Params): Sent => ({
  method: 'POST',
  path: '/ns/instance',
  form: {
    serviceName: 's',
    ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    port: 80,
    ephemeral: false,
    ...form,
  },
})
const ADDRESSES = Array.from({ length: 600 }, (_, index) => `10.0.${index >> 8}.${index & 255}`).join(',')

/** The dearest kinds of things, by what a request sends. */
const DEAREST: Readonly<Record<string, (index: number) => Sent>> = {
  'gray texts': (index) => gray(index, { content: wide(`${index}`, 10 * 2 ** 20 - 3) }),
  'rules of gray versions': (index) =>
    gray(index, { grayName: 'beta', grayType: 'beta', dataId: `r${index}`, grayMatchRuleExp: ADDRESSES }),
  schemas: (index) => configs({ dataId: `s${index}`, content: 'x', schema: wide(`${index}`, 32_768) }),
  'small items': (index) => configs({ dataId: `i${index}`, content: 'x' }),
  contents: (index) => configs({ dataId: `c${index}`, content: wide(`${index}`, 5 * 2 ** 20) }),
  'metadata of instances': (index) => instance(index, { metadata: `a=${wide(`${index}`, 8_000)}` }),
  'metadata of many keys': (index) =>
    instance(index, {
      metadata: Array.from({ length: 600 }, (_, key) => `k${index}_${key}=v`)
        .join(',')
        .slice(0, 8_000)
        .replace(/,[^,]*$/, ''),
    }),
  'metadata of services': (index) => ({
    method: 'POST',
    path: '/ns/service',
    form: { serviceName: `s${index}`, metadata: `a=${wide(`${index}`, 8_000)}` },
  }),
}

/** The store, or the reading of bodies, is behind: the request is sent again later, as another one. */
const BEHIND = /body-memory|store-unavailable/

/** Sends requests until one is refused for lack of memory; resolves with the indexes of the requests that were carried out. */
async function fill(client: Client, make: (index: number) => Sent): Promise<number[]> {
  const taken: number[] = []
  let next = 0
  let isFull = false
  const send = async (): Promise<void> => {
    while (!isFull && next < MOST_REQUESTS) {
      const index = next++
      const { method, path, form } = make(index)
      const { status, text } = await client.call(method, path, { form })
      if (status === 507) isFull = true
      else if (BEHIND.test(text)) await sleep(50)
      else {
        expect([status, text]).toEqual([200, expect.anything()])
        taken.push(index)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  expect(isFull).toBe(true)
  return taken
}

async function expectAlive(client: Client): Promise<void> {
  // A page may take a 64th of the heap, unless it is one item.
  const page = { pageNo: 1, pageSize: 1 }
  expect((await client.get('/ns/service/list', page)).status).toBe(200)
  const search = { search: 'blur', dataId: '*', group: '', ...page }
  expect((await client.get('/cs/configs', search)).status).toBe(200)
}

/** Something more is refused, and a deletion makes room. */
async function expectFull(client: Client, make: (index: number) => Sent, taken: number[]): Promise<void> {
  const { method, path, form } = make(UNUSED)
  expect((await client.call(method, path, { form })).status).toBe(507)
  for (const index of taken.slice(0, 3)) {
    const large = { content: undefined, schema: undefined, metadata: undefined, grayMatchRuleExp: undefined }
    const query = { ...make(index).form, ...large }
    expect((await client.call('DELETE', path, { query })).status).toBe(200)
  }
  expect((await client.call(method, path, { form })).status).toBe(200)
}

function clientOf({ url }: { readonly url: string }): Client {
  const client = new Client(`${url}/svc/v1`)
  closing.push(async () => client.close())
  return client
}

describe('with a heap of 256 MiB', () => {
  test.each(Object.entries(DEAREST))(
    '%s are refused before they end the server, which starts again',
    async (_name, make) => {
      const server = await startWaypost({ env: HEAP, settings: SETTINGS, startMs: START_MS })
      closing.push(() => server.stop())
      const client = clientOf(server)
      const taken = await fill(client, make)
      await expectAlive(client)
      client.close()
      const again = await server.restart()
      closing.push(() => again.stop())
      await expectAlive(clientOf(again))
      await expectFull(clientOf(again), make, taken)
    },
    LIMIT_MS,
  )
})

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''

describe.skipIf(etcdTools.skip)(`three servers with a heap of 256 MiB each${note}`, () => {
  test.each(['gray texts', 'schemas', 'metadata of instances'])(
    '%s are refused on all of them, and all live',
    async (name) => {
      const cluster = await startCluster({ env: HEAP, settings: SETTINGS })
      closing.push(() => cluster.stop())
      const clients = cluster.servers.map(clientOf)
      const make = DEAREST[name]!
      const taken = await fill(clients[0]!, make)
      for (const client of clients) await expectAlive(client)
      const { method, path, form } = make(UNUSED)
      for (const client of clients) expect((await client.call(method, path, { form })).status).toBe(507)
      await expectFull(clients[1]!, make, taken)
    },
    LIMIT_MS + ETCD_HOOK_MS,
  )
})
