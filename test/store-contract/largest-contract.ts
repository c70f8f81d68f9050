import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { removeRole, removeUser } from '../../src/core/access/access-commands.ts'
import { ADMINISTRATOR_ROLE, ROLE_PERMISSION, USER, USER_ROLE } from '../../src/core/access/access-records.ts'
import { MOST_ITEM_CHARACTERS } from '../../src/core/audit/audit-event.ts'
import type { ConfigItem } from '../../src/core/config/state/config-item.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import type { RecordView } from '../../src/core/records/record-tables.ts'
import { firstStampOf } from '../../src/core/decisions/stamps.ts'
import type { ContractStore, StateStore, StoreBench } from './contract-store.ts'
import { LARGEST } from './largest-commands.ts'
import { LONG } from './largest-naming-commands.ts'
import { published, sampleEvent, sampleKey, START_MS } from './samples.ts'

/** Contents of which each has chunks of its own. */
const LARGE = 'l'.repeat(300 * 1024)
const VERSIONS = 45
const CORE = fileURLToPath(new URL('../../src/core', import.meta.url))

/** The functions of core that make commands: they say so by their type. */
function commandMakers(): string[] {
  const files = readdirSync(CORE, { recursive: true, encoding: 'utf8' })
    // The file of decisions has what all commands are made of.
    .filter((file) => !file.endsWith(join('decisions', 'decision.ts')))
    .filter((file) => file.endsWith('.ts') && !/\.test(-support)?\.ts$/.test(file))
    .map((file) => join(CORE, file))
  return files.flatMap((file) => {
    const code = readFileSync(file, 'utf8')
    const names: string[] = []
    new Visitor({
      ExportNamedDeclaration({ declaration }) {
        if (declaration?.type !== 'FunctionDeclaration' || !declaration.returnType || !declaration.id) return
        const { start, end } = declaration.returnType
        if (/\bCommand</.test(code.slice(start, end))) names.push(declaration.id.name)
      },
    }).visit(parseSync(file, code).program)
    return names
  })
}

/** A single write of a store is limited: every command has a size that always fits. */
export function largestContract(bench: StoreBench<StateStore>): void {
  test('every command of core has its largest case', () => {
    const makers = commandMakers()
    expect(makers.length).toBeGreaterThan(40)
    expect(Object.keys(LARGEST).sort()).toEqual([...makers].sort())
  })

  describe('at its largest', () => {
    test.each(Object.entries(LARGEST))('%s is carried out', async (_name, { before, prepare, run, done }) => {
      let store = await bench.fresh()
      if (before !== undefined) {
        await store.write(...before)
        store = await bench.reopen(store)
      }
      const server = await store.serve()
      await prepare?.(server)
      await run(server)
      if (done !== undefined) expect(done(server)).toBe(true)
      await server.engine.close()
    })
  })
}

/** The commands that are done in parts, and the state after each part: a crash leaves that state. */
const IN_PARTS: readonly [
  name: keyof typeof LARGEST,
  command: () => Command<boolean>,
  isSafe: (state: RecordView) => boolean,
][] = [
  [
    'removeUser',
    () => removeUser('ann'),
    (state) => {
      const roles = Array.from(state.records(USER_ROLE), ([, role]) => role)
      const own = roles.filter(({ username }) => username === 'ann').map(({ role }) => role)
      return (
        !own.includes(ADMINISTRATOR_ROLE) && (own.length === 0 || state.record(USER, 'ann') !== undefined)
      )
    },
  ],
  [
    'removeRole',
    () => removeRole(LONG, undefined),
    (state) => [...state.records(USER_ROLE)].length > 0 || [...state.records(ROLE_PERMISSION)].length === 0,
  ],
]

/** A crash between the parts of a command leaves nobody with rights of somebody else. */
export function partsContract(bench: StoreBench<StateStore>): void {
  test.each(IN_PARTS)('a crash between the parts of %s leaves no right behind', async (...of) => {
    const [name, command, isSafe] = of
    let store = await bench.fresh()
    await store.write(...LARGEST[name]!.before!)
    store = await bench.reopen(store)
    for (let hasMore = true, parts = 0; hasMore; parts++) {
      const { engine } = await store.serve()
      hasMore = await engine.execute(command())
      store = await bench.crash(store)
      const { state } = await store.serve()
      expect([parts, isSafe(state)]).toEqual([parts, true])
      if (!hasMore) expect(parts).toBeGreaterThan(0)
    }
    expect(LARGEST[name]!.done!(await store.serve())).toBe(true)
  })
}

/** The jobs at their largest: what a store keeps besides the state is written and removed in parts too. */
export function largestJobsContract(bench: StoreBench<ContractStore>): void {
  test('many events of the audit with the longest names are saved and cleaned', async () => {
    const { kept } = await bench.fresh()
    const events = Array.from({ length: 1_000 }, (_, index) =>
      sampleEvent({ id: firstStampOf(START_MS) + index, item: '\u4f60'.repeat(MOST_ITEM_CHARACTERS) }),
    )
    await kept.saveAudit(events)
    const limit = { beforeMs: START_MS + 1e9, keep: 0, keepRefused: 0, most: 10_000 }
    let removed = 0
    for (let more = true; more;) {
      const step = await kept.cleanAudit(limit)
      removed += step.removed
      more = step.more
    }
    expect(removed).toBeGreaterThanOrEqual(events.length - 1)
  })

  test('a long history of large contents is cleaned', async () => {
    const store = await bench.fresh()
    const key = sampleKey('large')
    let previous: ConfigItem | undefined
    for (let version = 0; version < VERSIONS; version++) {
      const change = published(key, { content: LARGE + version, previous })
      await store.write(change)
      previous = change.item
    }
    let removed = 0
    for (let more = true; more;) {
      const step = await store.kept.cleanHistory({ beforeMs: START_MS + 1e9, keep: 1, most: 200 })
      removed += step.removed
      more = step.more
    }
    expect(removed).toBe(VERSIONS - 1)
  })
}
