import { expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import type { PushPacket, PushSender, PushTarget } from '../core/clients/push-sender.ts'
import {
  MAX_SILENT_PORTS,
  MAX_SUBSCRIPTIONS_OF_ADDRESS,
  MAX_VARIANTS_OF_SERVICE,
  PushRegistry,
} from './push-registry.ts'
import { PushOutlet, type Subscriber } from './push-outlet.ts'
import { ServiceWatch } from './service-watch.ts'

const LAPSE_MS = 15_000

/** A sender that notes its lists; a list of more than 1,000 bytes has no packet, `small` takes 100. */
class NotingSender implements PushSender {
  readonly sent: { port: number; clusters: string; list: string }[] = []
  packed = 0
  onSend: (target: PushTarget) => void = () => {}

  pack(answer: Buffer): PushPacket | undefined {
    this.packed++
    return answer.length > 1_000 ? undefined : { lastRefTime: this.packed, datagram: answer }
  }

  fits(target: PushTarget, bytes: number): boolean {
    return bytes <= (target.agent === 'small' ? 100 : Infinity)
  }

  send(target: PushTarget, packet: PushPacket): void {
    const [clusters = '', list = ''] = packet.datagram.toString().split('|')
    this.sent.push({ port: target.port, clusters, list })
    this.onSend(target)
  }

  counts() {
    return { sent: this.sent.length, acked: 0, resent: 0, failed: 0 }
  }
}

/** A server in miniature: the list of each service is a text; clock, timers and loop are moved by hand. */
function fixture() {
  const sender = new NotingSender()
  const lists = new Map<string, string>()
  const clock = { nowMs: 0 }
  const timers: { atMs: number; run: () => void }[] = []
  const waiting: (() => void)[] = []
  const server = { enabled: true }
  const loop = {
    now: () => clock.nowMs,
    soon: (run: () => void) => void waiting.push(run),
    after: (ms: number, run: () => void) => void timers.push({ atMs: clock.nowMs + ms, run }),
  }
  const pushes = new PushOutlet({
    sender,
    answerOf: ({ key, clusters, consumerIp = '' }) =>
      Buffer.from(`${clusters}|${lists.get(key.groupedName) ?? ''}${consumerIp}`),
    isPersonal: (key) => key.groupedName === 'g@@selected',
    loop,
    enabled: () => server.enabled,
    lapseMs: () => LAPSE_MS,
  })
  const watch = new ServiceWatch({ loop })
  watch.add(pushes)
  const runSlice = () => waiting.shift()?.()
  const runAll = () => {
    while (waiting.length > 0) runSlice()
  }
  const pass = (ms: number) => {
    clock.nowMs += ms
    for (const timer of timers.splice(0)) {
      if (timer.atMs <= clock.nowMs) timer.run()
      else timers.push(timer)
    }
    runAll()
  }
  const change = (list: string, service = 'g@@s') => {
    lists.set(service, list)
    watch.onChange(changeOf(service))
  }
  return { sender, clock, server, pushes, runSlice, pass, change, waiting, timers }
}

function changeOf(groupedName: string): Change {
  return { kind: 'instance-health-changed', serviceKey: { namespaceId: 'public', groupedName } } as Change
}

function subscriber(port: number, more: Partial<Subscriber> = {}): Subscriber {
  // Few ports of an address have acknowledged nothing.
  const address = `10.0.${Math.floor(port / MAX_SILENT_PORTS)}.1`
  const plain = { address, port, agent: 'large', app: '', clusters: '', format: 'svc' }
  return { ...plain, namespaceId: 'public', groupedName: 'g@@s', ...more }
}

test('a client gets no pushes while it may not read the service', () => {
  const { pushes, sender, change, pass } = fixture()
  let isAllowed = true
  pushes.subscribe({ ...subscriber(1), isAllowed: () => isAllowed })
  pushes.subscribe(subscriber(2))
  isAllowed = false
  change('one')
  pass(40)
  expect(sender.sent.map(({ port }) => port)).toEqual([2])
})

test('a change reaches the subscribers of its service within 50 ms, and no others', () => {
  const { pushes, pass, change, sender } = fixture()
  expect(pushes.subscribe(subscriber(1))).toBe(true)
  pushes.subscribe(subscriber(2, { groupedName: 'g@@other' }))
  pushes.subscribe(subscriber(3, { namespaceId: 'dev' }))
  change('one')
  pass(40)
  expect(sender.sent).toEqual([{ port: 1, clusters: '', list: 'one' }])
})

test('the changes of a burst are one push of the last state, and later changes do not delay it', () => {
  const { pushes, pass, change, sender } = fixture()
  pushes.subscribe(subscriber(1))
  for (let count = 1; count <= 60; count++) {
    change(String(count))
    pass(1)
  }
  pass(20)
  expect(sender.sent.map((each) => each.list)).toEqual(['20', '40', '60'])
})

test('a packet is built once for all subscribers with the same clusters text, and has that text', () => {
  const { pushes, pass, change, sender } = fixture()
  for (let port = 1; port <= 100; port++)
    pushes.subscribe(subscriber(port, { clusters: port % 2 ? 'b,a' : '' }))
  sender.packed = 0
  change('one')
  pass(20)
  expect(sender.packed).toBe(2)
  expect(sender.sent).toHaveLength(100)
  expect(sender.sent.every((each) => each.clusters === (each.port % 2 ? 'b,a' : ''))).toBe(true)
})

test('with a label selector, each subscriber gets its own list', () => {
  const { pushes, pass, change, sender } = fixture()
  pushes.subscribe(subscriber(1, { groupedName: 'g@@selected' }))
  pushes.subscribe(subscriber(2, { groupedName: 'g@@selected', consumerIp: '10.9.9.9' }))
  change('for ', 'g@@selected')
  pass(20)
  expect(sender.sent.map((each) => each.list)).toEqual(['for 10.0.0.1', 'for 10.9.9.9'])
})

test('while pushes are disabled, no client gets the longer cacheMillis and no push is sent', () => {
  const { pushes, pass, change, sender, server } = fixture()
  pushes.subscribe(subscriber(1))
  change('one')
  server.enabled = false
  pass(20)
  expect(sender.sent).toEqual([])
  expect(pushes.subscribe(subscriber(1))).toBe(false)
  server.enabled = true
  expect(pushes.subscribe(subscriber(1))).toBe(true)
  change('two')
  pass(20)
  expect(sender.sent.map((each) => each.list)).toEqual(['two'])
})

test('a subscription ends without new list requests, and lasts with them', () => {
  const { pushes, pass, change, sender, clock } = fixture()
  pushes.subscribe(subscriber(1))
  pushes.subscribe(subscriber(2))
  pass(LAPSE_MS - 1_000)
  pushes.subscribe(subscriber(2))
  pass(1_000)
  const key = { namespaceId: 'public', groupedName: 'g@@s' }
  expect(pushes.list(key).map((each) => each.port)).toEqual([2])
  change('one')
  pass(20)
  expect(sender.sent.map((each) => each.port)).toEqual([2])
  pushes.tick(clock.nowMs + 1_000)
  expect(pushes.counts().subscribers).toBe(1)
  pass(LAPSE_MS)
  pushes.tick(clock.nowMs + 1_000)
  expect(pushes.counts().subscribers).toBe(0)
  expect(pushes.list(key)).toEqual([])
})

test('a list that does not fit a datagram of the client is not pushed, until it fits', () => {
  const { pushes, pass, change, sender } = fixture()
  change('x'.repeat(500))
  expect(pushes.subscribe(subscriber(1))).toBe(true)
  expect(pushes.subscribe(subscriber(2, { agent: 'small' }))).toBe(false)
  change('y'.repeat(600))
  pass(20)
  expect(sender.sent.map((each) => each.port)).toEqual([1])
  expect(pushes.counts().tooLarge).toBe(1)
  change('z'.repeat(2_000))
  pass(20)
  expect(pushes.subscribe(subscriber(1))).toBe(false)
  expect(sender.sent).toHaveLength(1)
  change('short')
  pass(20)
  expect(sender.sent.slice(1).map((each) => each.port)).toEqual([1, 2])
  expect(pushes.subscribe(subscriber(2, { agent: 'small' }))).toBe(true)
})

test('a client that never acks gets no push until its next list request, and the short cacheMillis until it acks', () => {
  const { pushes, pass, change, sender, clock } = fixture()
  const targets: PushTarget[] = []
  sender.onSend = (target) => void targets.push(target)
  pushes.subscribe(subscriber(1))
  change('one')
  pass(20)
  const target = targets[0] as PushTarget
  target.silentSinceMs = clock.nowMs
  change('two')
  pass(20)
  expect(sender.sent).toHaveLength(1)
  expect(pushes.subscribe(subscriber(1))).toBe(false)
  change('three')
  pass(20)
  expect(sender.sent.map((each) => each.list)).toEqual(['one', 'three'])
  target.silentSinceMs = undefined
  expect(pushes.subscribe(subscriber(1))).toBe(true)
})

test('thousands of subscribers are served in slices of at most 10 ms, and other services have their turn', () => {
  const { pushes, clock, change, sender, waiting, runSlice, timers } = fixture()
  for (let port = 1; port <= 10_000; port++) pushes.subscribe(subscriber(port))
  pushes.subscribe(subscriber(1, { groupedName: 'g@@other' }))
  sender.onSend = () => {
    clock.nowMs += 0.015
  }
  change('one')
  change('small', 'g@@other')
  for (const timer of timers.splice(0)) timer.run()
  let longestMs = 0
  while (waiting.length > 0) {
    const startedMs = clock.nowMs
    runSlice()
    longestMs = Math.max(longestMs, clock.nowMs - startedMs)
  }
  expect(longestMs).toBeLessThan(10)
  expect(sender.sent).toHaveLength(10_001)
  expect(sender.sent.findIndex((each) => each.list === 'small')).toBeLessThan(100)
})

test('a change during a push is in the remaining datagrams, and the others get it with the next push', () => {
  const { pushes, clock, change, sender, timers, runSlice, pass } = fixture()
  for (let port = 1; port <= 2_000; port++) pushes.subscribe(subscriber(port))
  sender.onSend = () => {
    clock.nowMs += 0.01
  }
  change('one')
  for (const timer of timers.splice(0)) timer.run()
  runSlice()
  const early = sender.sent.length
  change('two')
  pass(100)
  expect(early).toBeLessThan(2_000)
  const last = new Map(sender.sent.map((each) => [each.port, each.list]))
  expect(last.size).toBe(2_000)
  expect([...last.values()].every((list) => list === 'two')).toBe(true)
  expect(sender.sent).toHaveLength(2_000 + early)
})

test('a service with very many subscribers is pushed less often', () => {
  const { pushes, clock, change, sender, pass } = fixture()
  pushes.subscribe(subscriber(1))
  sender.onSend = () => {
    clock.nowMs += 80
  }
  change('one')
  pass(20)
  change('two')
  pass(50)
  expect(sender.sent).toHaveLength(1)
  pass(30)
  expect(sender.sent).toHaveLength(2)
})

test('an address gets pushes at few ports until it acknowledges one', () => {
  const { pushes, sender, change, pass } = fixture()
  const onHost = (port: number) => pushes.subscribe(subscriber(port, { address: '10.9.9.9' }))
  const granted = Array.from({ length: MAX_SILENT_PORTS + 5 }, (_, port) => onHost(port))
  expect(granted.filter(Boolean)).toHaveLength(MAX_SILENT_PORTS)
  expect(granted.slice(MAX_SILENT_PORTS)).toEqual(Array(5).fill(false))
  // Ports that are there may subscribe to more, and other addresses have their own.
  const more = { address: '10.9.9.9', groupedName: 'g@@other' }
  expect(pushes.subscribe(subscriber(1, more))).toBe(true)
  expect(pushes.subscribe(subscriber(1))).toBe(true)
  let target: PushTarget | undefined
  sender.onSend = (pushed) => (target ??= pushed)
  change('one')
  pass(40)
  expect(sender.sent).toHaveLength(MAX_SILENT_PORTS + 1)
  target!.lastAckMs = 40
  expect([onHost(1_000), onHost(1_001)]).toEqual([true, false])
  expect(onHost(1_000)).toBe(true)
})

test('ports of an address are forgotten with their subscriptions', () => {
  const registry = new PushRegistry(() => LAPSE_MS)
  const onHost = (port: number, nowMs: number) =>
    registry.refresh(subscriber(port, { address: '10.9.9.9' }), nowMs)
  for (let port = 0; port < MAX_SILENT_PORTS; port++) expect(onHost(port, 0)).toBeDefined()
  expect(onHost(1_000, 0)).toBeUndefined()
  registry.tick(LAPSE_MS + 1_000)
  expect(onHost(1_000, LAPSE_MS + 2_000)).toBeDefined()
})

test('subscriptions are limited per address, and clusters texts per service', () => {
  const registry = new PushRegistry(() => LAPSE_MS)
  for (let number = 0; number < MAX_SUBSCRIPTIONS_OF_ADDRESS; number++) {
    registry.refresh(subscriber(1, { groupedName: `g@@s${number}` }), 0)
  }
  expect(registry.refresh(subscriber(1), 0)).toBeUndefined()
  expect(registry.refresh(subscriber(1, { groupedName: 'g@@s0' }), 0)).toBeDefined()
  for (let number = 0; number < MAX_VARIANTS_OF_SERVICE; number++) {
    expect(registry.refresh(subscriber(1, { address: '10.0.0.2', clusters: `c${number}` }), 0)).toBeDefined()
  }
  expect(registry.refresh(subscriber(1, { address: '10.0.0.2' }), 0)).toBeUndefined()
  registry.tick(LAPSE_MS + 1_000)
  expect(registry.size).toBe(0)
  expect(registry.refresh(subscriber(1), LAPSE_MS + 2_000)).toBeDefined()
})
