import { expect, test } from 'vitest'
import { configKey, type ConfigKey } from '../core/config/state/config-item.ts'
import { PublishedLately } from './published-lately.ts'

const keyOf = (dataId: string): ConfigKey => configKey('public', 'G', dataId)
const names = (keys: readonly ConfigKey[]): string[] => keys.map(({ dataId }) => dataId)

test('an item is due once when it is late, and once when it is forgotten', () => {
  const lately = new PublishedLately({ lateMs: 10, overMs: 60 })
  lately.published(keyOf('a'), 0)
  lately.published(keyOf('b'), 5)
  expect(names(lately.due(9))).toEqual([])
  expect(names(lately.due(10))).toEqual(['a'])
  expect(names(lately.due(15))).toEqual(['b'])
  expect(names(lately.due(59))).toEqual([])
  expect([lately.has(keyOf('a')), lately.size]).toEqual([true, 2])
  expect(names(lately.due(60))).toEqual(['a'])
  expect([lately.has(keyOf('a')), lately.has(keyOf('b')), lately.size]).toEqual([false, true, 1])
  expect(names(lately.due(1_000))).toEqual(['b'])
})

test('an item that is published again begins again, late or not', () => {
  const lately = new PublishedLately({ lateMs: 10, overMs: 60 })
  lately.published(keyOf('a'), 0)
  lately.published(keyOf('b'), 1)
  lately.published(keyOf('a'), 5)
  expect(names(lately.due(12))).toEqual(['b'])
  lately.published(keyOf('b'), 12)
  expect(names(lately.due(15))).toEqual(['a'])
  expect(names(lately.due(62))).toEqual(['b'])
  expect(names(lately.due(72))).toEqual(['a', 'b'])
})

test('an item that nobody looked at for long is due once', () => {
  const lately = new PublishedLately({ lateMs: 10, overMs: 60 })
  lately.published(keyOf('a'), 0)
  expect(names(lately.due(100))).toEqual(['a'])
  expect(lately.size).toBe(0)
})
