/** Gray versions come from a server of this program: all kinds, also those of an item without a formal version. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { runWaypost, startWaypost, type Waypost } from '../support/waypost.ts'

const PASSWORDS = { WAYPOST_FROM_PASSWORD: 'secret', WAYPOST_PASSWORD: 'secret' }

let old: Waypost
let target: ManagedWaypost
beforeAll(async () => {
  ;[old, target] = await Promise.all([startWaypost(), startManaged()])
})
afterAll(() => Promise.all([old?.stop(), target?.waypost.stop()]))

async function posted(path: string, form: Record<string, string>): Promise<void> {
  const response = await fetch(`${old.url}${path}`, { method: 'POST', body: new URLSearchParams(form) })
  expect(response.status, await response.text()).toBe(200)
}

const read = async (path: string): Promise<string> => (await fetch(`${old.url}${path}`)).text()

/** The gray versions of a server, with their rules. */
async function graysOf(get: (path: string) => Promise<string>): Promise<string[]> {
  const items = JSON.parse(await get('/svc/v1/cs/configs/gray?namespaceId=')) as {
    dataId: string
    versions: Record<string, unknown>[]
  }[]
  const versions = items.flatMap(({ dataId, versions: all }) =>
    all.map(({ grayName, grayType, grayMatchRuleExp, grayPriority, md5 }) =>
      [dataId, grayName, grayType, grayMatchRuleExp, grayPriority, md5].join(' '),
    ),
  )
  return versions.toSorted()
}

test('a move takes all gray versions, and parity compares them', async () => {
  for (const dataId of ['a', 'b'])
    await posted('/svc/v1/cs/configs', { dataId, group: 'G', content: 'formal' })
  const releases = [
    ['a', 'beta', 'beta', '10.0.0.7,10.0.0.8'],
    ['a', 'tag_blue', 'tag', 'blue'],
    ['b', 'lab', 'tagv2', 'env=test,qa'],
    ['b', 'part', 'percent', '5'],
    ['only', 'beta', 'beta', '10.0.0.9'],
  ] as const
  for (const [dataId, grayName, grayType, grayMatchRuleExp] of releases) {
    const release = { dataId, group: 'G', grayName, grayType, grayMatchRuleExp }
    await posted('/svc/v1/cs/configs/gray', { ...release, content: `${dataId} for ${grayName}` })
  }
  const quick = ['--rate', '10000', '--output', 'json']
  const move = ['move', '--from', old.url, '--to', target.waypost.url, '--to-username', 'nacos']
  const moved = await runWaypost([...move, ...quick], PASSWORDS)
  const { plan, apply } = JSON.parse(moved.stdout)
  expect(plan.counts).toMatchObject({ config: 2, gray: 5 })
  expect(apply).toMatchObject({ refused: 0 })
  expect(await graysOf((path) => target.ask('GET', path))).toEqual(await graysOf(read))
  const parity = ['parity', '--old', old.url, '--new', target.waypost.url, '--new-username', 'nacos']
  const compared = await runWaypost([...parity, ...quick, '--settle', '0', '--skip', 'user,role'], PASSWORDS)
  const { counts } = JSON.parse(compared.stdout) as { counts: object[] }
  expect(counts).toContainEqual({ kind: 'gray', old: 5, new: 5, differences: 0 })
})
