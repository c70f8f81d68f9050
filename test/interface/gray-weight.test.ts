/** Gray versions with large texts: no single request may make the server write all these texts at once. */
import { expect, test } from 'vitest'
import { type Params, type Reply, serverForThisFile, unique } from './client.ts'

const waypost = serverForThisFile()
const TEN_MIB = 10 * 1024 * 1024

test('are told one by one where all of them are too much for one answer', { timeout: 120_000 }, async () => {
  const item: Params = { dataId: unique('heavy'), group: 'G' }
  const read = (named: Params): Promise<Reply> =>
    waypost.nacos.call('GET', '/../v3/admin/cs/config/gray', {
      query: { dataId: item['dataId'], groupName: 'G', ...named },
    })
  const publish = (index: number): Promise<Reply> =>
    waypost.svc.post('/cs/configs/gray', {
      ...item,
      content: String(index).repeat(TEN_MIB),
      grayName: `v${index}`,
      grayType: 'percent',
      grayMatchRuleExp: '5',
    })
  for (let index = 0; index < 6; index++) expect((await publish(index)).text).toBe('true')
  expect((await read({})).json().data).toHaveLength(6)

  expect((await publish(6)).text).toBe('true')
  const all = await read({})
  expect(all.status).toBe(413)
  expect(all.text).toContain('grayName')
  expect((await read({ grayName: 'v6' })).json().data.content).toHaveLength(TEN_MIB)
})
