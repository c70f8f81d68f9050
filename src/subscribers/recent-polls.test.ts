import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import { RecentPolls } from './recent-polls.ts'

function poll(dataId: string, { ip = '10.0.0.1', port = 1, agent = 'a' } = {}) {
  return { ip, client: { port, agent }, items: [{ key: configKey('', 'G', dataId), md5: 'm', echo: '' }] }
}

const at = (atMs: number, notified: readonly WatchedItem[] = []) => ({ atMs, notified })

function seen(recent: RecentPolls): string[] {
  return Array.from(recent.all(), ({ ip, client, items }) => `${ip}:${client?.port} ${items[0]?.key.dataId}`)
}

let recent: RecentPolls
beforeEach(() => void (recent = new RecentPolls()))

test('the next poll of a client takes the place of its last, also from another port', () => {
  recent.ended(poll('a'), at(0))
  recent.ended(poll('b'), at(0))
  recent.began(poll('a', { port: 2 }))
  expect(seen(recent)).toEqual(['10.0.0.1:1 b'])
})

test('of several clients at one address each counts', () => {
  for (const port of [1, 2]) recent.ended(poll('a', { port }), at(0))
  recent.began(poll('a', { port: 3 }))
  recent.began(poll('a', { port: 4, agent: 'other' }))
  expect(seen(recent)).toEqual(['10.0.0.1:2 a'])
})

test('a poll that is answered at once takes the place of the one before', () => {
  for (const port of [1, 2]) recent.ended(poll('a', { port }), at(0))
  recent.passed(poll('a', { port: 3 }), at(59_000))
  recent.passed(poll('b', { port: 4 }), at(59_000))
  expect(seen(recent)).toEqual(['10.0.0.1:2 a', '10.0.0.1:3 a', '10.0.0.1:4 b'])
  recent.tick(61_000)
  expect(seen(recent)).toEqual(['10.0.0.1:3 a', '10.0.0.1:4 b'])
})

test('who does not poll again for a minute has left', () => {
  recent.ended(poll('a'), at(1_000))
  recent.ended(poll('b'), at(40_000))
  recent.tick(61_001)
  expect(seen(recent)).toEqual(['10.0.0.1:1 b'])
  recent.tick(200_000)
  expect(seen(recent)).toEqual([])
})

test('the number of remembered polls is bounded', () => {
  for (let n = 0; n < 10_100; n++) recent.ended(poll(`item-${n}`), at(0))
  expect(seen(recent)).toHaveLength(10_000)
})

test('counts the polls of each item, and one that names it twice once', () => {
  for (const port of [1, 2]) recent.ended(poll('a', { port }), at(0))
  const [item] = poll('b').items
  recent.ended({ ...poll('b'), items: [item!, item!] }, at(0))
  const texts = ['a', 'b', 'c'].map((dataId) => configKey('', 'G', dataId).text)
  expect([...recent.countsOf(new Set(texts))]).toEqual([
    [texts[0], 2],
    [texts[1], 1],
  ])
})

test('remembers no more items than a walk may take, and room returns when polls are forgotten', () => {
  const large = (agent: string) => ({
    ...poll('a', { agent }),
    items: Array(200_000).fill(poll('a').items[0]!),
  })
  for (const agent of ['x', 'y', 'z']) recent.ended(large(agent), at(0))
  expect(seen(recent)).toHaveLength(2)
  recent.began(large('x'))
  recent.ended(large('z'), at(0))
  expect(seen(recent)).toHaveLength(2)
  recent.tick(61_000)
  for (const agent of ['x', 'y', 'z']) recent.ended(large(agent), at(61_000))
  expect(seen(recent)).toHaveLength(2)
})

describe('a client is late', () => {
  const { items } = poll('a')
  const lateness = () => Array.from(recent.all(), ({ late, lateSinceMs }) => [late.length, lateSinceMs])

  test('if it asks with the md5 of the answer before again, and since that answer', () => {
    recent.ended(poll('a'), at(1_000, items))
    expect(lateness()).toEqual([[0, 1_000]])
    for (const port of [2, 3]) recent.passed(poll('a', { port }), at(port * 1_000, items))
    expect(lateness()).toEqual([[1, 1_000]])
  })

  test('also if its poll is compared while it is held', () => {
    recent.ended(poll('a'), at(1_000, items))
    const before = recent.began(poll('a'))
    recent.ended(poll('a'), at(2_000, items), before)
    expect(lateness()).toEqual([[1, 1_000]])
  })

  test.each([
    ['it asks with another md5', items.map((item) => ({ ...item, md5: 'n' }))],
    ['nothing differs any more', []],
  ])('not if %s', (_why, notified) => {
    recent.ended(poll('a'), at(1_000, items))
    recent.passed({ ...poll('a'), items: notified.length === 0 ? items : notified }, at(2_000, notified))
    expect(lateness()).toEqual([[0, notified.length === 0 ? 2_000 : 1_000]])
  })
})

test('our own tools are not remembered', () => {
  recent.passed(poll('a', { agent: 'waypost/1.0.0' }), at(0))
  expect(seen(recent)).toEqual([])
})
