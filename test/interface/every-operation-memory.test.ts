/** Every operation of the document against a small limit of memory: it is refused, and the server starts again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { goodValues, type Operation, operationsOf, type Parameter } from '../fuzz/operations.ts'
import { startManaged } from '../support/administrator.ts'
import type { Waypost } from '../support/waypost.ts'
import { Client, type Params } from './client.ts'

const MIB = 2 ** 20
const LIMIT = 8 * MIB
/** So many things of each kind are there before, for operations that change them. */
const THERE = 8
/** An operation is asked this often, and then the memory is looked at: where it has not grown, nothing is stored that grows. */
const FIRST_CHUNK = 32
const FIRST_CHUNK_OF_SLOW = 4
const CHUNK = 256
/** An operation that stores something is refused long before. */
const MOST_CHUNKS = 100
const AT_ONCE = 64
/** The longest text of a parameter that says no length. */
const LONGEST = 8_000

type Size = 'largest' | 'smallest'

/**
 * Operations of accounts are left out: signing in must work without memory, and is slow on purpose
 * (test/interface/sign-in*.test.ts). So are keys, which the server itself bounds.
 */
function stores({ method, path }: Operation): boolean {
  return (method === 'POST' || method === 'PUT') && !/login|session|renew|users\/admin|rotate/.test(path)
}

/** Passwords cost time on purpose. */
function isSlow({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => /password/i.test(name))
}

/** Users, roles and permissions are small: namespaces fill their share of the memory before. */
function rankOf(operation: Operation): number {
  return isSlow(operation) ? 2 : operation.path.includes('/auth/') ? 1 : 0
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
  checkPort: () => '80',
  grayMatchRuleExp: (index) => `127.0.${(index >> 8) & 255}.${index & 255}`,
}
/** Who gets a role, and the role that gets a permission: both exist. */
const OF_PATHS: Readonly<Record<string, Params>> = {
  roles: { username: 'user0' },
  permissions: { role: 'role0' },
}
/** Parameters whose value says what else is sent, or that ask for no change. */
const LEFT_OUT = [
  'import',
  'namespace',
  'clone',
  'dryRun',
  'casMd5',
  'seenState',
  'policy',
  'beat',
  'oldPassword',
  // Gray versions have operations of their own.
  'tag',
]
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

