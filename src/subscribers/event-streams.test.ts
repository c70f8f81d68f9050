import { expect, test } from 'vitest'
import type { Resource } from '../core/access/resource.ts'
import type { Change } from '../core/decisions/changes.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { NAMESPACE } from '../core/namespaces/namespace.ts'
import { SESSION } from '../core/access/access-records.ts'
import { recordRemoved } from '../core/records/record-kind.ts'
import type { EventStream, StreamMessage } from './event-stream.ts'
import { EventStreams, type EventStreamsOptions } from './event-streams.ts'

/** A clock that the test moves; deferred functions run with it. */
function startStreams(options: Partial<EventStreamsOptions> = {}) {
  let nowMs = 0
  let timers: { atMs: number; run: () => void }[] = []
  const loop = {
    now: () => nowMs,
    soon: (run: () => void) => run(),
    after: (ms: number, run: () => void) => void timers.push({ atMs: nowMs + ms, run }),
  }
  const streams = new EventStreams({
    loop,
    origin: 'o',
    isShared: true,
    revision: 10,
    maxStreams: 10,
    maxStreamsOfAddress: 0,
    ...options,
  })
  const pass = (ms: number): void => {
    nowMs += ms
    const due = timers.filter(({ atMs }) => atMs <= nowMs)
    timers = timers.filter(({ atMs }) => atMs > nowMs)
    for (const { run } of due) run()
    streams.tick(nowMs)
  }
  return { streams, pass }
}

const changed = (id: string): Change => recordRemoved(NAMESPACE, id, 0)

function open(
  streams: EventStreams,
  request: { lastId?: string; mayRead?: (one: Resource) => boolean } = {},
) {
  const { lastId, mayRead = () => true } = request
  const stream = streams.open({ ip: '10.0.0.1', owner: '', lastId, mayRead, onMessage: () => {} })
  if (stream === 'too-many') throw new Error('too many')
  return stream
}

function taken(stream: EventStream): string[] {
  const messages: string[] = []
  for (let next = stream.take(); next !== undefined; next = stream.take()) messages.push(shown(next))
  return messages
}

function shown(message: StreamMessage): string {
  if (message.kind === 'ended') return `ended ${message.reason}`
  if (message.kind !== 'changed') return `${message.kind} ${message.id}`
  const things = message.events.map(({ event, position }) => `${Object.values(event.names)}@${position}`)
  return `${things.join(' ')} ${message.id}`
}

test('changes are gathered for a moment, each thing once, and sent with the position of the last one', () => {
  const { streams, pass } = startStreams()
  const stream = open(streams)
  expect(taken(stream)).toEqual(['begun o-10'])
  streams.onChange(changed('a'), 11)
  pass(50)
  streams.onChange(changed('b'), 12)
  streams.onChange(changed('a'), 13)
  expect(taken(stream)).toEqual([])
  pass(50)
  expect(taken(stream)).toEqual(['b@12 a@13 o-13'])
})

test('a stream that comes back gets the missed events, also on another server of the store', () => {
  const first = startStreams()
  const second = startStreams()
  const [other, cut] = [open(second.streams), open(first.streams)]
  for (const { streams } of [first, second]) streams.onChange(changed('a'), 11)
  first.pass(100)
  expect(taken(cut)).toEqual(['begun o-10', 'a@11 o-11'])
  second.streams.onChange(changed('b'), 12)
  second.pass(100)
  const back = open(second.streams, { lastId: 'o-11' })
  // Events at the position of the id come again: a revision may have been cut in the middle.
  expect(taken(back)).toEqual(['begun o-12', 'a@11 b@12 o-12'])
  expect(taken(other)).toHaveLength(2)
  expect(second.streams.counts()).toMatchObject({ open: 2, resumed: 1, resets: 0 })
})

test('a stream that comes back while changes are gathered misses no change', () => {
  const { streams, pass } = startStreams()
  open(streams)
  streams.onChange(changed('a'), 11)
  const stream = open(streams, { lastId: 'o-10' })
  expect(taken(stream)).toEqual(['begun o-10'])
  pass(100)
  expect(taken(stream)).toEqual(['a@11 o-11'])
})

test.each(['other-11', 'o-9', 'o-12', 'o-', 'o', '', '-11', 'o-11x'])(
  'the id %j cannot be resumed: reset',
  (lastId) => {
    const { streams, pass } = startStreams()
    open(streams)
    streams.onChange(changed('a'), 11)
    pass(100)
    expect(taken(open(streams, { lastId }))).toEqual(['reset o-11'])
  },
)

test('the positions of a server that is alone are its own', () => {
  const { streams, pass } = startStreams({ isShared: false, revision: 99 })
  const stream = open(streams)
  streams.onChange(changed('a'), 100)
  streams.onChange(changed('b'), 100)
  pass(100)
  expect(taken(stream)).toEqual(['begun o-0', 'a@1 b@2 o-2'])
})

