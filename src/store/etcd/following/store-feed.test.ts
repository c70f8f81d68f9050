import { expect, test } from 'vitest'
import { Keys } from '../keys/keys.ts'
import { StoreFeed } from './store-feed.ts'

const keys = new Keys('w/')
const snapshotAt = (revision: number) => ({
  configs: [],
  services: [],
  instances: [],
  records: [],
  revision,
  largestStamp: 0,
})

function feedAt(revision: number): StoreFeed {
  const readParts = () => Promise.reject(new Error('no parts'))
  const feed = new StoreFeed({ keys, own: 'w/b/me', readParts, stopped: () => {} }, revision)
  feed.follow({ applied() {}, reloaded() {} })
  return feed
}

test('who does not wait any more for a revision that a restored etcd may never have is forgotten', async () => {
  const feed = feedAt(100)
  const waits = Array.from({ length: 3 }, () => feed.waitFor(120))
  feed.reload(snapshotAt(50))
  expect(feed.waiters).toBe(3)
  for (const { forget } of waits) forget()
  expect(feed.waiters).toBe(0)
})

test('reports of the watch before a restore do not count after it', async () => {
  const feed = feedAt(100)
  feed.watchedTo(150)
  feed.reload(snapshotAt(50))
  feed.waitFor(120)
  expect(feed.waiters).toBe(1)
})

/** A feed at the revision 10, and what it has given. */
function givingFeed(): { feed: StoreFeed; given: string[] } {
  const readParts = () => Promise.reject(new Error('no parts'))
  const feed = new StoreFeed({ keys, own: 'w/b/me', readParts, stopped: () => {} }, 10)
  const given: string[] = []
  feed.follow({
    applied: ({ revision }) => given.push(`applied ${revision}`),
    reloaded: ({ revision }) => given.push(`loaded ${revision}`),
  })
  return { feed, given }
}

test('parts that are loaded again come one after the other, and no revision between reading one and giving it', async () => {
  const { feed, given } = givingFeed()
  const loading = async (revision: number) => {
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    return snapshotAt(revision)
  }
  const first = feed.mend(loading)
  const second = feed.mend(loading)
  feed.add({ revision: 11, changes: [] }, 0)
  await first
  feed.add({ revision: 12, changes: [] }, 0)
  await second
  await new Promise(setImmediate)
  const seen = given.map((text) => Number(text.split(' ')[1]))
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect(given).toContain('applied 12')
  expect(given.filter((text) => text.startsWith('loaded'))).toHaveLength(2)
})

test('a stop waits for the part that is being read, and then nothing is read or given until the next snapshot', async () => {
  const { feed, given } = givingFeed()
  let end = (): void => undefined
  const read: number[] = []
  const part = (revision: number) => {
    read.push(revision)
    return new Promise<void>((resolve) => (end = resolve)).then(() => snapshotAt(revision))
  }
  const parts = [feed.mend(part), feed.mend(part)]
  await new Promise(setImmediate)
  feed.add({ revision: 11, changes: [] }, 0)
  let isStopped = false
  const stopping = feed.stop().then(() => (isStopped = true))
  await new Promise(setImmediate)
  expect([isStopped, read]).toEqual([false, [10]])
  end()
  await Promise.all([stopping, ...parts])
  expect([given, read]).toEqual([[], [10]])
  feed.reload(snapshotAt(20))
  feed.add({ revision: 21, changes: [] }, 0)
  await new Promise(setImmediate)
  expect(given).toEqual(['loaded 20', 'applied 21'])
})

test('a quiet follower is compared, and loaded in parts, at the revision that the watch has reported: etcd may have compacted its last change', async () => {
  const feed = feedAt(10)
  feed.watchedTo(20)
  expect(feed.reached).toBe(20)
  const asked: number[] = []
  await feed.mend(async (revision) => {
    asked.push(revision)
    return snapshotAt(revision)
  })
  expect(asked).toEqual([20])
})
