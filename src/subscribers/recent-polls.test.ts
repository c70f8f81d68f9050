import { beforeEach, expect, test } from 'vitest'
import { configKey } from '../core/config/state/config-item.ts'
import { RecentPolls } from './recent-polls.ts'

function poll(dataId: string, { ip = '10.0.0.1', port = 1, agent = 'a' } = {}) {
  return { ip, client: { port, agent }, items: [{ key: configKey('', 'G', dataId), md5: 'm', echo: '' }] }
}

function seen(recent: RecentPolls): string[] {
  return Array.from(recent.all(), ({ ip, client, items }) => `${ip}:${client?.port} ${items[0]?.key.dataId}`)
}

let recent: RecentPolls
beforeEach(() => void (recent = new RecentPolls()))

test('the next poll of a client takes the place of its last, also from another port', () => {
  recent.ended(poll('a'), 0)
  recent.ended(poll('b'), 0)
  recent.began(poll('a', { port: 2 }))
  expect(seen(recent)).toEqual(['10.0.0.1:1 b'])
})

test('of several clients at one address each counts', () => {
  for (const port of [1, 2]) recent.ended(poll('a', { port }), 0)
  recent.began(poll('a', { port: 3 }))
  recent.began(poll('a', { port: 4, agent: 'other' }))
  expect(seen(recent)).toEqual(['10.0.0.1:2 a'])
})

test('a poll that is answered at once takes the place of the one before', () => {
  for (const port of [1, 2]) recent.ended(poll('a', { port }), 0)
  recent.passed(poll('a', { port: 3 }), 59_000)
  recent.passed(poll('b', { port: 4 }), 59_000)
  expect(seen(recent)).toEqual(['10.0.0.1:2 a', '10.0.0.1:3 a', '10.0.0.1:4 b'])
  recent.tick(61_000)
  expect(seen(recent)).toEqual(['10.0.0.1:3 a', '10.0.0.1:4 b'])
})

test('who does not poll again for a minute has left', () => {
  recent.ended(poll('a'), 1_000)
  recent.ended(poll('b'), 40_000)
  recent.tick(61_001)
  expect(seen(recent)).toEqual(['10.0.0.1:1 b'])
  recent.tick(200_000)
  expect(seen(recent)).toEqual([])
})

test('the number of remembered polls is bounded', () => {
  for (let n = 0; n < 10_100; n++) recent.ended(poll(`item-${n}`), 0)
  expect(seen(recent)).toHaveLength(10_000)
})

test('counts the polls of each item, and one that names it twice once', () => {
  for (const port of [1, 2]) recent.ended(poll('a', { port }), 0)
  const [item] = poll('b').items
  recent.ended({ ...poll('b'), items: [item!, item!] }, 0)
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
  for (const agent of ['x', 'y', 'z']) recent.ended(large(agent), 0)
  expect(seen(recent)).toHaveLength(2)
  recent.began(large('x'))
  recent.ended(large('z'), 0)
  expect(seen(recent)).toHaveLength(2)
  recent.tick(61_000)
  for (const agent of ['x', 'y', 'z']) recent.ended(large(agent), 61_000)
  expect(seen(recent)).toHaveLength(2)
})
