import { expect, test } from 'vitest'
import { type ConfigItem, configKey } from '../core/config/config-item.ts'
import { ClientsBehind } from './clients-behind.ts'

const NOW_MS = 100_000
const items = new Map(
  [
    ['old', NOW_MS - 20_000],
    ['new', NOW_MS - 9_000],
  ].map(([dataId, modifiedMs]) => [dataId, { md5: 'current', modifiedMs } as ConfigItem]),
)

function behindOf(polls: readonly (readonly [ip: string, dataId: string, md5: string])[]) {
  const behind = new ClientsBehind(({ dataId }) => items.get(dataId), NOW_MS)
  for (const [ip, dataId, md5] of polls)
    behind.add({ ip, client: undefined, items: [{ key: configKey('public', 'G', dataId), md5, echo: '' }] })
  return behind.items.map(({ key, clientCount, clients }) => [key.dataId, clientCount, clients.length])
}

test('a client is behind if it has another version than one that is old enough', () => {
  expect(
    behindOf([
      ['10.0.0.1', 'old', 'before'],
      ['10.0.0.2', 'old', ''],
      ['10.0.0.3', 'old', 'current'],
      ['10.0.0.4', 'new', 'before'],
      ['10.0.0.5', 'deleted', 'before'],
    ]),
  ).toEqual([['old', 2, 2]])
})

test('all clients are counted, and the first ones named', () => {
  const polls = Array.from({ length: 9 }, (_, index) => [`10.0.0.${index}`, 'old', 'before'] as const)
  expect(behindOf(polls)).toEqual([['old', 9, 5]])
})
