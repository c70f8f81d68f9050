/** A user who may write fills the memory with the dearest things: the server lives, answers, and starts again. */
import { afterEach, describe, expect, test } from 'vitest'
import { Client, type Params } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' }
const AT_ONCE = 16
const MOST_REQUESTS = 60_000
let server: Waypost
let client: Client

afterEach(async () => {
  client.close()
  await server.stop()
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

/** Sends requests until one is refused for lack of memory; resolves with how many were carried out. */
async function fill(make: (index: number) => Sent): Promise<number> {
  let next = 0
  let taken = 0
  let isFull = false
  const send = async (): Promise<void> => {
    while (!isFull && next < MOST_REQUESTS) {
      const { method, path, form } = make(next++)
      const { status, text } = await client.call(method, path, { form })
      if (status === 507) isFull = true
      // As many bodies as may be read at once are being read.
      else if (status === 503) next--
      else {
        expect([status, text]).toEqual([200, expect.anything()])
        taken++
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  expect(isFull).toBe(true)
  return taken
}

async function expectAlive(): Promise<void> {
  expect((await client.get('/ns/service/list', { pageNo: 1, pageSize: 10 })).status).toBe(200)
  expect(
    (await client.get('/cs/configs', { search: 'blur', dataId: '*', group: '', pageNo: 1, pageSize: 5 }))
      .status,
  ).toBe(200)
}

describe('with a heap of 256 MiB', () => {
  test.each(Object.entries(DEAREST))(
    '%s are refused before they end the server, which starts again',
    async (_name, make) => {
      const settings = { 'log-level': 'error', 'max-form-body': '64MiB', 'max-instance-metadata': '8KiB' }
      server = await startWaypost({ env: HEAP, settings })
      client = new Client(`${server.url}/svc/v1`)
      const taken = await fill(make)
      await expectAlive()
      client.close()
      server = await server.restart()
      client = new Client(`${server.url}/svc/v1`)
      await expectAlive()
      const { method, path, form } = make(taken + 1_000)
      expect((await client.call(method, path, { form })).status).toBe(507)
      // A deletion makes room.
      const first = make(0)
      expect(
        (
          await client.call('DELETE', first.path, {
            query: {
              ...first.form,
              content: undefined,
              schema: undefined,
              metadata: undefined,
              grayMatchRuleExp: undefined,
            },
          })
        ).status,
      ).toBe(200)
    },
    1_200_000,
  )
})
