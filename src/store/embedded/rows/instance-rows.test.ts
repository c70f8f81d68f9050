import { describe, expect, test } from 'vitest'
import { BEATS, type InstanceRecord } from '../../../core/naming/state/instance.ts'
import { CommitWriter } from '../worker/commit.ts'
import { commitPartsOf, temporaryDatabase } from '../worker/database.test-support.ts'
import { instanceOfText, instanceText } from './instance-text.ts'
import { loadBatches } from '../worker/load.ts'
import type { CommitOutcome, Write } from './messages.ts'

const connection = temporaryDatabase()
const SERVICE = 7

/** The known instances, by serial. */
type Known = Map<number, { readonly app: string; readonly healthy: boolean }>

function recordOf(serial: number, app = 'a'): InstanceRecord {
  const address = { ip: '10.0.0.1', port: serial, cluster: 'DEFAULT' }
  const kind = { ephemeral: true, publisher: BEATS }
  return { address, serial, ...kind, weight: 1, enabled: true, registered: {}, app }
}

function saved(serial: number, app?: string, healthy?: boolean): Write {
  return ['instance', serial, SERVICE, healthy, instanceText(recordOf(serial, app))]
}

function commit(...groups: Write[][]): CommitOutcome {
  const ends: number[] = []
  for (const writes of groups) ends.push((ends.at(-1) ?? 0) + writes.length)
  const batch = { writes: groups.flat(), ends, contents: new ArrayBuffer(0), events: [], revision: 1 }
  return new CommitWriter(connection(), commitPartsOf(connection())).commit(batch)
}

function saveService(): void {
  commit([['put', 'service', [SERVICE, 'public', 'g@@s', 0, 'operator', '{}', '{}', '{}', 1]]])
}

/** The instances that a start loads. */
function found(): Known {
  const known: Known = new Map()
  for (const batch of loadBatches(connection())) {
    for (const [serial, , healthy, text] of batch.kind === 'instances' ? batch.rows : []) {
      const { app } = instanceOfText(Number(serial), String(text))
      known.set(Number(serial), { app, healthy: healthy === 1 })
    }
  }
  return known
}

/** Numbers that look random and are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % below
  }
}

describe('the rows of instances', () => {
  test('are the rows of the last successful write, for any failing commits', () => {
    saveService()
    const next = numbers(7)
    let known: Known = new Map()
    for (let round = 0; round < 400; round++) {
      const after: Known = new Map(known)
      const groups = Array.from({ length: 1 + next(30) }, () => [randomWrite(after, next)])
      if (round % 7 === 3) {
        groups.push([['put', 'record', [Symbol('unstorable') as never, '', '']]])
        expect(commit(...groups)).toMatchObject({ failedGroup: groups.length - 1 })
      } else {
        expect(commit(...groups)).toBeUndefined()
        known = after
      }
      if (round % 20 === 0) expect(found(), `after round ${round}`).toEqual(known)
    }
    expect(found()).toEqual(known)
  })

  test('are as before when the disk was full, and the same commit succeeds later', () => {
    saveService()
    commit([saved(1), saved(2)])
    const writes = Array.from({ length: 200 }, (_, at) => saved(at + 2, 'x'.repeat(5_000)))
    connection().exec('PRAGMA max_page_count = 40')
    expect(() => commit(writes)).toThrow('disk of its data directory is full')
    expect(found().get(2)).toEqual({ app: 'a', healthy: true })
    connection().exec('PRAGMA max_page_count = 1000000')
    expect(commit(writes)).toBeUndefined()
    expect(found().size).toBe(201)
  })

  test('take a record of any length', () => {
    saveService()
    const app = 'ü'.repeat(100_000)
    commit([saved(1), saved(2, app), saved(3)])
    expect(found().get(2)?.app).toBe(app)
  })

  test('do not let the file grow when they are replaced often', () => {
    saveService()
    const pages: number[] = []
    for (let round = 0; round < 30; round++) {
      const serials = Array.from({ length: 500 }, (_, at) => round * 500 + at)
      commit(serials.map((serial) => saved(serial)))
      commit(serials.map((serial) => ['instance-gone', serial]))
      pages.push(connection().number('PRAGMA page_count'))
    }
    expect(found().size).toBe(0)
    expect(pages.at(-1)).toBe(pages[1])
  })

  test.each([
    ['the first row', 'DELETE FROM instance WHERE serial = 1'],
    ['a row in the middle', 'DELETE FROM instance WHERE serial = 50'],
    ['the last row', 'DELETE FROM instance WHERE serial = 100'],
    ['all rows', 'DELETE FROM instance'],
    ['the totals', "DELETE FROM meta WHERE name = 'instance_totals'"],
  ])('are noticed as missing by a start if %s is lost', (_, sql) => {
    saveService()
    commit(Array.from({ length: 100 }, (_none, at) => saved(at + 1)))
    expect(found().size).toBe(100)
    connection().exec(sql)
    expect(() => found()).toThrow(/The table instance is damaged: it has \d+ rows.*waypost doctor/)
  })

  test('are missed by a start if one is older than the last change of it', () => {
    saveService()
    commit([saved(1, 'old'), saved(2)])
    connection().exec('CREATE TABLE old AS SELECT * FROM instance WHERE serial = 1')
    commit([saved(1, 'new')])
    connection().exec('INSERT OR REPLACE INTO instance SELECT * FROM old')
    expect(() => found()).toThrow('it has 2 rows, and some are not those that were written last')
  })

  test('are removed by a start if their service is gone, and the next start finds nothing wrong', () => {
    saveService()
    commit([saved(1), ['instance', 2, 99, true, instanceText(recordOf(2))]])
    const settled = [...loadBatches(connection())].at(-1)
    expect(settled).toMatchObject({ kind: 'settled', orphans: 1 })
    expect([...found().keys()]).toEqual([1])
    expect([...loadBatches(connection())].at(-1)).toMatchObject({ orphans: 0 })
  })

  test('refuse a change of the health of a damaged one, and take the other changes', () => {
    saveService()
    commit([saved(1), saved(2)])
    connection().exec("UPDATE instance SET record = '[]' WHERE serial = 1")
    const outcome = commit([saved(2, 'b')], [['instance-health', 1, false]])
    expect(outcome).toMatchObject({
      failedGroup: 1,
      error: expect.stringContaining('The row 1 of the table instance'),
    })
    expect(commit([saved(2, 'b')])).toBeUndefined()
    // A whole new record mends it.
    expect(commit([saved(1, 'c', true)])).toBeUndefined()
    expect([...found().values()].map(({ app }) => app)).toEqual(['c', 'b'])
  })
})

/** A random change of an instance; updates `known`. */
function randomWrite(known: Known, next: (below: number) => number): Write {
  const serial = 1 + next(60)
  const before = known.get(serial)
  switch (next(8)) {
    case 0:
    case 1:
      known.delete(serial)
      return ['instance-gone', serial]
    case 2: {
      const healthy = next(2) === 0
      if (before !== undefined) known.set(serial, { ...before, healthy })
      return ['instance-health', serial, healthy]
    }
    default: {
      const healthy = [true, false, undefined][next(3)]
      const app = 'x'.repeat(next(next(20) === 0 ? 9_000 : 50))
      known.set(serial, { app, healthy: healthy ?? before?.healthy ?? true })
      return saved(serial, app, healthy)
    }
  }
}
