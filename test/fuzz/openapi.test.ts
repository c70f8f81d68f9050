import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientsOf, Client, type Reply } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { foundBy, SEED, secondsOf } from './found.ts'
import { edgeValues, goodValues, operationsOf, type Operation, type Parameter } from './operations.ts'
import { expectUnharmed } from './unharmed.ts'

/**
 * Asks every operation of the OpenAPI document with random good, extreme and wrong parameters, in the query and as a
 * form.
 */
const SECONDS = secondsOf(10)
/** How often an operation is asked before the next one. */
const RUNS = 5
const FOUND = foundBy<{ readonly operation: string; readonly sent: Sent }>('operations')

let server: Waypost
let client: Client
let operations: Operation[]

beforeAll(async () => {
  server = await startWaypost({ settings: { 'log-level': 'error' } })
  client = new Client(server.url)
  operations = await operationsOf(server.url)
  // Instances that are registered here at random must not be probed.
  const { svc } = clientsOf(server.url)
  await svc.put('/ns/operator/switches', { entry: 'healthCheckEnabled', value: 'false', debug: true })
  svc.close()
})

afterAll(async () => {
  client.close()
  await server.stop()
})

interface Sent {
  readonly query: readonly (readonly [string, string])[]
  readonly form: readonly (readonly [string, string])[]
  readonly headers: readonly (readonly [string, string])[]
}

describe(`the operations of the document (seed ${SEED})`, () => {
  test(
    'never answer a 5xx, and refuse with problem details',
    async () => {
      expect(operations.length).toBeGreaterThan(60)
      const statuses = new Map<number, number>()
      const untilMs = performance.now() + SECONDS * 1_000
      let passes = 0
      for (; passes === 0 || performance.now() < untilMs; passes++)
        for (const operation of operations) {
          const name = `${operation.method} ${operation.path}`
          const property = fc.asyncProperty(requestOf(operation), async (sent) => {
            const reply = await ask(operation, sent)
            statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
            check(operation, reply)
          })
          const examples = FOUND.filter((found) => found.operation === name).map(({ sent }): [Sent] => [sent])
          await fc.assert(property, { numRuns: RUNS, seed: SEED + passes, endOnFailure: true, examples })
        }
      // All of it would prove little if nothing got through.
      expect(statuses.get(200)).toBeGreaterThan((operations.length * RUNS * passes) / 5)
      expect(statuses.get(400)).toBeGreaterThan((operations.length * RUNS * passes) / 5)
      await expectUnharmed(server)
    },
    SECONDS * 1_000 + 300_000,
  )
})

function requestOf(operation: Operation): fc.Arbitrary<Sent> {
  const pairs = fc
    .tuple(...operation.parameters.map(sendings))
    .map((each) => each.flat())
    .chain((all) => fc.shuffledSubarray(all, { minLength: Math.floor(all.length / 2) }))
  const headers = fc.tuple(
    ...operation.headers.map((name) =>
      fc
        .constantFrom('', '1000', '-1', 'x', '99999999999999999999', 'true')
        .map((value) => [name, value] as const),
    ),
  )
  const share = operation.takesForm ? fc.constantFrom(0, 0.5, 1) : fc.constant(1)
  return fc.tuple(pairs, headers, share).map(([sent, named, inQuery]) => {
    const cut = Math.round(sent.length * inQuery)
    return { query: sent.slice(0, cut), form: sent.slice(cut), headers: named }
  })
}

/** A parameter once, or sometimes twice; mostly with a good value. */
function sendings(parameter: Parameter): fc.Arbitrary<[string, string][]> {
  const value = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...goodValues(parameter)) },
    { weight: 1, arbitrary: fc.constantFrom(...edgeValues(parameter)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  )
  return fc
    .array(value, { minLength: 1, maxLength: 2 })
    .map((values) => values.map((one) => [parameter.name, one]))
}

function ask(operation: Operation, { query, form, headers }: Sent): Promise<Reply> {
  const quick = operation.headers.length > 0 ? { 'long-pulling-timeout-no-hangup': 'true' } : {}
  const named = Object.fromEntries(headers.filter(([, value]) => value !== ''))
  return client.call(operation.method, operation.path, {
    query: encoded(query),
    headers: {
      ...named,
      ...quick,
      ...(form.length > 0 && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body: encoded(form),
  })
}

function encoded(pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(Buffer.from(value).toString())}`,
    )
    .join('&')
}

function check(operation: Operation, reply: Reply): void {
  const summary = `${operation.method} ${operation.path} gave ${reply.status}: ${reply.text.slice(0, 300)}`
  expect(reply.status, summary).toBeLessThan(500)
  expect(reply.headers['x-content-type-options'], summary).toBe('nosniff')
  // No cache may keep what is for one caller.
  expect(reply.headers['cache-control'], summary).toMatch(/no-store/)
  // The end of a session takes the cookie back.
  expect(reply.headers['set-cookie']?.join() ?? '', summary).toMatch(/^$|^waypost-session=;/)
  if (reply.status < 400 || operation.path.startsWith('/nacos')) return
  expect(reply.headers['content-type'], summary).toBe('application/problem+json')
  expect(reply.json(), summary).toMatchObject({
    type: expect.stringMatching(/^urn:waypost:problem:[a-z-]+$/),
    status: reply.status,
    title: expect.any(String),
    detail: expect.any(String),
  })
}
