import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Change } from '../../src/core/decisions/changes.ts'
import { type Command, synced } from '../../src/core/decisions/decision.ts'
import { SoleEngine } from '../../src/core/engine/sole-engine.ts'
import { Follower } from '../../src/core/engine/follower.ts'
import type { Store } from '../../src/core/engine/ports.ts'
import { defineRecordKind, recordRemoved, recordSaved } from '../../src/core/records/record-kind.ts'
import { fieldsOf } from '../../src/core/records/shape.ts'
import { Stamps, type Now } from '../../src/core/decisions/stamps.ts'
import { ChangeCounts } from '../../src/metrics/change-counts.ts'
import { diagnose, salvaged } from '../store-tools/damage.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'

// A new kind of small records, with its command. Nothing else in the project knows it.

interface Toy {
  readonly wheels: number
}

const TOY = defineRecordKind<Toy>('toy', (json) => {
  const { wheels } = fieldsOf(json)
  if (typeof wheels !== 'number' || wheels < 0) throw new Error('its wheels are not a number')
  return { wheels }
})

/** Adds a wheel to a toy; resolves with how many it has then. */
function addWheel(id: string): Command<number> {
  return {
    subject: `toy:${id}`,
    decide(view, { stamp }) {
      const wheels = (view.record(TOY, id)?.wheels ?? 0) + 1
      return synced([recordSaved(TOY, { id, value: { wheels }, stamp })], wheels)
    },
  }
}

function breakToy(id: string): Command<void> {
  return {
    subject: `toy:${id}`,
    decide: (_view, { stamp }) => synced([recordRemoved(TOY, id, stamp)], undefined),
  }
}

const log = { info() {}, warn() {}, error() {} }
const base = await mkdtemp(join(tmpdir(), 'waypost-toys-'))
const directory = join(base, 'data')

afterAll(() => rm(base, { recursive: true, force: true }))

/** A server that works on a directory, as far as records are concerned. */
async function startEngine(of = directory) {
  const store = await openEmbeddedStore({ directory: of, log })
  const stamps = new Stamps()
  const clock = (): Now => ({ wallMs: 1_795_000_000_000, healthMs: 0, stamp: stamps.next(1_795_000_000_000) })
  const counts = new ChangeCounts()
  const feed = { publishChanges: (changes: readonly Change[]) => changes.forEach(counts.onChange) }
  const follower = Follower.load(await store.load(), { clock, stamps, feed })
  const loop = { now: () => performance.now(), soon: setImmediate }
  const engine = new SoleEngine({ follower, store, clock, loop, report: () => {} })
  const toys = () => [...follower.state.records(TOY)]
  return { store, engine, toys, counts }
}

test('a kind that one file defines is decided, stored, found again and counted', async () => {
  const first = await startEngine()
  const { engine } = first
  const wheels = ['car', 'car', 'bike'].map(async (id) => engine.execute(addWheel(id)))
  expect(await Promise.all(wheels)).toEqual([1, 2, 1])
  await engine.execute(addWheel('kite'))
  await engine.execute(breakToy('kite'))
  expect(first.toys()).toEqual([
    ['car', { wheels: 2 }],
    ['bike', { wheels: 1 }],
  ])
  const [metric] = first.counts.metrics()
  const samples = metric?.read()
  expect(samples).toContainEqual([{ kind: 'toy-saved' }, 4])
  expect(samples).toContainEqual([{ kind: 'toy-removed' }, 1])
  await first.store.close()

  const second = await startEngine()
  expect(second.toys()).toEqual(first.toys())
  expect(await second.engine.execute(addWheel('bike'))).toBe(2)
  await second.store.close()
})

test('the doctor examines it, and a salvage copies it: what the kind cannot read is reported and left out', async () => {
  await using(
    async (store) =>
      void (await store.commit([[recordSaved(TOY, { id: 'sled', value: { wheels: -1 }, stamp: 0 })]])),
  )
  await expect(using(async (store) => void (await store.load()))).rejects.toThrow(
    'The record sled of the kind toy cannot be read: its wheels are not a number',
  )
  const { examination, target } = salvaged(directory)
  expect(examination.findings).toMatchObject([{ place: 'waypost.db, table record, toy sled' }])
  const engine = await startEngine(target)
  expect(engine.toys()).toEqual([
    ['car', { wheels: 2 }],
    ['bike', { wheels: 2 }],
  ])
  await engine.store.close()
  expect(diagnose(target!).counts.damage).toBe(0)
})

test('a version that does not know the kind refuses the directory, and says what to do', async () => {
  const written = join(base, 'written-later')
  await using(async (store) => {
    const later = { kind: 'record-saved', recordKind: 'later', id: 'a', value: 1, stamp: 0 } as const
    await store.commit([[later]])
  }, written)
  const refusal = /records of the kind later, which this version .* does not know.*later one/
  await expect(using(async (store) => void (await store.load()), written)).rejects.toThrow(refusal)
  expect(() => diagnose(written)).toThrow(refusal)
})

async function using(work: (store: Store) => Promise<void>, of = directory): Promise<void> {
  const store = await openEmbeddedStore({ directory: of, log })
  try {
    await work(store)
  } finally {
    await store.close()
  }
}
