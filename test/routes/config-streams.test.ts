import { beforeEach, describe, expect, test } from 'vitest'
import { ANONYMOUS } from '../../src/core/access/identity.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import { type ConfigItem, type ConfigKey, configKey } from '../../src/core/config/state/config-item.ts'
import type { WatchedItem } from '../../src/core/config/state/config-view.ts'
import { formalVersions } from '../../src/subscribers/formal-versions.test-support.ts'
import { ConfigWatchers } from '../../src/subscribers/config-watchers.ts'
import { streamOperations } from '../../src/operations/config/config-streams.ts'
import { Guard } from '../../src/operations/guard.ts'
import type { Authorisation } from '../../src/operations/authorisation.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const keyOf = (dataId: string) => configKey('public', 'G', dataId)
const itemOf = (dataId: string, md5 = ''): WatchedItem => ({ key: keyOf(dataId), md5, echo: '' })

let stored: Map<string, ConfigItem>
let waiting: (() => void)[]
let polls: ConfigWatchers
let forbidden: Set<string>
let told: string[]
beforeEach(() => {
  stored = new Map()
  waiting = []
  forbidden = new Set()
  told = []
  const loop = { now: () => 0, soon: (run: () => void) => void waiting.push(run) }
  polls = new ConfigWatchers({
    ...formalVersions((key) => stored.get(key.text)?.md5 ?? ''),
    loop,
    maxWatched: 4,
  })
})

const judging: Authorisation = {
  isOn: true,
  allows: (_caller, _action, resource) => resource.kind !== 'config' || !forbidden.has(resource.key.dataId),
}

function streams(authorisation?: Authorisation) {
  const state = { config: (key: ConfigKey) => stored.get(key.text) }
  const parts = { guard: new Guard(authorisation), polls, state, maxListeningItems: 3 }
  const operations = streamOperations(parts)
  const client = { port: 7, agent: 'Nacos-Java-Client:v3.0.3' }
  const changed = ({ key }: WatchedItem) => void told.push(key.dataId)
  const watch = operations.joinStream(
    { ip: caller.ip, who: caller, client, heardMs: -3, changed, end: () => undefined },
    caller,
  )
  return {
    watch,
    listen: (...items: WatchedItem[]) => {
      // Few items are compared at once.
      const differing = operations.watch({ watch, items }, caller) as readonly WatchedItem[]
      return differing.map(({ key }) => key.dataId)
    },
    unlisten: (...keys: ConfigKey[]) => operations.unwatch({ watch, keys }, caller),
  }
}

function publish(dataId: string, md5: string): void {
  const key = keyOf(dataId)
  const item = { key, md5 } as ConfigItem
  stored.set(key.text, item)
  polls.onChange({ kind: 'config-published', item } as Change)
  while (waiting.length > 0) waiting.shift()!()
}

describe('a stream', () => {
  test('is answered with the items that differ, and receives later changes', () => {
    publish('a', 'one')
    const { listen } = streams()
    expect(listen(itemOf('a'), itemOf('b'))).toEqual(['a'])
    publish('a', 'two')
    publish('b', 'one')
    expect(told).toEqual(['a', 'b'])
  })

  test('is listed with its address, its library and the md5 that it has', async () => {
    const { listen } = streams()
    listen(itemOf('a', 'one'))
    const client = { port: 7, agent: 'Nacos-Java-Client:v3.0.3' }
    const clients = polls.lists.clientsOf(keyOf('a'))
    for (let turn = 0; turn < 10; turn++) {
      waiting.shift()?.()
      await Promise.resolve()
    }
    expect(await clients).toEqual([
      { ip: '10.0.0.1', client, md5: 'one', seen: { md5: '', ip: '10.0.0.1' }, seenAgoMs: 3, via: 'stream' },
    ])
  })

  test('receives nothing of what it does not watch any more, and nothing once it has left', () => {
    const { listen, unlisten, watch } = streams()
    listen(itemOf('a'), itemOf('b'))
    unlisten(keyOf('a'))
    publish('a', 'one')
    watch.leave()
    publish('b', 'one')
    expect(told).toEqual([])
    listen(itemOf('c'))
    expect(polls.counts()).toMatchObject({ listeners: 0, listened: 0 })
  })

  test('keeps the key of an item that exists, and not its own one', async () => {
    publish('a', 'one')
    streams().listen(itemOf('a'))
    const listed = polls.lists.watchedBy('10.0.0.1')
    while (waiting.length > 0) waiting.shift()!()
    expect((await listed)[0]!.key).toBe(stored.get(keyOf('a').text)!.key)
  })
})

describe('the limits of streams', () => {
  const tooMany = expect.objectContaining({ code: 'too-many' })

  test('count the items of a stream once, and nothing is watched beyond them', () => {
    const { listen } = streams()
    listen(itemOf('a'), itemOf('b'))
    expect(() => listen(itemOf('b'), itemOf('c'), itemOf('d'))).toThrow(tooMany)
    expect(polls.counts().listened).toBe(2)
    expect(listen(itemOf('b'), itemOf('c'))).toEqual([])
  })

  test('count the items of all streams together', () => {
    streams().listen(itemOf('a'), itemOf('b'))
    expect(() => streams().listen(itemOf('a'), itemOf('b'), itemOf('c'))).toThrow(tooMany)
  })
})

describe('with permissions', () => {
  test('an item that the caller may not read is left out', () => {
    publish('a', 'one')
    publish('b', 'one')
    forbidden.add('a')
    const { listen } = streams(judging)
    expect(listen(itemOf('a'), itemOf('b'))).toEqual(['b'])
    publish('a', 'two')
    expect(told).toEqual([])
  })

  test('a caller that may read none of the items is refused', () => {
    forbidden.add('a')
    expect(() => streams(judging).listen(itemOf('a'))).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })

  test('each report is judged again', () => {
    const { listen } = streams(judging)
    listen(itemOf('a'))
    forbidden.add('a')
    publish('a', 'one')
    forbidden.delete('a')
    publish('a', 'two')
    expect(told).toEqual(['a'])
  })
})