describe.each(['largest', 'smallest'] as const)('an operation that stores something, at its %s', (size) => {
  let server: Waypost
  let client: Client
  let operations: Operation[]
  let headers: Record<string, string>
  let asked = THERE
  const statuses = new Map<string, Set<number>>()

  beforeAll(async () => {
    const managed = await startManaged({ settings: { 'max-state-memory': LIMIT } })
    server = managed.waypost
    client = new Client(server.url)
    headers = { authorization: `Bearer ${await managed.tokenOf('nacos')}` }
    const all = (await operationsOf(server.url)).filter(stores)
    operations = all.toSorted((one, other) => rankOf(one) - rankOf(other))
    await client.put('/svc/v1/ns/operator/switches', { entry: 'healthCheckEnabled', value: 'false' }, headers)
  })

  afterAll(async () => {
    client.close()
    await server.stop()
  })

  async function ask(operation: Operation, as: Size, index: number): Promise<number> {
    const { method, path, parameters, takesForm } = operation
    const values: Params = {}
    for (const parameter of parameters) values[parameter.name] = valueOf(parameter, as, index)
    Object.assign(values, OF_PATHS[path.split('/').at(-1)!])
    const sent = takesForm ? { form: values } : { query: values }
    return (await client.call(method, path, { ...sent, headers })).status
  }

  /** The memory of each kind of data as the server counts it, on the heap and outside of it. */
  async function kinds(): Promise<number[]> {
    const { text } = await client.get('/metrics', {}, headers)
    const found = [...text.matchAll(/^waypost_memory_bytes\{[^}]*\} (\S+)/gm)]
    expect(found.length).toBeGreaterThan(10)
    return found.map(([, value]) => Number(value))
  }

  const sumOf = (bytes: readonly number[]): number => bytes.reduce((sum, one) => sum + one, 0)
  const memory = async (): Promise<number> => sumOf(await kinds())

  /** Asks as often, unless it is refused before. */
  async function askOften(operation: Operation, most: number): Promise<void> {
    const seen = statuses.get(nameOf(operation))!
    let left = most
    const askOn = async (): Promise<void> => {
      while (left-- > 0 && !seen.has(507)) {
        const index = asked++
        seen.add(await ask(operation, size, operation.method === 'PUT' ? index % THERE : index))
      }
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, most) }, askOn))
  }

  /** Asks until it is refused, or until the memory no longer grows: then it stores nothing, or the same again. */
  async function exhaust(operation: Operation): Promise<void> {
    await askOften(operation, 1)
    const first = isSlow(operation) ? FIRST_CHUNK_OF_SLOW : FIRST_CHUNK
    for (let chunk = 0; chunk < MOST_CHUNKS; chunk++) {
      const before = await kinds()
      await askOften(operation, chunk === 0 ? first : CHUNK)
      const after = await kinds()
      expect(sumOf(after)).toBeLessThan(1.02 * LIMIT)
      // The server may remove data of other kinds meanwhile.
      const grows = after.some((bytes, kind) => bytes > before[kind]!)
      if (statuses.get(nameOf(operation))!.has(507) || !grows) return
    }
    expect.unreachable(`${nameOf(operation)} makes the memory grow and is not refused`)
  }

  test('is carried out while there is memory', async () => {
    expect(operations.length).toBeGreaterThan(30)
    // Roles are for users.
    for (const operation of [...operations.filter(isSlow), ...operations.filter((one) => !isSlow(one))]) {
      const there = isSlow(operation) ? [0] : Array.from({ length: THERE }, (_, index) => index)
      const seen = await Promise.all(there.map((index) => ask(operation, 'smallest', index)))
      statuses.set(nameOf(operation), new Set(seen))
    }
    const carriedOut = [...statuses.values()].filter((seen) => seen.has(200))
    expect(carriedOut.length).toBeGreaterThan(0.65 * operations.length)
  })

  test('is refused before the memory is used up', async () => {
    for (const operation of operations) await exhaust(operation)
    const refused = [...statuses].filter(([, seen]) => seen.has(507)).map(([name]) => name)
    expect(refused).toEqual(
      expect.arrayContaining([
        'POST /svc/v1/cs/configs',
        'POST /svc/v1/cs/configs/gray',
        'POST /svc/v1/ns/instance',
        'POST /svc/v1/ns/service',
        'POST /svc/v1/auth/users',
        'POST /svc/v1/console/namespaces',
      ]),
    )
  }, 300_000)

  test('leaves a server that warns, starts again with all of it, and takes deletions', async () => {
    const ready = await client.get('/readyz', {}, headers)
    expect([ready.status, ready.text]).toEqual([200, expect.stringContaining('"memory"')])
    const before = await memory()
    client.close()
    server = await server.restart()
    client = new Client(server.url)
    expect((await memory()) / before).toBeCloseTo(1, 1)
    const list = await client.get(
      '/svc/v1/cs/configs',
      {
        search: 'blur',
        dataId: '*',
        group: '',
        pageNo: 1,
        pageSize: 50,
      },
      headers,
    )
    expect(list.status).toBe(200)
    const items = list.json().pageItems as { dataId: string; group: string }[]
    expect(items.length).toBeGreaterThan(5)
    for (const { dataId, group } of items)
      expect((await client.get('/svc/v1/cs/configs', { dataId, group }, headers)).status).toBe(200)
    for (const { dataId, group } of items)
      expect((await client.delete('/svc/v1/cs/configs', { dataId, group }, headers)).status).toBe(200)
    expect(await memory()).toBeLessThan(before)
  })
})

function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`
}
