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
  registration,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { beat } from '../liveness/beat.ts'
import { MOVED_MS } from '../liveness/connection-processes.ts'
import { isMoved } from '../state/connection-publisher.ts'
import type { Publisher } from '../state/instance.ts'
import { importInstance, type ImportedInstance, keepMoved } from './import-naming.ts'

const CONNECTION: Publisher = { kind: 'connection', id: 'here/c1' }

let state: State
let alive: string[]
beforeEach(() => {
  state = livingState()
  alive = ['here']
})

function take(other: Partial<ImportedInstance> = {}, { overwrite = false, ms = 0 } = {}): string {
  const input = { ...registration(), ephemeral: true, healthy: true, ...other }
  return carryOut(state, importInstance(input, { overwrite, importer: 'here' }), at(ms)).outcome
}

const instance = () => state.instance(ORDERS, address())
const publisher = () => instance()!.record.publisher

/** How many instances must go at this time. */
function due(ms: number): number {
  const { processes } = livenessOf(state)
  processes.look(ms, { isAlive: (process) => alive.includes(process), isCertain: true })
  return processes.takeOrphans(ms, 10, () => true).length
}

describe('an ephemeral instance that is imported', () => {
  test('is listed as healthy as it was, and waits for its client', () => {
    expect(take({ healthy: false, metadata: { z: '1' }, weight: 3 })).toBe('taken')
    expect(instance()).toMatchObject({ healthy: false, record: { weight: 3, registered: { z: '1' } } })
    expect(isMoved(publisher())).toBe(true)
    expect(livenessOf(state).watched).toBe(0)
  })

  test('stays for five minutes while the process lives that has imported it', () => {
    take()
    expect([due(0), due(MOVED_MS - 1), due(MOVED_MS)]).toEqual([0, 0, 1])
  })

  test('stays for 40 s once that process is gone', () => {
    take()
    expect(due(250_000)).toBe(0)
    alive = ['another']
    expect([due(260_000), due(299_999), due(300_000)]).toEqual([0, 0, 1])
  })

  test('waits again for as long when it is imported once more', () => {
    take()
    expect(due(0)).toBe(0)
    expect(take({}, { ms: 200_000 })).toBe('unchanged')
    expect([due(MOVED_MS), due(MOVED_MS + 200_000)]).toEqual([0, 1])
  })

  test('is replaced by a later reading only where an import has left it', () => {
    take()
    expect([take({ weight: 2 }), take({ weight: 2 }, { overwrite: true })]).toEqual(['kept', 'taken'])
    expect(instance()?.record.weight).toBe(2)
  })

  test.each([
    ['sends beats', undefined],
    ['is connected', CONNECTION],
  ])('never takes the place of a client that %s here', (_name, of) => {
    registered(state, { publisher: of, weight: 2 })
    const before = publisher()
    expect(take({ weight: 2 }, { overwrite: true })).toBe('unchanged')
    expect(take({}, { overwrite: true })).toBe('kept')
    expect([publisher(), instance()?.record.weight]).toEqual([before, 2])
  })

  test('becomes the instance of a connection that registers it', () => {
    take()
    registered(state, { publisher: CONNECTION })
    expect([publisher(), due(MOVED_MS)]).toEqual([CONNECTION, 0])
  })

  test('becomes the instance of a client that beats, which must beat from then on', () => {
    take({ healthy: false, weight: 3 })
    const result = beat(beatPartsOf(state), { serviceKey: ORDERS, ...address(), fingerprint: 'f' }, at(1_000))
    expect(result).toMatchObject({ kind: 'renewed', healed: [], moved: [instance()] })
    // The same request must be read again: it has still to keep the instance.
    expect(livenessOf(state).find('f')).toBeUndefined()
    carryOut(state, keepMoved({ serviceKey: ORDERS, address: address() }), at(1_000))
    expect(instance()).toMatchObject({
      healthy: true,
      record: { weight: 3, publisher: { kind: 'beats' } },
    })
    expect(due(MOVED_MS)).toBe(0)
    expect(livenessOf(state).sweep(at(31_000), () => true)).toMatchObject([
      { kind: 'instance-removed' },
      { kind: 'record-saved' },
    ])
  })
})

test('a beat keeps nothing that was not imported', () => {
  registered(state, { publisher: CONNECTION })
  const place = { serviceKey: ORDERS, address: address() }
  for (const one of [place, { ...place, address: address({ port: 9 }) }])
    carryOut(state, keepMoved(one), at(0))
  expect(publisher()).toEqual(CONNECTION)
})
