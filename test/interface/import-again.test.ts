import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { configLine, historyLine, PLAN_HEAD, planOf, sendPlan } from '../support/plan-lines.ts'

const AT_MS = Date.parse('2026-01-02T03:04:05Z')
const GROUP = 'G'

let managed: ManagedWaypost
let headers: Record<string, string>

beforeAll(async () => {
  managed = await startManaged()
  headers = { authorization: `Bearer ${await managed.tokenOf('nacos')}` }
})
afterAll(() => managed.waypost.stop())

/** Times of records and of the item, in seconds: the clocks of an old cluster may say anything. */
const ITEMS = fc.record({
  records: fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 6 }),
  modified: fc.integer({ min: -20, max: 20 }),
})

interface Line {
  readonly kind: string
  readonly dataId: string
  readonly oldId?: string
}

/** The records of an item in the order of their ids, and the item. */
function linesOf(
  { records, modified }: { records: readonly number[]; modified: number },
  index: number,
): Line[] {
  const dataId = `item-${index}`
  const history = records.map((at, place) =>
    historyLine(dataId, String(1_000 * (index + 1) + place), {
      content: `text ${Math.max(0, place - 1)}`,
      op: place === 0 ? 'I' : 'U',
      atMs: AT_MS + at * 1_000,
    }),
  )
  const times = { createdMs: null, modifiedMs: AT_MS + modified * 1_000 }
  const config = configLine(dataId, { ...times, content: `text ${records.length}` })
  return [...history, config]
}

async function importing(
  lines: readonly object[],
  username = 'nacos',
): Promise<{ taken: number; unchanged: number }> {
  const { status, json } = await sendPlan(
    managed,
    planOf(lines, { ...PLAN_HEAD, madeMs: AT_MS, endedMs: AT_MS }),
    { token: await managed.tokenOf(username) },
  )
  expect(status, JSON.stringify(json)).toBe(200)
  return json
}

/** The old ids of the records of an item, oldest first. */
async function oldIdsOf(dataId: string): Promise<string[]> {
  const query = new URLSearchParams({
    search: 'accurate',
    dataId,
    group: GROUP,
    pageNo: '1',
    pageSize: '100',
  })
  const response = await fetch(`${managed.waypost.url}/svc/v1/cs/history?${query}`, { headers })
  const { pageItems } = (await response.json()) as { pageItems: { importedId?: string }[] }
  return pageItems.map(({ importedId = 'own' }) => importedId).toReversed()
}

test.each([1_000, 3, 1])(
  'what has come is unchanged by another import, whatever the clocks said, in calls of %i lines',
  async (size) => {
    const items = fc.sample(ITEMS, { numRuns: 40, seed: size })
    const lines = items.flatMap((item, index) => linesOf(item, index + size * 100))
    const send = async (): Promise<{ taken: number; unchanged: number }[]> => {
      const answers = []
      for (let from = 0; from < lines.length; from += size)
        answers.push(await importing(lines.slice(from, from + size)))
      return answers
    }
    for (const { unchanged } of await send()) expect(unchanged).toBe(0)
    for (const { taken } of await send()) expect(taken).toBe(0)
    for (const index of items.keys()) {
      const dataId = `item-${index + size * 100}`
      const records = lines.filter((line) => line.dataId === dataId).map(({ oldId = '' }) => oldId)
      expect(await oldIdsOf(dataId)).toEqual(records)
    }
  },
)

test('the same history in several calls at once comes once', async () => {
  // A user has one upload at once.
  const administrators = ['nacos', 'second', 'third']
  for (const username of administrators.slice(1)) {
    await managed.ask('POST', '/svc/v1/auth/users', { username, password: 'secret' })
    await managed.ask('POST', '/svc/v1/auth/roles', { username, role: 'ROLE_ADMIN' })
  }
  const ids = Array.from({ length: 350 }, (_, at) => String(10_000_000 + at))
  const history = ids.map((oldId, at) =>
    historyLine('at-once', oldId, { content: `text ${at}`, op: at === 0 ? 'I' : 'U', atMs: AT_MS + at }),
  )
  const answers = await Promise.all(administrators.map((username) => importing(history, username)))
  expect(answers.reduce((sum, { taken }) => sum + taken, 0)).toBe(ids.length)
  const query = { search: 'accurate', dataId: 'at-once', group: GROUP, pageNo: '1', pageSize: '500' }
  const response = await fetch(`${managed.waypost.url}/svc/v1/cs/history?${new URLSearchParams(query)}`, {
    headers,
  })
  const { pageItems } = (await response.json()) as { pageItems: { importedId: string }[] }
  expect(pageItems.map(({ importedId }) => importedId).toReversed()).toEqual(ids)
})
