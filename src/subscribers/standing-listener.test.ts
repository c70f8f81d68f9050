import { beforeEach, describe, expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import { type ConfigItem, configKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import { formalVersions } from './formal-versions.test-support.ts'
import { ConfigWatchers } from './config-watchers.ts'
import type { StandingListener } from './standing-listener.ts'

const MAX_WATCHED = 4
const keyOf = (dataId: string) => configKey('public', 'g', dataId)
const watched = (dataId: string, md5 = ''): WatchedItem => ({ key: keyOf(dataId), md5, echo: dataId })

let stored: Map<string, string>
let waiting: (() => void)[]
let polls: ConfigWatchers
let reported: string[]
let listener: StandingListener
beforeEach(() => {
  stored = new Map()
  waiting = []
  reported = []
  const loop = { now: () => 0, soon: (run: () => void) => void waiting.push(run) }
  polls = new ConfigWatchers({
    ...formalVersions((key) => stored.get(key.text) ?? ''),
    loop,
    maxWatched: MAX_WATCHED,
  })
  listener = join('10.0.0.1')
})

function join(ip: string): StandingListener {
  const changed = ({ key }: WatchedItem) => void reported.push(`${key.dataId}=${stored.get(key.text)}`)
  return polls.join({ ip, client: { port: 1, agent: 'a client' }, changed, end: () => undefined })
}

function change(dataId: string, md5: string): void {
  stored.set(keyOf(dataId).text, md5)
  polls.onChange({ kind: 'config-published', item: { key: keyOf(dataId), md5 } as ConfigItem } as Change)
}

function quiet(): void {
  while (waiting.length > 0) waiting.shift()!()
}

/** A list that takes several walks of slices. */
async function listed<T>(list: Promise<T>): Promise<T> {
  quiet()
  await Promise.resolve()
  quiet()
  return list
}

function poll(items: WatchedItem[]): string[] {
  const answers: string[] = []
  const answer = (changed: readonly WatchedItem[]) =>
    void answers.push(changed.map(({ key }) => key.dataId).join())
  polls.take({ items, ip: '10.0.0.2', giveWay: () => {}, dueMs: 30_000, answer })
  return answers
}

describe('a standing listener', () => {
  test('gets a report of each later change of a watched item, and of nothing else', () => {
    void listener.listen([watched('a')])
    change('a', 'one')
    quiet()
    change('b', 'one')
    change('a', 'two')
    quiet()
    expect(reported).toEqual(['a=one', 'a=two'])
    expect(polls.counts()).toMatchObject({ listeners: 1, listened: 1, reported: 2, held: 0 })
  })

  test('is woken together with the polls of the same item, which are answered once', () => {
    const answers = poll([watched('a')])
    void listener.listen([watched('a')])
    change('a', 'one')
    quiet()
    change('a', 'two')
    quiet()
    expect(answers).toEqual(['a'])
    expect(reported).toEqual(['a=one', 'a=two'])
  })

  test('gets no report of a difference that the comparison before has shown', () => {
    change('a', 'one')
    void listener.listen([watched('a', 'old')])
    quiet()
    expect(reported).toEqual([])
    change('a', 'two')
    quiet()
    expect(reported).toEqual(['a=two'])
  })

  test('gets a report of a change back to the version that it has, because it was sent another one', () => {
    change('a', 'one')
    void listener.listen([watched('a', 'one')])
    change('a', 'two')
    quiet()
    change('a', 'one')
    quiet()
    expect(reported).toEqual(['a=two', 'a=one'])
  })

  test('has the version of another answer, and still gets the report of it', async () => {
    void listener.listen([watched('a', 'old')])
    stored.set(keyOf('a').text, 'one')
    listener.took(keyOf('a'), 'one')
    listener.took(keyOf('b'), 'one')
    expect(await listed(polls.lists.clientsOf(keyOf('a')))).toMatchObject([{ md5: 'one' }])
    change('a', 'one')
    quiet()
    expect(reported).toEqual(['a=one'])
  })

  test('gets one report of a burst, and no report of a change that was taken back', () => {
    void listener.listen([watched('a', '')])
    void listener.listen([watched('b', '')])
    for (const md5 of ['one', 'two', 'three']) change('a', md5)
    change('b', 'one')
    change('b', '')
    quiet()
    expect(reported).toEqual(['a=three'])
  })

  test('gets no report of an item that it no longer watches, even if the change came before', () => {
    void listener.listen([watched('a')])
    void listener.listen([watched('b')])
    change('a', 'one')
    change('b', 'one')
    listener.unwatch(keyOf('a'))
    quiet()
    expect(reported).toEqual(['b=one'])
    change('b', 'two')
    listener.leave()
    quiet()
    expect(reported).toEqual(['b=one'])
    expect(polls.counts()).toMatchObject({ listeners: 0, listened: 0 })
  })

  test('may watch another item, or leave, while it gets a report', () => {
    const other = polls.join({
      ip: '10.0.0.3',
      end: () => undefined,
      changed: ({ key }) => {
        if (key.dataId === 'a') void other.listen([watched('b')])
        else other.leave()
      },
    })
    void other.listen([watched('a')])
    void listener.listen([watched('a')])
    change('a', 'one')
    quiet()
    change('b', 'one')
    quiet()
    expect(reported).toEqual(['a=one'])
    expect(polls.counts()).toMatchObject({ listeners: 1, listened: 1 })
  })

  test('shares the limit of watched items with the polls, and gives its part back', () => {
    poll([watched('a'), watched('b')])
    expect(['a', 'b', 'c', 'c'].map((dataId) => listener.listen([watched(dataId)]))).toEqual([
      [],
      [],
      'too-many',
      'too-many',
    ])
    expect(
      polls.take({ items: [watched('d')], ip: '10.0.0.2', giveWay: () => {}, dueMs: 1, answer: () => {} }),
    ).toEqual({
      kind: 'too-many',
    })
    listener.unwatch(keyOf('a'))
    expect(listener.listen([watched('c')])).toEqual([])
  })

  test('is listed among the watchers of an item, with the md5 that the client says that it has', async () => {
    void listener.listen([watched('a')])
    change('a', 'one')
    quiet()
    expect([...(await listed(polls.lists.watchersOf(keyOf('a'))))]).toEqual([['10.0.0.1', '']])
    void listener.listen([watched('a', 'one')])
    expect([...(await listed(polls.lists.watchersOf(keyOf('a'))))]).toEqual([['10.0.0.1', 'one']])
    expect(await listed(polls.lists.watchedBy('10.0.0.1'))).toMatchObject([
      { key: { dataId: 'a' }, md5: 'one' },
    ])
    expect(await listed(polls.lists.watchedBy('10.0.0.2'))).toEqual([])
    const client = { port: 1, agent: 'a client' }
    expect(await listed(polls.lists.clientsOf(keyOf('a')))).toEqual([
      {
        ip: '10.0.0.1',
        client,
        md5: 'one',
        seen: { md5: 'one', ip: '10.0.0.1' },
        seenAgoMs: 0,
        via: 'stream',
      },
    ])
  })
})
