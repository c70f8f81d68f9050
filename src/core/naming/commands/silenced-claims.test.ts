import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  beatPartsOf,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  registered,
  swept,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { beat } from '../liveness/beat.ts'
import { GOODBYE_MS } from '../liveness/goodbyes.ts'
import { connectionPublisher } from '../state/connection-publisher.ts'
import type { Instance } from '../state/service-entry.ts'
import { REMEMBERED_METADATA } from '../state/remembered-metadata.ts'
import { forgetExpiredMetadata } from './housekeeping.ts'
import { deregisterInstance, modifyInstance } from './instance-commands.ts'
import type { RegisterInstance } from './register-instance.ts'
import { replaceInstances } from './replace-instances.ts'

const FULL = { weight: 5, enabled: false, metadata: { zone: 'a' }, app: 'shop' }
const publisher = connectionPublisher({ process: 'here', connectionId: '1' })
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
/** When silence has ended the registration over HTTP. */
const SILENT_MS = 30_000

let state: State
beforeEach(() => void (state = livingState('here')))

function connects(ms = 0): void {
  registered(state, { publisher, weight: 7 }, at(ms))
}

/** The connection has the address no longer. */
function leaves(ms: number, isGoodbye = false): void {
  const replacement = { instances: [], leaving: [address()], takesOver: true, isGoodbye }
  carryOut(state, replaceInstances({ serviceKey: ORDERS, publisher, ...replacement }), at(ms))
}

function deletes(ms: number, kind: 'kept' | 'removed' = 'kept'): void {
  const silencedAt = (nowMs: number) =>
    livenessOf(state).silencedPlace({ serviceKey: ORDERS, ...address() }, nowMs)
  const command = deregisterInstance(target, () => kind, silencedAt)
  carryOut(state, command, at(ms))
}

function lightBeat(ms: number): string {
  return beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, at(ms)).kind
}

function fullBeat(ms: number): Instance {
  return registered(state, { isBeat: true }, at(ms))
}

type Story = (http: Partial<RegisterInstance>) => void

const STORIES: readonly (readonly [what: string, story: Story])[] = [
  [
    'while it waited for a connection',
    (http) => {
      registered(state, http)
      connects()
      swept(state, SILENT_MS)
    },
  ],
  [
    'and the connection took over',
    (http) => {
      connects()
      registered(state, http)
      swept(state, SILENT_MS)
    },
  ],
  [
    'before the connection came',
    (http) => {
      registered(state, http)
      swept(state, SILENT_MS)
      connects(SILENT_MS)
    },
  ],
]

describe.each(STORIES)('a registration over HTTP that silence has ended %s', (_what, story) => {
  const isOfConnection = () => expect(state.instance(ORDERS, address())!.record).toMatchObject({ publisher })

  test.each([
    ['closed', false],
    ['deregistered', true],
  ] as const)('comes back as it was by a beat, soon after the connection has %s', (_how, isGoodbye) => {
    story(FULL)
    isOfConnection()
    leaves(SILENT_MS + 1, isGoodbye)
    expect(lightBeat(SILENT_MS + 2)).toBe('unknown')
    const { registered: metadata, ...record } = fullBeat(SILENT_MS + 3).record
    expect(record).toMatchObject({ weight: 5, enabled: false, app: 'shop', publisher: { kind: 'beats' } })
    expect(metadata).toEqual(FULL.metadata)
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
  })

  test('comes back so after a beat that found the connection, which makes no claim', () => {
    story(FULL)
    expect(lightBeat(SILENT_MS + 1)).toBe('renewed')
    expect(fullBeat(SILENT_MS + 1).record.claims).toBeUndefined()
    connects(SILENT_MS + 2)
    leaves(SILENT_MS + 3)
    expect(fullBeat(SILENT_MS + 4).record).toMatchObject({ weight: 5 })
  })

  test('comes back offline where an operator has set it, and the connection has not ended that', () => {
    story(FULL)
    const patch = { weight: 2, enabled: true, metadata: undefined, maxMetadataBytes: 100 }
    carryOut(state, modifyInstance(target, patch), at(SILENT_MS))
    leaves(SILENT_MS + 1)
    expect(fullBeat(SILENT_MS + 2).record).toMatchObject({ weight: 2, enabled: true })
  })

  test('is bare, and comes back at once too', () => {
    story({})
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
    leaves(SILENT_MS + 1)
    expect(lightBeat(SILENT_MS + 2)).toBe('unknown')
  })

  test.each([
    ['has the address', (ms: number) => deletes(ms), (ms: number) => leaves(ms)],
    ['has closed', (ms: number) => leaves(ms), (ms: number) => deletes(ms)],
    ['has a server that is gone', (ms: number) => deletes(ms, 'removed'), () => undefined],
  ] as const)(
    'is forgotten by its DELETE while the connection %s, and that is a goodbye',
    (_when, first, second) => {
      for (const http of [FULL, {}]) {
        state = livingState('here')
        story(http)
        first(SILENT_MS + 1)
        second(SILENT_MS + 2)
        expect(lightBeat(SILENT_MS + 3)).toBe('left')
        expect(lightBeat(SILENT_MS + 2 + GOODBYE_MS)).toBe('unknown')
        expect(fullBeat(SILENT_MS + 2 + GOODBYE_MS).record).toMatchObject({ weight: 1, registered: {} })
        expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
      }
    },
  )

  test('is replaced by a registration, and then its goodbye counts', () => {
    story(FULL)
    registered(state, { weight: 3 }, at(SILENT_MS + 1))
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
    connects(SILENT_MS + 2)
    deletes(SILENT_MS + 3)
    leaves(SILENT_MS + 4)
    expect(lightBeat(SILENT_MS + 5)).toBe('left')
    deletes(SILENT_MS + 6)
    expect([lightBeat(SILENT_MS + 3 + GOODBYE_MS), state.recordCount(REMEMBERED_METADATA)]).toEqual([
      'unknown',
      0,
    ])
  })

  test('is forgotten when the time of metadata ends, which begins with the end of the connection', () => {
    story(FULL)
    const forget = (beforeMs: number): void => {
      for (const command of forgetExpiredMetadata(livenessOf(state), beforeMs))
        carryOut(state, command, at(beforeMs))
    }
    forget(90_000)
    leaves(90_000)
    forget(89_999)
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(1)
    forget(90_000)
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
  })
})
