import { describe, expect, test } from 'vitest'
import { BEATS, type InstanceRecord } from '../../core/naming/instance.ts'
import { temporaryDatabase } from './database.test-support.ts'
import { goneLine, healthLine, instanceOfLine, lineText, savedLine } from './instance-lines.ts'
import { InstanceLog } from './instance-log.ts'

const connection = temporaryDatabase()

/** What is known of instances, by serial: the text of their record and their health. */
type Known = Map<number, { readonly app: string; readonly healthy: boolean }>

function recordOf(serial: number, more: Partial<InstanceRecord> = {}): InstanceRecord {
  const address = { ip: '10.0.0.1', port: serial, cluster: 'DEFAULT' }
  const kind = { ephemeral: true, publisher: BEATS }
  return { address, serial, ...kind, weight: 1, enabled: true, registered: {}, app: 'a', ...more }
}

function append(log: InstanceLog, ...lines: readonly string[]): void {
  log.begin()
  connection().transaction(() => log.append(lines.join('')))
}

/** What a start would find. */
function found(log = new InstanceLog(connection())): Known {
  const instances = [...log.load()].flat().map((line) => instanceOfLine(lineText(line)))
  return new Map(instances.map(({ record, healthy }) => [record.serial, { app: record.app, healthy }]))
}

function linesInFile(): number {
  return connection().number(
    "SELECT sum(length(CAST(lines AS TEXT)) - length(replace(CAST(lines AS TEXT), char(10), ''))) FROM instance",
  )
}

