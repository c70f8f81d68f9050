/** However many requests read the store, only a few of them hold what they have read. */
import { expect, test } from 'vitest'
import { OPEN } from '../../src/operations/authorisation.ts'
import { compileReader } from '../../src/protocols/parameters/parameter-reader.ts'
import type { Route } from '../../src/protocols/http/routing/route.ts'
import { CALLER, nameOf, neededBy, routesFor, sample } from './route-table.ts'

const REQUESTS = 50
/** The places of one caller. */
const MOST_AT_ONCE = 8

const ends: (() => void)[] = []
/** A store whose reads end when the test says so. */
const store = {
  reads: () =>
    new Proxy(
      {},
      {
        get: () => () =>
          new Promise((_, reject) => void ends.push(() => reject(new Error('the store is gone')))),
      },
    ),
}
const routes = routesFor(OPEN, { store }).filter(({ method }) => method === 'GET')

/** Sends many requests, and gives how many of them have read. */
async function readersOf(route: Route): Promise<number> {
  const read = compileReader(route.params, route.rules)
  const params = read(new Map(Object.entries(sample(route, neededBy(route)))))
  for (let count = 0; count < REQUESTS; count++) {
    const hold = (): never => {
      throw new Error('the request was held')
    }
    const handled = (async () => route.handle({ params, caller: CALLER, target: undefined, hold }))()
    handled.catch(() => 'another part is needed')
  }
  await settled()
  const count = ends.length
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end()
    await settled()
  }
  return count
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('of each operation that reads', async () => {
  const readers: string[] = []
  for (const route of routes) {
    const count = await readersOf(route)
    if (count === 0) continue
    readers.push(nameOf(route))
    expect([nameOf(route), count <= MOST_AT_ONCE]).toEqual([nameOf(route), true])
  }
  expect(readers).toEqual(
    expect.arrayContaining([
      'GET /svc/v1/cs/history',
      'GET /svc/v1/console/config/version',
      'GET /svc/v1/console/config/versions',
      'GET /svc/v1/audit',
      'GET /nacos/v1/cs/history/previous',
    ]),
  )
})
