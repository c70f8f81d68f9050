import { array, assert, constantFrom, integer, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { Change } from '../../core/decisions/changes.ts'
import { address, ORDERS, registration } from '../../core/core.test-support.ts'
import { SERVICE_DEFAULTS } from '../../core/naming/state/service.ts'
import { usualPublisher } from '../../core/naming/state/instance.ts'
import { type SentSerials, SerialsOnDisk } from './serials-on-disk.ts'

/** Neighbours, and some that are far away. */
const SERIALS = [1, 2, 31, 32, 33, 63, 64, 4_095, 2 ** 31, 2 ** 40 + 5]

const anyChange = record({
  kind: constantFrom('service-saved', 'service-deleted', 'instance-saved', 'instance-removed'),
  serial: constantFrom(...SERIALS),
}).map(({ kind, serial }) => changeOf(kind, serial))

const anyEvent = oneof(
  { weight: 3, arbitrary: array(anyChange, { minLength: 1, maxLength: 4 }) },
  {
    weight: 2,
    arbitrary: record({ ends: constantFrom('written', 'failed'), at: integer({ min: 0, max: 2 }) }),
  },
  { weight: 1, arbitrary: constantFrom('restart' as const) },
)

function changeOf(kind: Change['kind'], serial: number): Change {
  const stamp = 1
  const about = { serviceKey: ORDERS, address: address(), serial, stamp }
  if (kind === 'service-saved')
    return { kind, service: { key: ORDERS, serial, madeBy: 'operator', ...SERVICE_DEFAULTS }, stamp }
  if (kind === 'service-deleted') return { kind, key: ORDERS, serial }
  if (kind === 'instance-removed') return { kind, ...about, reason: 'expired' }
  const { weight, enabled, metadata: registered, app } = registration()
  const publisher = usualPublisher(true)
  const instance = {
    address: address(),
    serial,
    ephemeral: true,
    publisher,
    weight,
    enabled,
    registered,
    app,
  }
  return {
    kind: 'instance-saved',
    serviceKey: ORDERS,
    serviceSerial: 1,
    record: instance,
    healthy: true,
    beat: true,
    stamp,
  }
}

/** The serials on disk, and the serials that a crash may find there, as plain sets. */
class Model {
  disk = new Set<number>()
  underway: Change[][] = []
  failed: Change[] = []

  write(changes: readonly Change[]): void {
    for (const change of changes) {
      const { serial, isSaved } = readOf(change)
      if (isSaved) this.disk.add(serial)
      else this.disk.delete(serial)
    }
    this.failed = []
  }

  mayHave(serial: number): boolean {
    const saved = [...this.underway.flat(), ...this.failed].map(readOf)
    return this.disk.has(serial) || saved.some((one) => one.isSaved && one.serial === serial)
  }
}

function readOf(change: Change): { serial: number; isSaved: boolean } {
  if (change.kind === 'service-saved') return { serial: change.service.serial, isSaved: true }
  if (change.kind === 'instance-saved') return { serial: change.record.serial, isSaved: true }
  return { serial: 'serial' in change ? change.serial : 0, isSaved: false }
}

test('a row that a commit removes, and the next commit saves again, may be on disk all the time', () => {
  const serials = new SerialsOnDisk()
  const [saves, removes] = [[changeOf('service-saved', 31)], [changeOf('service-deleted', 31)]]
  serials.written(serials.sent([saves]), [saves])
  const removing = serials.sent([removes])
  const saving = serials.sent([saves])
  serials.written(removing, [removes])
  expect([serials.surelyHas(31), serials.mayHave(31)]).toEqual([false, true])
  serials.written(saving, [saves])
  expect([serials.surelyHas(31), serials.mayHave(31)]).toEqual([true, true])
})

test('however commits end, it knows the rows on disk, and the rows that a crash may find', () => {
  assert(
    property(array(anyEvent, { maxLength: 40 }), (events) => {
      const model = new Model()
      let serials = new SerialsOnDisk()
      const sent: SentSerials[] = []
      for (const event of events) {
        if (event === 'restart') {
          // Commits underway or in doubt did not reach the disk.
          model.underway = []
          model.failed = []
          sent.splice(0)
          serials = new SerialsOnDisk()
          const found = [...model.disk].map((serial) => changeOf('service-saved', serial))
          const services = found.flatMap((change) =>
            change.kind === 'service-saved' ? [change.service] : [],
          )
          serials.loaded({ services, instances: [] })
        } else if (Array.isArray(event)) {
          model.underway.push(event)
          sent.push(serials.sent([event.slice(0, 1), event.slice(1)]))
        } else {
          const [changes] = model.underway.splice(event.at, 1)
          const [those] = sent.splice(event.at, 1)
          if (changes === undefined || those === undefined) continue
          if (event.ends === 'written') {
            model.write(changes)
            serials.written(those, [changes])
          } else {
            model.failed.push(...changes)
            serials.failed(those)
          }
        }
        expect(SERIALS.map((serial) => serials.surelyHas(serial))).toEqual(
          SERIALS.map((serial) => model.disk.has(serial)),
        )
        expect(SERIALS.map((serial) => serials.mayHave(serial))).toEqual(
          SERIALS.map((serial) => model.mayHave(serial)),
        )
      }
    }),
    { numRuns: 2_000 },
  )
})
