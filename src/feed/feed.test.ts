import { afterEach, expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import { NAMESPACE } from '../core/namespaces/namespace.ts'
import { recordRemoved } from '../core/records/record-kind.ts'
import { reportFaultsTo } from '../core/unexpected.ts'
import { Feed } from './feed.ts'

afterEach(() => reportFaultsTo(undefined))

const change = (id: string): Change => recordRemoved(NAMESPACE, id, 0)
const idOf = (one: Change) => ('id' in one ? one.id : '')

function startFeed() {
  const deferred: (() => void)[] = []
  const faults: unknown[] = []
  reportFaultsTo({ caught: (_boundary, error) => faults.push(error), fatal: () => undefined })
  const feed = new Feed({ defer: (run) => deferred.push(run) })
  return { feed, faults, deferred, turn: () => deferred.splice(0).forEach((run) => run()) }
}

test('subscribers get each change once, in order, after the current work', () => {
  const { feed, deferred, turn } = startFeed()
  const heard: string[] = []
  feed.subscribe((one) => heard.push(`1 ${idOf(one)}`))
  feed.subscribe((one) => heard.push(`2 ${idOf(one)}`))
  feed.publishChanges([change('a'), change('b')])
  feed.publishChanges([change('c')])
  expect(heard).toEqual([])
  expect(deferred).toHaveLength(1)
  turn()
  expect(heard).toEqual(['1 a', '2 a', '1 b', '2 b', '1 c', '2 c'])
  turn()
  expect(heard).toHaveLength(6)
})

test('a change that is published during a delivery is delivered afterwards', () => {
  const { feed, turn } = startFeed()
  const heard: string[] = []
  feed.subscribe((one) => {
    if (idOf(one) === 'a') feed.publishChanges([change('late')])
    heard.push(idOf(one))
  })
  feed.publishChanges([change('a'), change('b')])
  turn()
  turn()
  expect(heard).toEqual(['a', 'b', 'late'])
})

test('a subscriber that throws is called once more, and the others get the change all the same', () => {
  const { feed, faults, turn } = startFeed()
  let heard = 0
  feed.subscribe(() => {
    throw new Error('slow day')
  })
  feed.subscribe(() => heard++)
  feed.publishChanges([change('a'), change('b')])
  turn()
  expect([heard, faults]).toEqual([2, Array(4).fill(new Error('slow day'))])
})
