/** The table of items with gray versions is an index: it says the same as a walk over all items. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ConfigDeleted, Change } from '../decisions/changes.ts'
import { type ConfigItem, configKey, type ConfigKey } from '../config/state/config-item.ts'
import { GRAY, type GrayItem } from '../config/state/gray-version.ts'
import { at } from '../core.test-support.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import { State } from './state.ts'

const NAMESPACES = ['public', 'other']
const KEYS = NAMESPACES.flatMap((namespaceId) =>
  ['a', 'b', 'c'].map((name) => configKey(namespaceId, 'G', name)),
)

const changes: fc.Arbitrary<Change> = fc
  .tuple(fc.constantFrom(...KEYS), fc.constantFrom('publish', 'delete', 'publish-gray', 'stop-gray'))
  .map(([key, what]) => changeOf(key, what))

/** A change with only the fields that the table and the account of memory read. */
function changeOf(key: ConfigKey, what: string): Change {
  const origin = { id: KEYS.indexOf(key), createIp: '' }
  const item = { key, content: Buffer.from('x'), md5: '', notes: {}, origin } as ConfigItem
  if (what === 'publish') return { kind: 'config-published', item } as Change
  if (what === 'delete') return { kind: 'config-deleted', key, deleted: item } as ConfigDeleted
  if (what === 'stop-gray') return recordRemoved(GRAY, key.text, 0)
  return recordSaved(GRAY, { id: key.text, value: { key, versions: [] }, stamp: 0 })
}

function walk(state: State, namespaceId: string): GrayItem[] {
  return Array.from(state.records(GRAY), ([, item]) => item).filter(
    ({ key }) => key.namespaceId === namespaceId,
  )
}

const names = (items: Iterable<GrayItem>): string[] => Array.from(items, ({ key }) => key.text).toSorted()

test('after any changes the table has the items that a walk over all records finds', () => {
  fc.assert(
    fc.property(fc.array(fc.array(changes, { maxLength: 4 }), { maxLength: 12 }), (revisions) => {
      const state = new State(0)
      for (const revision of revisions) {
        state.apply(revision, at(0))
        for (const namespaceId of NAMESPACES) {
          const all = walk(state, namespaceId)
          expect(Array.from(state.gray.inNamespace(namespaceId))).toEqual(all)
          const only = all.filter(({ key }) => state.config(key) === undefined)
          expect(names(state.gray.onlyGray(namespaceId))).toEqual(names(only))
        }
        const inUse = NAMESPACES.filter((namespaceId) => walk(state, namespaceId).length > 0)
        expect(new Set(state.gray.namespaces())).toEqual(new Set(inUse))
      }
    }),
  )
})
