import { expect, test } from 'vitest'
import type { ViewedState } from '../config/state/config-view.ts'
import { clientsBehind, togetherBehind } from './clients-behind.ts'
import { type ConfigItem, configKey } from '../config/state/config-item.ts'

const NOW_MS = 100_000
const items = new Map(
  [
    ['old', NOW_MS - 20_000],
    ['new', NOW_MS - 9_000],
  ].map(([dataId, modifiedMs]) => [dataId, { md5: 'current', modifiedMs } as ConfigItem]),
)

async function behindOf(polls: readonly (readonly [ip: string, dataId: string, md5: string])[]) {
  const ended = polls.map(([ip, dataId, md5]) => {
    return { ip, client: undefined, items: [{ key: configKey('public', 'G', dataId), md5, echo: '' }] }
  })
  const state: ViewedState = { config: ({ dataId }) => items.get(dataId), record: () => undefined }
  const walk = async <T>(all: Iterable<T>, each: (one: T) => void) => {
    for (const one of all) each(one)
  }
  const behind = await clientsBehind(ended, { state, nowMs: NOW_MS, walk })
  return behind.map(({ key, clientCount, clients }) => [key.dataId, clientCount, clients.length])
}

test('a client is behind if it has another version than one that is old enough', async () => {
  expect(
    await behindOf([
      ['10.0.0.1', 'old', 'before'],
      ['10.0.0.2', 'old', ''],
      ['10.0.0.3', 'old', 'current'],
      ['10.0.0.4', 'new', 'before'],
      ['10.0.0.5', 'deleted', 'before'],
    ]),
  ).toEqual([['old', 2, 2]])
})

test('all clients are counted, and the first ones named', async () => {
  const polls = Array.from({ length: 9 }, (_, index) => [`10.0.0.${index}`, 'old', 'before'] as const)
  expect(await behindOf(polls)).toEqual([['old', 9, 5]])
})

test('the clients of several servers are added up', () => {
  const key = configKey('public', 'G', 'old')
  const of = (ip: string) => ({ key, clientCount: 4, clients: [{ ip, client: undefined }] })
  expect(togetherBehind([of('10.0.0.1'), of('10.0.0.2')])).toEqual([
    { key, clientCount: 8, clients: ['10.0.0.1', '10.0.0.2'].map((ip) => ({ ip, client: undefined })) },
  ])
})
