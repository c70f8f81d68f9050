import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { StreamClient } from '../core/clients/stream-client.ts'
import { ClientMemory, watchedBytes } from '../core/memory/client-memory.ts'
import { KeyPattern } from '../core/text/key-pattern.ts'
import { configPatterns } from './config-patterns.ts'
import { ConfigWatchers } from './config-watchers.ts'
import { formalVersions } from './formal-versions.test-support.ts'
import { ListReaders } from './list-readers.ts'
import { type PatternHold, patternBytes } from './pattern-watch.ts'
import { PushRegistry } from './push-registry.ts'
import { watchedServiceBytes } from './service-watch.ts'
import { STREAM_LIMITS, StreamRegistry } from './stream-registry.ts'

const ITEM = watchedBytes(configKey('public', 'g', 'a').text)
const MINUTE_MS = 60_000
const itemOf = (dataId: string): WatchedItem => ({
  key: configKey('public', 'g', dataId),
  md5: '',
  echo: dataId,
})
let nowMs: number
let memory: ClientMemory
const loop = { now: () => nowMs, soon: (run: () => void) => run() }

beforeEach(() => {
  nowMs = 0
  memory = new ClientMemory(2.5 * ITEM)
})

describe('watched items', () => {
  const watchersOf = () => new ConfigWatchers({ ...formalVersions(() => ''), loop, memory })
  const poll = (names: readonly string[], ip: string) => {
    return { items: names.map(itemOf), ip, dueMs: MINUTE_MS, answer: () => {}, giveWay: () => {} }
  }

  test('of polls count while they are held, and while they are remembered', () => {
    const watchers = watchersOf()
    expect(watchers.take(poll(['a', 'b', 'c'], '10.0.0.1'))).toMatchObject({ kind: 'too-many' })
    expect(watchers.take(poll(['a'], '10.0.0.1'))).toMatchObject({ kind: 'held' })
    const other = watchers.take(poll(['b'], '10.0.0.2'))
    expect(watchers.take(poll(['c'], '10.0.0.3'))).toMatchObject({ kind: 'too-many' })
    if (other.kind === 'held') other.handle.cancel()
    expect(memory.bytes).toBe(2 * ITEM)
    watchers.take({ ...poll(['b'], '10.0.0.2'), waits: false })
    expect(memory.bytes).toBe(2 * ITEM)
    watchers.take(poll(['b'], '10.0.0.2'))
    expect(memory.bytes).toBe(2 * ITEM)
    watchers.answerAll()
    nowMs = 2 * MINUTE_MS
    watchers.tick(nowMs)
    expect(memory.bytes).toBe(0)
  })

  test('of listeners count until they are left alone', () => {
    const listener = watchersOf().join({ ip: '10.0.0.1', changed: () => {}, end: () => {} })
    const answers = ['a', 'b', 'c', 'a'].map((name) => listener.listen([itemOf(name)]))
    expect(answers).toEqual([[], [], 'too-many', []])
    listener.unwatch(configKey('public', 'g', 'a'))
    expect(memory.bytes).toBe(ITEM)
    listener.leave()
    expect(memory.bytes).toBe(0)
  })
})

