/** One user asks for all places of a bounded resource: another user gets a place all the same. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'

let managed: ManagedWaypost
let greedy: string
let other: string

beforeAll(async () => {
  managed = await startManaged()
  const permissions = { 'big:*:*': 'r' } as const
  for (const username of ['greedy', 'other'])
    await managed.addUser({ username, password: 'secret', permissions })
  greedy = await managed.tokenOf('greedy')
  other = await managed.tokenOf('other')
  const content = 'a line of text\n'.repeat(2_000)
  const publish = (at: number) =>
    managed.ask('POST', '/svc/v1/cs/configs', { tenant: 'big', group: 'G', dataId: `item-${at}`, content })
  await Promise.all(Array.from({ length: 200 }, (_, at) => publish(at)))
})
afterAll(() => managed?.waypost.stop())

async function statusOf(token: string, path: string): Promise<number> {
  const response = await fetch(`${managed.waypost.url}/svc/v1${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await response.arrayBuffer()
  return response.status
}

/** The dearest request for each bounded resource. */
const RESOURCES = {
  searches: '/console/search?text=absent',
  'lists by content': '/console/configs?namespaceId=big&content=absent',
  comparisons: '/console/compare?from=big&to=big',
  overviews: '/console/overview',
  history: '/cs/history?search=accurate&tenant=big&group=G&dataId=item-1&pageNo=1&pageSize=500',
}
const DEAR = new Set(['searches', 'lists by content'])

test.each(Object.entries(RESOURCES))('%s', async (name, path) => {
  const ended: string[] = []
  const asked = async (who: string, token: string) => {
    const status = await statusOf(token, path)
    if (status === 200) ended.push(who)
    return status
  }
  const flood = Array.from({ length: 400 }, () => asked('greedy', greedy))
  const alone = await asked('other', other)
  expect(alone).toBe(200)
  const statuses = new Set(await Promise.all(flood))
  expect([...statuses].filter((status) => ![200, 429, 503].includes(status))).toEqual([])
  // Others may have ended before it came. Of dear requests, 128 were waiting then: they ended after it.
  if (DEAR.has(name)) expect(ended.length - ended.indexOf('other')).toBeGreaterThan(100)
  expect(ended.length).toBeGreaterThan(100)
})
