/** Every operation of the document against a small limit of memory: it is refused, and the server starts again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { goodValues, type Operation, operationsOf, type Parameter } from '../fuzz/operations.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { Client, type Params } from './client.ts'

const MIB = 2 ** 20
const LIMIT = 8 * MIB
/** An operation is asked this often before the memory is looked at again. */
const CHUNK = 128
/** An operation that stores something is refused long before. */
const MOST_CHUNKS = 200
const AT_ONCE = 64
/** The longest text of a parameter that says no length. */
const LONGEST = 8_000

type Size = 'largest' | 'smallest'

let server: Waypost
let client: Client
let operations: Operation[]

beforeAll(async () => {
  server = await startWaypost({ settings: { 'log-level': 'error', 'max-state-memory': LIMIT } })
  client = new Client(server.url)
  operations = (await operationsOf(server.url)).filter(stores)
  await client.put('/svc/v1/ns/operator/switches', { entry: 'healthCheckEnabled', value: 'false' })
}, 60_000)

afterAll(async () => {
  client.close()
  await server.stop()
})

/** Signing in must go on without memory: it is slow on purpose, and test/interface/sign-in*.test.ts are about it. */
function stores({ method, path }: Operation): boolean {
  return (method === 'POST' || method === 'PUT') && !/login|session|renew/.test(path)
}

/** Values that name a thing: each request makes another one. */
const NAMES: Readonly<Record<string, (index: number) => string>> = {
  dataId: (index) => `d${index}`,
  serviceName: (index) => `G@@s${index}`,
  ip: (index) => `127.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
  grayName: () => 'beta',
  grayType: () => 'beta',
  username: (index) => `user${index}`,
  role: (index) => `role${index}`,
  resource: (index) => `public:g${index}:config/*`,
  customNamespaceId: (index) => `space${index}`,
  namespaceId: () => '',
  tenant: () => '',
  content: (index) => `content ${index}`,
  grayMatchRuleExp: (index) => `127.0.${(index >> 8) & 255}.${index & 255}`,
}
/** Parameters whose value says what else is sent, or that ask for no change. */
const LEFT_OUT = ['import', 'clone', 'dryRun', 'casMd5', 'seenState', 'policy', 'checkPort', 'beat']
const LARGE: Readonly<Record<string, (index: number) => string>> = {
  content: (index) => `→${index}`.padEnd(200_000, 'x'),
  metadata: (index) => JSON.stringify({ a: `→${index}`.padEnd(2_000, 'x') }),
  grayMatchRuleExp: (index) =>
    Array.from({ length: 500 }, (_, each) => `127.${each >> 8}.${each & 255}.${index & 255}`).join(','),
}

function valueOf(parameter: Parameter, size: Size, index: number): string | undefined {
  const {
    name,
    type,
    enum: words,
    maxLength = LONGEST,
    pattern,
  } = parameter as Parameter & { pattern?: string }
  if (LEFT_OUT.includes(name)) return undefined
  const large = size === 'largest' ? LARGE[name] : undefined
  if (large !== undefined) return large(index)
  if (NAMES[name] !== undefined) return NAMES[name](index)
  const [good] = goodValues(parameter)
  const isFree = type === 'string' && words === undefined && pattern === undefined && good === 'fuzz'
  return isFree && size === 'largest' ? `→${index}`.padEnd(Math.min(maxLength, 32_768), 'x') : good
}

let asked = 0

async function ask({ method, path, parameters, takesForm }: Operation, size: Size): Promise<number> {
  const index = asked++
  const values: Params = {}
  for (const parameter of parameters) values[parameter.name] = valueOf(parameter, size, index)
  const { status } = await client.call(method, path, takesForm ? { form: values } : { query: values })
  return status
}

/** The memory of all data as the server counts it, on the heap and outside of it. */
async function memory(): Promise<number> {
  const { text } = await client.get('/metrics')
  const values = [...text.matchAll(/^waypost_memory_bytes\{[^}]*\} (\S+)/gm)].map(([, value]) =>
    Number(value),
  )
  expect(values.length).toBeGreaterThan(10)
  return values.reduce((sum, value) => sum + value, 0)
}

async function askOften(operation: Operation, size: Size, seen: Set<number>): Promise<void> {
  for (let round = 0; round < CHUNK; round += AT_ONCE)
    for (const status of await Promise.all(Array.from({ length: AT_ONCE }, () => ask(operation, size))))
      seen.add(status)
}

/** Asks until it is refused, or until the memory no longer grows: then it stores nothing, or the same again. */
async function exhaust(operation: Operation, size: Size, seen: Set<number>): Promise<void> {
  let before = await memory()
  for (let chunk = 0; chunk < MOST_CHUNKS; chunk++) {
    await askOften(operation, size, seen)
    const after = await memory()
    expect(after).toBeLessThan(1.02 * LIMIT)
    if (seen.has(507) || after <= before) return
    before = after
  }
  expect.unreachable('it makes the memory grow and is not refused')
}

describe('an operation that stores something', () => {
  const statuses = new Map<string, Set<number>>()

  test.each(['largest', 'smallest'] as const)(
    'is refused before the memory is used up, at its %s',
    async (size) => {
      expect(operations.length).toBeGreaterThan(30)
      for (const operation of operations) {
        const name = `${operation.method} ${operation.path}`
        const seen = statuses.get(name) ?? new Set()
        statuses.set(name, seen)
        await exhaust(operation, size, seen)
      }
    },
    900_000,
  )

  test('is carried out before, and refused with 507 after', () => {
    const carriedOut = [...statuses.values()].filter((seen) => seen.has(200) || seen.has(507))
    console.log([...statuses].map(([name, seen]) => `${name} ${[...seen].join()}`).join('\n'))
    expect(carriedOut.length).toBeGreaterThan(0.5 * operations.length)
    const refused = [...statuses].filter(([, seen]) => seen.has(507)).map(([name]) => name)
    expect(refused).toEqual(
      expect.arrayContaining([
        'POST /svc/v1/cs/configs',
        'POST /svc/v1/cs/configs/gray',
        'POST /svc/v1/ns/instance',
        'POST /svc/v1/ns/service',
      ]),
    )
  })

  test('leaves a server that warns, starts again with all of it, and takes deletions', async () => {
    const ready = await client.get('/readyz')
    expect([ready.status, ready.text]).toEqual([200, expect.stringContaining('"memory"')])
    const before = await memory()
    client.close()
    server = await server.restart()
    client = new Client(server.url)
    expect((await memory()) / before).toBeCloseTo(1, 1)
    const list = await client.get('/svc/v1/cs/configs', {
      search: 'blur',
      dataId: '*',
      group: '',
      pageNo: 1,
      pageSize: 500,
    })
    expect(list.status).toBe(200)
    const items = list.json().pageItems as { dataId: string; group: string }[]
    expect(items.length).toBeGreaterThan(5)
    for (const { dataId, group } of items)
      expect((await client.get('/svc/v1/cs/configs', { dataId, group })).status).toBe(200)
    for (const { dataId, group } of items)
      expect((await client.delete('/svc/v1/cs/configs', { dataId, group })).status).toBe(200)
    expect(await memory()).toBeLessThan(before)
  })
})
