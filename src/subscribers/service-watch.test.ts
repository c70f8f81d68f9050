import { beforeEach, expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import { REMEMBERED_METADATA, rememberedId } from '../core/naming/state/remembered-metadata.ts'
import { serviceKeyText, type ServiceKey } from '../core/naming/state/service.ts'
import { NAMESPACE } from '../core/namespaces/namespace.ts'
import { recordRemoved, recordSaved } from '../core/records/record-kind.ts'
import { type ReportRound, ServiceWatch, WatchedService, type WatchOutlet } from './service-watch.ts'

/** Streams that stay open: each watches services until it ends, and records its changes. */
class Streams implements WatchOutlet {
  readonly #services = new Map<string, { watched: WatchedService; streams: string[] }>()
  readonly received: string[] = []
  readonly #current: () => string
  isOpen = true

  constructor(current: () => string) {
    this.#current = current
  }

  open(stream: string, key: ServiceKey): void {
    const there = this.#services.get(serviceKeyText(key))
    if (there !== undefined) there.streams.push(stream)
    else this.#services.set(serviceKeyText(key), { watched: new WatchedService(key), streams: [stream] })
  }

  watched(key: ServiceKey): WatchedService | undefined {
    return this.#services.get(serviceKeyText(key))?.watched
  }

  round(service: WatchedService): ReportRound | undefined {
    if (!this.isOpen) return undefined
    const streams = this.#services.get(serviceKeyText(service.key))!.streams.values()
    return {
      next: () => {
        const stream = streams.next()
        if (stream.done !== true) this.received.push(`${stream.value} ${this.#current()}`)
        return stream.done !== true
      },
    }
  }
}

const SHOP = { namespaceId: 'public', groupedName: 'g@@shop' }
const OTHER = { namespaceId: 'public', groupedName: 'g@@other' }

let nowMs: number
let current: string
let timers: { atMs: number; run: () => void }[]
let soon: (() => void)[]
let gatherMs: number
let watch: ServiceWatch
let first: Streams
let second: Streams
beforeEach(() => {
  nowMs = 0
  timers = []
  soon = []
  gatherMs = 20
  const loop = {
    now: () => nowMs,
    soon: (run: () => void) => void soon.push(run),
    after: (ms: number, run: () => void) => void timers.push({ atMs: nowMs + ms, run }),
  }
  watch = new ServiceWatch({ loop, gatherMs: () => gatherMs })
  first = new Streams(() => current)
  second = new Streams(() => current)
  watch.add(first)
  watch.add(second)
})

function change(key: ServiceKey, list: string): void {
  current = list
  watch.onChange({ kind: 'instance-health-changed', serviceKey: key } as Change)
}

function pass(ms: number): void {
  nowMs += ms
  for (const timer of timers.splice(0)) {
    if (timer.atMs <= nowMs) timer.run()
    else timers.push(timer)
  }
  while (soon.length > 0) soon.shift()!()
}

test('a change reaches every outlet that watches its service, and no other', () => {
  first.open('a', SHOP)
  second.open('b', SHOP)
  second.open('c', OTHER)
  change(SHOP, 'one')
  pass(20)
  expect([first.received, second.received]).toEqual([['a one'], ['b one']])
})

test('remembered metadata that is saved or removed is a change of its service, unlike other records', () => {
  first.open('a', SHOP)
  const place = { serviceKey: SHOP, address: { ip: '10.0.0.1', port: 80, cluster: 'DEFAULT' } }
  const id = rememberedId(place)
  const changes = [
    recordSaved(REMEMBERED_METADATA, { id, value: { ...place, metadata: { a: '1' } }, stamp: 0 }),
    recordRemoved(REMEMBERED_METADATA, id, 0),
    recordRemoved(NAMESPACE, id, 0),
  ]
  for (const one of changes) {
    current = one.kind
    watch.onChange(one)
    pass(60_000)
  }
  expect(first.received).toEqual(['a record-saved', 'a record-removed'])
})

test('an open stream gets each later change without another request', () => {
  first.open('a', SHOP)
  for (const list of ['one', 'two', 'three']) {
    change(SHOP, list)
    pass(60_000)
  }
  expect(first.received).toEqual(['a one', 'a two', 'a three'])
})

test('the changes of a burst are one report, of the state when it is made', () => {
  first.open('a', SHOP)
  for (const list of ['one', 'two', 'three']) change(SHOP, list)
  pass(20)
  expect(first.received).toEqual(['a three'])
})

test('changes that are not to be gathered are reported with the next turn of the loop', () => {
  gatherMs = 0
  first.open('a', SHOP)
  change(SHOP, 'one')
  pass(0)
  expect(first.received).toEqual(['a one'])
})

test('an outlet without subscribers of a service costs no timer', () => {
  second.open('b', OTHER)
  change(SHOP, 'one')
  expect(timers).toEqual([])
})

test('an outlet that has nothing to report now is asked again after the next change', () => {
  first.open('a', SHOP)
  first.isOpen = false
  change(SHOP, 'one')
  pass(20)
  expect(first.received).toEqual([])
  first.isOpen = true
  change(SHOP, 'two')
  pass(20)
  expect(first.received).toEqual(['a two'])
})

test('outlets and services take turns, so that thousands of subscribers of one delay no other', () => {
  for (let count = 0; count < 1_000; count++) first.open(`many${count}`, SHOP)
  second.open('single', SHOP)
  first.open('other', OTHER)
  change(SHOP, 'one')
  change(OTHER, 'one')
  pass(20)
  expect(first.received).toHaveLength(1_001)
  expect(first.received.indexOf('other one')).toBeLessThan(65)
  expect(second.received).toEqual(['single one'])
})
