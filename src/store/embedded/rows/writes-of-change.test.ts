import { expect, test } from 'vitest'
import type { ConfigPublished } from '../../../core/decisions/changes.ts'
import { at, ORDERS, registration, WALL_MS } from '../../../core/core.test-support.ts'
import { State } from '../../../core/engine/state.ts'
import { registerInstance } from '../../../core/naming/commands/register-instance.ts'
import { type ConfigItem, configKey } from '../../../core/config/state/config-item.ts'
import type { ConfigNotes } from '../../../core/config/state/config-notes.ts'
import { ContentPack } from './content-pack.ts'
import type { Values } from './table.ts'
import { type ItemRow, TABLES } from './tables.ts'
import { writeOfChange } from './writes-of-change.ts'

const FIRST: ConfigItem = {
  key: configKey('public', 'g', 'a'),
  origin: { id: 2, createdMs: 1, createUser: 'ada', createIp: '127.0.0.1' },
  historyId: 3,
  content: Buffer.from('one'),
  md5: 'f97c5d29941bfb1b2fdab0874906ab82',
  type: 'text',
  notes: {
    appName: '',
    desc: 'd',
    use: null,
    effect: null,
    schema: null,
    configTags: null,
    encryptedDataKey: '',
  },
  modifiedMs: 1,
}

function rowWritten(changed: Partial<ConfigItem>, previous: ConfigItem | null = FIRST): ItemRow | undefined {
  const item = { ...FIRST, historyId: 7, ...changed }
  const operator = { ip: '127.0.0.1', user: null }
  const change: ConfigPublished = {
    kind: 'config-published',
    op: previous === null ? 'I' : 'U',
    item,
    previous: previous ?? undefined,
    operator,
  }
  const values = writeOfChange(change, new ContentPack())?.[3] as Values | undefined
  return values === undefined ? undefined : TABLES.config_item.decode(values)
}

function withNote(note: Partial<ConfigNotes>): Partial<ConfigItem> {
  return { notes: { ...FIRST.notes, ...note } }
}

test('a version does not write the row of its item, which stays the same', () => {
  expect(rowWritten({ content: Buffer.from('two'), type: 'json', modifiedMs: 5 })).toBeUndefined()
  expect(rowWritten(withNote({ appName: 'shop', encryptedDataKey: 'key' }))).toBeUndefined()
})

test('a new item writes its row, also where one of its name was before', () => {
  const { id, ...birth } = FIRST.origin
  const { appName: _, encryptedDataKey: __, ...notes } = FIRST.notes
  const row = { nameId: 0, id, revisionId: 7, ...birth, ...notes }
  expect(rowWritten({}, null)).toEqual(row)
  const origin = { ...FIRST.origin, id: 6 }
  expect(rowWritten({ origin })).toEqual({ ...row, id: 6 })
})

test.each(['desc', 'use', 'effect', 'schema', 'configTags'] as const)(
  'a version with another %s writes the row',
  (name) => {
    expect(rowWritten(withNote({ [name]: 'other' }))).toMatchObject({ revisionId: 7, [name]: 'other' })
    expect(rowWritten({}, { ...FIRST, ...withNote({ [name]: 'other' }) })).toMatchObject({
      [name]: FIRST.notes[name],
    })
  },
)

test('a service or an instance without a serial is not written: its row would replace another row', () => {
  const { changes } = registerInstance(registration({ serviceKey: ORDERS })).decide(new State(WALL_MS), at(0))
  expect(changes.map(({ kind }) => kind)).toEqual(['service-saved', 'instance-saved'])
  for (const change of changes)
    expect(() => writeOfChange(change, new ContentPack())).toThrow('has no serial')
})