test('while nobody follows nothing is remembered, but for a minute after the last one has left', () => {
  const { streams, pass } = startStreams()
  streams.onChange(changed('a'), 11)
  const stream = open(streams, { lastId: 'o-10' })
  expect(taken(stream)).toEqual(['reset o-11'])
  stream.leave()
  streams.onChange(changed('b'), 12)
  pass(30_000)
  const back = open(streams, { lastId: 'o-11' })
  expect(taken(back)).toEqual(['begun o-12', 'b@12 o-12'])
  back.leave()
  pass(61_000)
  streams.onChange(changed('c'), 13)
  expect(taken(open(streams, { lastId: 'o-12' }))).toEqual(['reset o-13'])
})

test('nobody gets events that may not be read now, and ids continue', () => {
  const { streams, pass } = startStreams()
  let allowed = 'a'
  const mayRead = (resource: Resource) =>
    resource.kind === 'own-account' || (resource.kind === 'namespace' && resource.namespaceId === allowed)
  const stream = open(streams, { mayRead })
  taken(stream)
  streams.onChange(changed('a'), 11)
  streams.onChange(changed('b'), 12)
  pass(100)
  expect(taken(stream)).toEqual(['a@11 o-12'])
  allowed = 'b'
  streams.onChange(changed('a'), 13)
  streams.onChange(recordRemoved(SESSION, 's', 0), 14)
  pass(100)
  expect(taken(stream)).toEqual([])
  pass(15_000)
  expect(taken(stream)).toEqual(['alive o-14'])
})

test('a stream ends with the sign-in of its user', () => {
  const { streams, pass } = startStreams()
  let isSignedIn = true
  const stream = open(streams, { mayRead: () => isSignedIn })
  taken(stream)
  isSignedIn = false
  streams.onChange(changed('a'), 11)
  pass(100)
  expect(taken(stream)).toEqual(['ended signed-out'])
  expect(streams.counts()).toMatchObject({ open: 0, ended: { 'signed-out': 1 } })
})

test('a client that does not read gets a reset instead of a queue, and is cut in the end', () => {
  const { streams, pass } = startStreams()
  const stream = open(streams)
  for (let at = 0; at < 1_200; at++) {
    streams.onChange(changed(`n${at % 600}`), 11 + at)
    if (at % 600 === 599) pass(100)
  }
  expect(taken(stream)).toEqual(['reset o-1210'])
  streams.onChange(changed('a'), 2_000)
  pass(100)
  pass(30_001)
  expect(taken(stream)).toEqual(['ended too-slow'])
})

test('where very much changes at once all streams are reset', () => {
  const { streams, pass } = startStreams()
  const stream = open(streams)
  taken(stream)
  for (let at = 0; at < 5_000; at++) streams.onChange(changed(`n${at}`), 11 + at)
  pass(100)
  expect(taken(stream)).toEqual(['reset o-5010'])
  expect(taken(open(streams, { lastId: 'o-4000' }))).toEqual(['reset o-5010'])
})

test('after everything was loaded again earlier ids do not count', () => {
  const { streams } = startStreams()
  const stream = open(streams)
  taken(stream)
  streams.reloaded()
  expect(taken(stream)).toEqual(['reset o.0.1-10'])
  expect(taken(open(streams, { lastId: 'o-10' }))).toEqual(['reset o.0.1-10'])
  expect(taken(open(streams, { lastId: 'o.0.1-10' }))).toEqual(['begun o.0.1-10'])
})

test('there are at most so many streams, in all and of an address', () => {
  const { streams } = startStreams({ maxStreams: 3, maxStreamsOfAddress: 2 })
  const from = (ip: string) =>
    streams.open({ ip, owner: '', lastId: undefined, mayRead: () => true, onMessage: () => {} })
  const first = from('10.0.0.1')
  expect([from('10.0.0.1'), from('10.0.0.1'), from('10.0.0.2'), from('10.0.0.3')]).toEqual([
    expect.anything(),
    'too-many',
    expect.anything(),
    'too-many',
  ])
  if (first !== 'too-many') first.leave()
  expect(from('10.0.0.3')).not.toBe('too-many')
  expect(streams.counts()).toMatchObject({ open: 3, opened: 4, refused: 2 })
})

test('the clients of an item are reported for a minute after its publish', () => {
  const { streams, pass } = startStreams()
  const stream = open(streams)
  taken(stream)
  const key = configKey('public', 'G', 'a')
  const items = [{ key, md5: 'm', echo: '' }]
  streams.onWatched(items)
  pass(100)
  expect(taken(stream)).toEqual([])
  streams.onChange({ kind: 'config-published', item: { key } } as unknown as Change, 11)
  pass(100)
  streams.onWatched(items)
  pass(100)
  expect(taken(stream)).toEqual(['public,G,a@11 o-11', 'public,G,a@11 o-11'])
  // Once it is known who is behind, and once more when nobody knows it any longer.
  pass(10_500)
  pass(100)
  expect(taken(stream)).toEqual(['public,G,a@11 o-11'])
  pass(50_000)
  pass(100)
  expect(taken(stream)).toEqual(['alive o-11', 'public,G,a@11 o-11'])
  streams.onWatched(items)
  pass(100)
  expect(taken(stream)).toEqual([])
})

test('a server that stops ends its streams', () => {
  const { streams } = startStreams()
  const stream = open(streams)
  streams.endAll()
  expect(taken(stream)).toEqual(['ended stopping'])
  expect(taken(open(streams))).toEqual(['ended stopping'])
})
