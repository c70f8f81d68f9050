/** Imports of archives that people have unpacked and packed again, under both paths. */
import { describe, expect, test } from 'vitest'
import { described, KOREAN, REFUSED, REPACKED, WITHOUT_ITEMS } from '../support/repacked.ts'
import { DIALECTS, type Dialect, type Params, type Reply, serverForThisFile } from './client.ts'
import { configs, filesIn, raw, transferOn } from './transfer-support.ts'

const waypost = serverForThisFile()
const { contentOf, newNamespace, publish } = transferOn(waypost)

function upload(dialect: Dialect, zip: Buffer, query: Params): Promise<Reply> {
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f.zip"\r\n\r\n'
  const body = Buffer.concat([Buffer.from(head), zip, Buffer.from('\r\n--b--\r\n')])
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  return waypost[dialect].call('POST', configs, { query: { import: true, ...query }, body, headers })
}

async function namesIn(tenant: string): Promise<string[]> {
  const query = { search: 'blur', tenant, dataId: '', group: '', pageNo: 1, pageSize: 100 }
  const { pageItems } = (await waypost.svc.get(configs, query)).json()
  return (pageItems as { group: string; dataId: string }[]).map(({ group, dataId }) => `${group}/${dataId}`)
}

describe.each(DIALECTS)('/%s: an import of', (dialect) => {
  test.each(REPACKED)('$name', async ({ files, items, leftOut = [], readAs = [], folder }) => {
    const namespace = await newNamespace()
    const zip = await raw(files)
    for (const dryRun of [true, false]) {
      const reply = await upload(dialect, zip, { namespace, dryRun, policy: 'OVERWRITE' })
      const outcome = dialect === 'svc' ? reply.json() : reply.json().data
      expect(outcome, reply.text).toMatchObject({
        succCount: Object.keys(items).length,
        unrecognizedCount: leftOut.length,
      })
      const names = (outcome.unrecognizedData as { itemName: string }[]).map(({ itemName }) => itemName)
      expect(names).toEqual(leftOut)
      expect(outcome.folder || undefined).toBe(folder)
      const read = (outcome.readAsData ?? []) as { group: string; dataId: string }[]
      expect(read.map(({ group, dataId }) => `${group}/${dataId}`)).toEqual(readAs)
    }
    expect((await namesIn(namespace)).toSorted()).toEqual(Object.keys(items).toSorted())
    for (const [name, content] of Object.entries(items)) {
      const [group, dataId] = name.split('/')
      expect(await contentOf(namespace, dataId!, group)).toBe(content)
    }
  })

  test.each(WITHOUT_ITEMS)('$name publishes nothing, and says why', async ({ files, names }) => {
    const namespace = await newNamespace()
    const reply = await upload(dialect, await raw(files), { namespace })
    const { status, message, detail, code, type } = { status: reply.status, ...reply.json() }
    if (dialect === 'svc') expect([status, type]).toEqual([400, expect.stringMatching(/:bad-archive$/)])
    else expect([reply.status, code]).toEqual([200, 100005])
    expect(detail ?? message).toContain(names)
    expect(detail ?? message).toContain('Expected is GROUP/DATA_ID')
    expect(await namesIn(namespace)).toEqual([])
  })
})

describe.each(DIALECTS)('/%s: nothing is imported of', (dialect) => {
  test.each(REFUSED)('$name', async ({ files, words }) => {
    const namespace = await newNamespace()
    const reply = await upload(dialect, await raw(files), { namespace })
    const { detail, data } = dialect === 'svc' || reply.status === 200 ? reply.json() : { detail: reply.text }
    for (const word of words) expect(detail ?? data.reason).toContain(word)
    expect(await namesIn(namespace)).toEqual([])
  })
})

test('/svc: an import of an empty file says that it is empty', async () => {
  const reply = await upload('svc', Buffer.alloc(0), { namespace: await newNamespace() })
  expect(reply.json().detail).toContain('There is no file, or an empty one')
})

describe.each(DIALECTS)('/%s: an export', (dialect) => {
  const ODD = [
    '../.profile',
    'G/..',
    'G/.',
    './x',
    'CON/nul.txt',
    'G/com1',
    'G/end.',
    'G/a:b',
    'G/a..b',
    '..G/.h',
    '.metadata.yml/x',
    'G/.meta.yml',
    'G/desktop.ini',
    `G/${KOREAN.decomposed}.yml`,
    `${KOREAN.decomposed}/${KOREAN.composed}`,
  ]

  test.each(['export', 'exportV2'])(
    '%s has no entry that leaves its folder, and comes back',
    async (layout) => {
      const [tenant, to] = [await newNamespace(), await newNamespace()]
      for (const name of ODD) await publish(tenant, name.split('/')[1]!, { group: name.split('/')[0]! })
      await publish(tenant, 'shop', { group: 'waypost.sets', content: '{"items":{}}' })
      const reply = await waypost[dialect].get(configs, { [layout]: true, tenant })
      const entries = Object.keys(await filesIn(reply.bytes)).filter(
        (name) => !/^\.meta(?:data)?\.yml$/.test(name),
      )
      expect(entries).toHaveLength(ODD.length)
      for (const part of entries.flatMap((name) => name.split('/'))) {
        expect(part).not.toMatch(/^\.\.?$|\.$|^(?:con|nul|com1)(?:\.|$)/i)
      }
      expect((await upload(dialect, reply.bytes, { namespace: to })).status).toBe(200)
      expect((await namesIn(to)).toSorted()).toEqual(ODD.toSorted())
    },
  )
})

describe.each(DIALECTS)('/%s: an import of an unknown type names it, and', (dialect) => {
  test.each([
    ['a new item has the type of its name', 'new.yml', undefined, 'yaml'],
    ['one without a telling name is text', 'new', undefined, 'text'],
    ['an item that exists keeps its type', 'old.yml', 'json', 'json'],
  ])('%s', async (...[, dataId, before, after]) => {
    const namespace = await newNamespace()
    if (before !== undefined) await publish(namespace, dataId, { type: before })
    const metadata = described(`G/${dataId}`, 'G/known').replace('yaml', 'markdown')
    const zip = await raw({ [`G/${dataId}`]: 'a: 1', 'G/known': 'a: 1', '.metadata.yml': metadata })
    for (const dryRun of [true, false]) {
      const reply = await upload(dialect, zip, { namespace, dryRun, policy: 'OVERWRITE' })
      const outcome = dialect === 'svc' ? reply.json() : reply.json().data
      expect(outcome, reply.text).toMatchObject({
        succCount: 2,
        unrecognizedCount: 0,
        unknownTypeData: [{ dataId, group: 'G', type: 'markdown' }],
      })
    }
    const show = { show: 'all', tenant: namespace, dataId, group: 'G' }
    expect((await waypost.svc.get(configs, show)).json()).toMatchObject({ type: after, content: 'a: 1' })
  })

  test('a long one is cut', async () => {
    const metadata = described('G/a').replace('yaml', 'm'.repeat(5000))
    const zip = await raw({ 'G/a': 'a: 1', '.metadata.yml': metadata })
    const reply = await upload(dialect, zip, { namespace: await newNamespace() })
    const { unknownTypeData } = dialect === 'svc' ? reply.json() : reply.json().data
    expect(unknownTypeData).toEqual([{ dataId: 'a', group: 'G', type: 'm'.repeat(64) }])
  })
})
