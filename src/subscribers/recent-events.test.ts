import { expect, test } from 'vitest'
import { configKey } from '../core/config/state/config-item.ts'
import { watchersChanged } from '../core/live/live-event.ts'
import { RecentEvents } from './recent-events.ts'

const about = (dataId: string) => watchersChanged(configKey('public', 'G', dataId))

function recentOf(most: number, names: string) {
  const recent = new RecentEvents(most)
  recent.beginAt(10)
  for (const [index, name] of names.split('').entries())
    recent.add({ event: about(name), position: 11 + index })
  const since = (position: number) =>
    recent
      .since(position)
      ?.map(({ event }) => event.names['dataId'])
      .join('')
  return { recent, since }
}

test('each thing is reported once, at its last change', () => {
  const { since } = recentOf(10, 'abcab')
  expect(since(10)).toBe('cab')
  expect(since(14)).toBe('ab')
  expect(since(99)).toBe('')
})

test('a position before the beginning, or before forgotten events, cannot be resumed', () => {
  const { since, recent } = recentOf(2, 'abc')
  expect(since(9)).toBeUndefined()
  expect(since(10)).toBeUndefined()
  // The change at 11 is forgotten, and a client that has received it does not need it.
  expect(since(11)).toBe('bc')
  recent.beginAt(50)
  expect(since(49)).toBeUndefined()
  expect(since(50)).toBe('')
})
