import { expect, test } from 'vitest'
import { type ConfigItem, configKey } from '../../core/config/state/config-item.ts'
import { contentPortion } from './content-portion.ts'

const MEBIBYTE = 1024 * 1024
const turns = { isDue: false, turn: () => Promise.resolve(true) }
const itemOf = (dataId: string, bytes: number): ConfigItem =>
  ({ key: configKey('public', 'G', dataId), content: { length: bytes } }) as ConfigItem
const namesOf = (items: readonly ConfigItem[]): string[] => items.map(({ key }) => key.dataId)

test('100,000 items of 1.5 KB are searched by one request', async () => {
  const items = Array.from({ length: 100_000 }, (_, at) => itemOf(`${at}`, 1_536))
  expect(await contentPortion(items, undefined, turns)).toEqual({ items, next: undefined })
})

test('more than 256 MiB are searched in the order of their keys, each item once', async () => {
  const items = ['d', 'b', 'a', 'c', 'e'].map((name) => itemOf(name, 100 * MEBIBYTE))
  const first = await contentPortion(items, undefined, turns)
  expect(namesOf(first.items)).toEqual(['a', 'b'])
  const second = await contentPortion(items, first.next, turns)
  expect(namesOf(second.items)).toEqual(['c', 'd'])
  const third = await contentPortion(items, second.next, turns)
  expect(namesOf(third.items)).toEqual(['e'])
  expect(third.next).toBeUndefined()
})

test('an item that is larger than the bound is searched alone', async () => {
  const items = [itemOf('b', 1), itemOf('a', 300 * MEBIBYTE)]
  const first = await contentPortion(items, undefined, turns)
  expect(namesOf(first.items)).toEqual(['a'])
  expect(namesOf((await contentPortion(items, first.next, turns)).items)).toEqual(['b'])
})