describe('where there is no room', () => {
  const poll = (names: readonly string[], ip: string, answers: string[] = []) => ({
    items: names.map(itemOf),
    ip,
    dueMs: MINUTE_MS,
    answer: () => {},
    giveWay: () => void answers.push(ip),
  })
  const listenerOf = (watchers: ConfigWatchers, owner: string, ended: string[]) =>
    watchers.join({ ip: owner, changed: () => {}, end: (why) => void ended.push(`${owner} ${why}`) })
  let ended: string[]
  let watchers: ConfigWatchers

  beforeEach(() => {
    ended = []
    memory = new ClientMemory(4.5 * ITEM)
    watchers = new ConfigWatchers({ ...formalVersions(() => ''), loop, memory })
  })

  test('the connection with the most items of the client with the most gives way to a poll', () => {
    void listenerOf(watchers, 'many', ended).listen([itemOf('a')])
    const large = listenerOf(watchers, 'many', ended)
    expect(large.listen(['b', 'c', 'd', 'e'].map(itemOf))).toBe('too-many')
    expect(watchers.take(poll(['a'], 'few'))).toMatchObject({ kind: 'held' })
    expect([ended, large.items.size, memory.bytes]).toEqual([['many gave-way'], 0, 2 * ITEM])
  })

  test('the polls of the client with the most give way to a connection, and equals leave each other alone', () => {
    for (const name of ['a', 'b', 'c', 'd']) watchers.take(poll([name], 'many', ended))
    const few = listenerOf(watchers, 'few', ended)
    expect([few.listen([itemOf('a')]), few.listen([itemOf('b')]), few.listen([itemOf('c')])]).toEqual([
      [],
      [],
      'too-many',
    ])
    expect(ended).toEqual(['many', 'many'])
  })

  test('what is only remembered is forgotten first', () => {
    for (const name of ['a', 'b', 'c', 'd']) watchers.take({ ...poll([name], 'many', ended), waits: false })
    expect(memory.bytes).toBe(4 * ITEM)
    expect(watchers.take(poll(['a', 'b', 'c'], 'few'))).toMatchObject({ kind: 'held' })
    expect([ended, memory.bytes]).toEqual([[], 4 * ITEM])
  })

  test('the limit of all items is shared alike', () => {
    watchers = new ConfigWatchers({ ...formalVersions(() => ''), loop, maxWatched: 4 })
    void listenerOf(watchers, 'many', ended).listen(['a', 'b', 'c', 'd'].map(itemOf))
    expect(listenerOf(watchers, 'few', ended).listen([itemOf('a')])).toEqual([])
    expect(ended).toEqual(['many gave-way'])
  })

  test('a connection with subscriptions gives way, and the service that it alone has watched', () => {
    const registry = new StreamRegistry({ ...STREAM_LIMITS, inAll: 3 })
    const key = { namespaceId: 'public', groupedName: 'g@@service' }
    const client = (id: string) => {
      const end: StreamClient['end'] = (why) => void ended.push(`${id} ${why}`)
      return { id, address: id, end, onEnd: () => {} } as unknown as StreamClient
    }
    for (const clusters of ['a', 'b', 'c']) registry.add({ client: client('many'), key, clusters })
    const added = registry.add({ client: client('few'), key, clusters: 'a' })
    expect([ended, registry.size]).toEqual([['many gave-way'], 1])
    expect([...registry.service(key)!.subscriptions()]).toEqual([added])
  })
})

const patternOf = (name: string) => new KeyPattern({ namespaceId: 'public', group: 'g', name })
const PATTERN = patternBytes(patternOf('a*'))

test('patterns of the client with the most give way to others', () => {
  memory = new ClientMemory(2.5 * PATTERN)
  const patterns = configPatterns(loop, memory)
  const ended: string[] = []
  const watch = (owner: string, name: string) => {
    const watcher = { touched: () => {}, giveWay: () => void ended.push(name) }
    return patterns.watch(patternOf(name), watcher, owner)
  }
  for (const name of ['a*', 'b*']) watch('many', name)
  expect(watch('many', 'c*')).toBe('too-many')
  expect(watch('few', 'd*')).not.toBe('too-many')
  expect(watch('few', 'e*')).toBe('too-many')
  expect([ended, patterns.size]).toEqual([['a*'], 2])
})

test('patterns count until their watchers leave', () => {
  memory = new ClientMemory(2.5 * PATTERN)
  const patterns = configPatterns(loop, memory)
  const watch = (name: string) => patterns.watch(patternOf(name), { touched: () => {} })
  const holds = [watch('a*'), watch('b*')]
  expect(watch('c*')).toBe('too-many')
  for (const hold of holds) if (hold !== 'too-many') hold.leave()
  expect(memory.bytes).toBe(0)
})

describe('names that watchers of patterns keep', () => {
  const NAME = 100
  let ended: string[]
  const watch = (owner: string) => {
    const watcher = { touched: () => {}, giveWay: () => void ended.push(owner) }
    const hold = configPatterns(loop, memory).watch(patternOf('*'), watcher, owner)
    if (hold === 'too-many') throw new Error('too many')
    return hold
  }

  beforeEach(() => {
    ended = []
    memory = new ClientMemory(1_000 * NAME)
  })

  test('count until they are given back, also after their watcher has left', () => {
    const { room, leave } = watch('one')
    const before = memory.bytes
    expect([room.take(900, 900 * NAME), room.take(200, 200 * NAME)]).toEqual([true, false])
    room.free(800, 800 * NAME)
    expect(memory.bytes).toBe(before + 100 * NAME)
    leave()
    expect(memory.bytes).toBe(100 * NAME)
    room.free(100, 100 * NAME)
    expect(memory.bytes).toBe(0)
  })

  test('are refused to those who would watch as much as others, and nobody gives way', () => {
    watch('many').room.take(500, 500 * NAME)
    expect(watch('as-many').room.take(500, 500 * NAME)).toBe(false)
    expect(ended).toEqual([])
  })

  test('of the client with the most give way to others', () => {
    const registry = configPatterns(loop, memory)
    const hold = registry.watch(
      patternOf('*'),
      { touched: () => {}, giveWay: () => (hold as PatternHold).room.free(900, 900 * NAME) },
      'many',
    )
    ;(hold as PatternHold).room.take(900, 900 * NAME)
    expect(watch('few').room.take(500, 500 * NAME)).toBe(true)
    expect(registry.size).toBe(0)
  })
})

