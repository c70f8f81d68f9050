import { expect, test } from 'vitest'
import type { ViewedState } from '../config/state/config-view.ts'
import { clientsBehind, togetherBehind } from './clients-behind.ts'
import { type ConfigItem, configKey } from '../config/state/config-item.ts'

const items = new Map([['old', { md5: 'current' } as ConfigItem]])

async function behindOf(polls: readonly (readonly [ip: string, dataId: string, md5: string])[]) {
  const ended = polls.map(([ip, dataId, md5]) => {
    return {
      who: { ip },
      client: undefined,
      items: [{ key: configKey('public', 'G', dataId), md5, echo: '' }],
    }
  })
  const state: ViewedState = { config: ({ dataId }) => items.get(dataId), record: () => undefined }
  const walk = async <T>(all: Iterable<T>, each: (one: T) => void) => {
    for (const one of all) each(one)
  }
  const behind = await clientsBehind(ended, { state, walk })
  return behind.map(({ key, clientCount, clients }) => [key.dataId, clientCount, clients.length])
}

test('a late client is behind unless it has the version by now, or the item is gone', async () => {
  expect(
    await behindOf([
      ['10.0.0.1', 'old', 'before'],
      ['10.0.0.2', 'old', ''],
      ['10.0.0.3', 'old', 'current'],
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
