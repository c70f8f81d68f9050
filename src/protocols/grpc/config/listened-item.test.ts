import { describe, expect, test } from 'vitest'
import { listenedItems, namesOf } from './listened-item.ts'

describe('a listened item', () => {
  test.each([
    [{}, {}],
    [{ tenant: null }, {}],
    [{ tenant: '' }, { tenant: '' }],
    [{ tenant: 'public' }, { tenant: 'public' }],
  ])('with the tenant %j is of the default namespace, and is named as it was', (sent, named) => {
    const [item] = listenedItems([{ dataId: 'a', group: 'G', md5: null, ...sent }], 10)
    expect(item).toMatchObject({ key: { namespaceId: 'public', group: 'G', dataId: 'a' }, md5: '' })
    expect(namesOf(item!)).toEqual({ dataId: 'a', group: 'G', ...named })
  })

  test.each([[{}], [{ tenant: '' }], [{ tenant: 'dev' }]])('has no blanks around its names, %j', (tenant) => {
    const sent = { dataId: ' a', group: 'G\u3000', ...tenant }
    const [item] = listenedItems([sent], 10)
    expect(item?.key).toMatchObject({ group: 'G', dataId: 'a' })
    expect(namesOf(item!)).toEqual(sent)
  })

  test('that is listed twice counts once, with the md5 of the last', () => {
    const contexts = ['one', 'two'].map((md5) => ({ dataId: 'a', group: 'G', tenant: 'dev', md5 }))
    expect(listenedItems(contexts, 10).map(({ md5 }) => md5)).toEqual(['two'])
  })

  test('may be none at all', () => {
    expect([undefined, null, []].map((contexts) => listenedItems(contexts, 10))).toEqual([[], [], []])
  })
})

test.each([
  ['no list', {}],
  ['no object', ['a']],
  ['no dataId', [{ group: 'G' }]],
  ['a blank group', [{ dataId: 'a', group: ' ' }]],
  ['an empty group', [{ dataId: 'a', group: '' }]],
  ['a number as tenant', [{ dataId: 'a', group: 'G', tenant: 7 }]],
  ['a long dataId', [{ dataId: 'a'.repeat(257), group: 'G' }]],
  ['a long md5', [{ dataId: 'a', group: 'G', md5: '0'.repeat(65) }]],
  ['too many', Array.from({ length: 11 }, (_, index) => ({ dataId: `${index}`, group: 'G' }))],
])('contexts with %s are refused', (_what, contexts) => {
  expect(() => listenedItems(contexts, 10)).toThrow(
    expect.objectContaining({
      code: 'invalid-parameter',
      facts: expect.objectContaining({ parameter: 'configListenContexts' }),
    }),
  )
})