describe('subscriptions', () => {
  const key = { namespaceId: 'public', groupedName: 'g@@service' }

  const client = (id: string, onEnd: StreamClient['onEnd'] = () => {}) => ({ id, onEnd }) as StreamClient

  test('of connections share the memory of their service, and of their spelling', () => {
    const [unlimited, taken] = [new ClientMemory(), [] as number[]]
    const registry = new StreamRegistry(STREAM_LIMITS, unlimited)
    const ends: (() => void)[] = []
    const add = (id: string, clusters: string, isAllowed?: () => boolean) => {
      const before = unlimited.bytes
      registry.add({ client: client(id, (end) => void ends.push(end)), key, clusters, isAllowed })
      taken.push(unlimited.bytes - before)
    }
    add('first', 'a')
    add('second', 'a')
    add('third', 'b')
    add('judged', 'b', () => true)
    const [first, second, third, judged] = taken as [number, number, number, number]
    expect([first > third, third > second, judged > second]).toEqual([true, true, true])
    expect(first - third).toBe(watchedServiceBytes(key))
    for (const end of ends) end()
    expect(unlimited.bytes).toBe(0)
  })

  test('of connections count until they end', () => {
    const unlimited = new ClientMemory()
    const others = new StreamRegistry(STREAM_LIMITS, unlimited)
    for (const clusters of ['a', 'b']) others.add({ client: client('c'), key, clusters })
    memory = new ClientMemory(unlimited.bytes + watchedServiceBytes(key))
    const registry = new StreamRegistry(STREAM_LIMITS, memory)
    let end = () => {}
    const one = client('c', (ended) => void (end = ended))
    const subscribe = (clusters: string) => registry.add({ client: one, key, clusters })
    subscribe('a')
    subscribe('b')
    expect(() => subscribe('c')).toThrow('as much memory as they may')
    expect(registry.size).toBe(2)
    end()
    expect([memory.bytes, registry.service(key)]).toEqual([0, undefined])
  })

  test('of list calls count until they lapse', () => {
    const callOf =
      (of: PushRegistry) =>
      (port: number, agent = '') => {
        const format = ''
        const one = { ...key, address: '10.0.0.1', port, agent, app: '', clusters: '', format }
        return of.refresh(one, nowMs)
      }
    const unlimited = new ClientMemory()
    const others = new PushRegistry(() => MINUTE_MS, unlimited)
    for (const port of [1, 2]) callOf(others)(port)
    memory = new ClientMemory(unlimited.bytes)
    const registry = new PushRegistry(() => MINUTE_MS, memory)
    const call = callOf(registry)
    expect([call(1), call(2), call(3)].map((one) => one !== undefined)).toEqual([true, true, false])
    expect(call(1, 'x'.repeat(4_000))).toBeUndefined()
    call(1, 'agent of the client')
    nowMs = 2 * MINUTE_MS
    registry.tick(nowMs)
    expect([memory.bytes, registry.service(key)]).toEqual([0, undefined])
  })

  test('of list calls have the room of readers, of whom only people know', () => {
    memory = new ClientMemory(100_000)
    const registry = new PushRegistry(() => MINUTE_MS, memory)
    const readers = new ListReaders(memory)
    memory.take(75_000)
    const isRead = () => readers.of(key).length > 0
    for (let at = 0; at < 100; at++) readers.note(key, { address: String(at), agent: '', app: '' })
    expect([isRead(), memory.bytes > 99_000]).toEqual([true, true])
    const one = { ...key, address: '10.0.0.1', agent: '', app: '', clusters: '', format: '' }
    expect(registry.refresh({ ...one, port: 1 }, nowMs)).toBeDefined()
    expect([isRead(), registry.size]).toEqual([false, 1])
    for (let at = 0; at < 100; at++) readers.note(key, { address: String(at), agent: '', app: '' })
    memory.take(20_000)
    expect([isRead(), registry.size]).toEqual([false, 1])
  })
})