/** Numbers that look like chance and are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % below
  }
}

describe('the log of instances', () => {
  test('gives what was written last, whatever is cleaned away meanwhile and whichever commits fail', () => {
    const next = numbers(7)
    const known: Known = new Map()
    let log = new InstanceLog(connection(), undefined, 2_000)
    for (let commit = 0; commit < 1_500; commit++) {
      const after: Known = new Map(known)
      const lines = Array.from({ length: 1 + next(30) }, () => change(after, next))
      const fails = commit % 7 === 3
      log.begin()
      try {
        connection().transaction(() => {
          log.append(lines.join(''))
          if (fails) throw new Error('on purpose')
        })
      } catch {
        log.undo()
      }
      if (fails) continue
      known.clear()
      for (const [serial, one] of after) known.set(serial, one)
      if (commit % 50 > 0) continue
      expect(found(), `after ${commit} commits`).toEqual(known)
      if (commit % 100 === 0) log = new InstanceLog(connection(), undefined, 2_000)
    }
    expect(found()).toEqual(known)
  })

  test.each([
    ['short records', {}, 500],
    ['long records', { app: 'x'.repeat(7_000) }, 100],
    ['persistent instances', { ephemeral: false }, 500],
    ['short records, one a commit', {}, 1],
  ])('keeps a few times as much as there is of %s', (_, more, perCommit) => {
    const log = new InstanceLog(connection(), undefined, 50_000)
    const next = numbers(3)
    const bytesOf = (serial: number) => savedLine(recordOf(serial, more), 7, true).length
    const live = new Map<number, number>()
    for (let commit = 0; commit < 30_000 / Math.max(perCommit, 25); commit++) {
      const serials = Array.from({ length: perCommit }, () => 1 + next(300))
      append(log, ...serials.map((serial) => savedLine(recordOf(serial, more), 7, true)))
      for (const serial of serials) live.set(serial, bytesOf(serial))
    }
    const bytes = connection().number('SELECT sum(length(lines)) FROM instance')
    expect(found().size).toBe(live.size)
    expect(bytes).toBeLessThan(4 * [...live.values()].reduce((sum, one) => sum + one, 0) + 400_000)
  })

  test('keeps nothing of instances that have gone but a few lines', () => {
    const log = new InstanceLog(connection(), undefined, 10_000)
    for (let serial = 1; serial <= 20_000; serial += 100) {
      const serials = Array.from({ length: 100 }, (_, at) => serial + at)
      append(log, ...serials.map((one) => savedLine(recordOf(one), 7, true)))
      append(log, ...serials.map(goneLine))
    }
    expect(found().size).toBe(0)
    expect(linesInFile()).toBeLessThan(3_000)
  })

  test('gives a persistent instance a row of its own, so that damage takes no other one along', () => {
    const lines = [1, 2, 3].map((serial) => savedLine(recordOf(serial, { ephemeral: serial !== 2 }), 7, true))
    append(new InstanceLog(connection()), ...lines)
    const rows = connection().all('SELECT CAST(lines AS TEXT) FROM instance ORDER BY id')
    expect(rows.flat()).toEqual(lines)
  })

  test('fills pages of the file, and takes a record of any length', () => {
    const log = new InstanceLog(connection())
    const app = 'ü'.repeat(50_000)
    append(log, ...Array.from({ length: 2_000 }, (_, at) => savedLine(recordOf(at + 1), 7, true)))
    append(log, savedLine(recordOf(5_000, { app }), 7, true))
    const [longest, rows] = connection().first('SELECT max(length(lines)), count(*) FROM instance') ?? []
    expect(Number(longest)).toBeGreaterThan(100_000)
    expect(Number(rows)).toBeLessThan(20)
    expect(found().get(5_000)?.app).toBe(app)
  })

  test('leaves a damaged row where it is, and goes on', () => {
    const damage: string[] = []
    const log = new InstanceLog(connection(), ({ message }) => void damage.push(message), 10)
    append(log, savedLine(recordOf(1), 7, true))
    connection().exec("UPDATE instance SET lines = CAST('e 1 7 0 []' || char(10) AS BLOB)")
    append(log, healthLine(1, false))
    for (let commit = 0; commit < 400; commit++)
      append(log, ...[2, 3].map((serial) => savedLine(recordOf(serial, { app: 'x'.repeat(900) }), 7, true)))
    expect(connection().number('SELECT min(id) FROM instance')).toBe(1)
    expect(damage).toEqual([expect.stringMatching(/^The row 1 of the table instance is damaged/)])
    expect(() => found()).toThrow(/The row 1 of the table instance is damaged/)
  })

  test('moves nothing where nothing is superseded, however small', () => {
    const log = new InstanceLog(connection(), undefined, 1_000)
    for (let from = 1; from < 4_000; from += 500) {
      const serials = Array.from({ length: 500 }, (_, at) => from + at)
      append(
        log,
        ...serials.map((serial) => savedLine(recordOf(serial, { ephemeral: false, app: '' }), 7, true)),
      )
    }
    expect(connection().first('SELECT min(id), max(id) FROM instance')).toEqual([1, 4_000])
  })

  test('notices while it cleans that a row is gone', () => {
    const damage: string[] = []
    const log = new InstanceLog(connection(), ({ message }) => void damage.push(message), 10)
    const change = () => append(log, savedLine(recordOf(1, { app: 'x'.repeat(5_000) }), 7, true))
    for (let commit = 0; commit < 5; commit++) change()
    connection().exec('DELETE FROM instance WHERE id = 2')
    for (let commit = 0; commit < 100; commit++) change()
    expect(damage).toEqual([
      expect.stringContaining('The row 2 of the table instance is damaged: it is missing.'),
    ])
    expect(connection().number('SELECT min(id) FROM instance')).toBe(1)
    expect(() => append(new InstanceLog(connection()), goneLine(1))).toThrow(
      /store is not available: The row 2/,
    )
  })

  test('misses a row that is gone', () => {
    const log = new InstanceLog(connection())
    for (const serial of [1, 2, 3, 4, 5]) append(log, savedLine(recordOf(serial), 7, true))
    connection().exec('DELETE FROM instance WHERE id IN (2, 3)')
    expect(() => found()).toThrow(
      /The row 2 of the table instance is damaged: it is missing, and all after it up to 3\./,
    )
  })

  test('removes instances by itself, and not those that cannot be', () => {
    const log = new InstanceLog(connection())
    append(log, ...[1, 2, 3].map((serial) => savedLine(recordOf(serial), 7, true)))
    log.remove([1, 3])
    expect([...found().keys()]).toEqual([2])
    connection().exec('PRAGMA query_only = ON')
    expect(() => log.remove([2])).toThrow(/readonly|SQLITE/)
    connection().exec('PRAGMA query_only = OFF')
    append(log, healthLine(2, false))
    expect(found()).toEqual(new Map([[2, { app: 'a', healthy: false }]]))
  })
})

/** A change of some instance: its line, and what is known afterwards. */
function change(known: Known, next: (below: number) => number): string {
  const serial = 1 + next(60)
  const before = known.get(serial)
  switch (next(8)) {
    case 0:
    case 1:
      known.delete(serial)
      return goneLine(serial)
    case 2: {
      const healthy = next(2) === 0
      if (before !== undefined) known.set(serial, { ...before, healthy })
      return healthLine(serial, healthy)
    }
    default: {
      const healthy = [true, false, undefined][next(3)]
      const app = 'x'.repeat(next(next(20) === 0 ? 9_000 : 50))
      known.set(serial, { app, healthy: healthy ?? before?.healthy ?? true })
      return savedLine(recordOf(serial, { app, ephemeral: next(4) > 0 }), 7, healthy)
    }
  }
}
