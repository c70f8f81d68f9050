import { describe, expect, test } from 'vitest'
import { serverForThisFile, type Json, type Params, type Reply } from './client.ts'
import { configs, transferOn } from './transfer-support.ts'

const waypost = serverForThisFile()
const { contentOf, newNamespace, publish } = transferOn(waypost)

describe('clone', () => {
  async function idsOf(tenant: string): Promise<number[]> {
    const query = { search: 'accurate', dataId: '', group: '', pageNo: 1, pageSize: 10, tenant }
    const page = (await waypost.nacos.get(configs, query)).json()
    return page.pageItems.map((item: Json) => Number(item.id))
  }

  const clone = (selection: unknown, query: Params): Promise<Reply> =>
    waypost.nacos.call('POST', configs, {
      query: { clone: true, ...query },
      body: typeof selection === 'string' ? selection : JSON.stringify(selection),
      headers: { 'content-type': 'application/json' },
    })

  test('copies items with all their fields, under other names if these are given', async () => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    await publish(from, 'a', { type: 'json', desc: 'd', config_tags: 't' })
    await publish(from, 'b')
    const [a, b] = await idsOf(from)
    const reply = await clone(
      [
        { cfgId: a, dataId: 'a', group: 'G' },
        { cfgId: String(b), dataId: 'b2', group: 'H' },
      ],
      { tenant: to, policy: 'SKIP' },
    )
    expect(reply.json()).toMatchObject({
      code: 200,
      message: 'Clone Completed Successfully',
      data: { succCount: 2, skipCount: 0 },
    })
    const show = await waypost.nacos.get(configs, { show: 'all', tenant: to, dataId: 'a', group: 'G' })
    expect(show.json()).toMatchObject({ content: 'content of a', type: 'json', desc: 'd', configTags: 't' })
    expect(await contentOf(to, 'b2', 'H')).toBe('content of b')
    const again = await clone([{ cfgId: a }], { tenant: to, policy: 'ABORT' })
    expect(again.json().data).toMatchObject({ succCount: 0, failData: [{ dataId: 'a', group: 'G' }] })
    const dry = await clone([{ cfgId: b }], { tenant: to, dryRun: true })
    expect(dry.json()).toMatchObject({ message: expect.stringContaining('dry run'), data: { succCount: 1 } })
    expect(await contentOf(to, 'b')).toBeUndefined()
  })

  test('has the codes of 2.5.1 for its outcomes', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a')
    const [id] = await idsOf(tenant)
    expect((await clone([], { tenant })).json().code).toBe(100006)
    expect((await clone('', { tenant })).json().code).toBe(100006)
    expect((await clone([{ cfgId: id }], { tenant: 'no-such' })).json().code).toBe(100001)
    expect((await clone([{ cfgId: 987654321 }], { tenant })).json().code).toBe(100005)
    for (const wrong of [
      '{',
      '{}',
      '[1]',
      [{ cfgId: 'x' }],
      [{ cfgId: id, dataId: 'a b' }],
      [{ cfgId: id, group: 5 }],
      [{ cfgId: id }, { cfgId: id }],
    ])
      expect([wrong, (await clone(wrong, { tenant })).status]).toEqual([wrong, 400])
  })
})
