import { expect, test } from 'vitest'
import { includes } from '../../../core/cluster/members/versions.ts'
import { STORED_KINDS } from '../../../core/engine/stored-kinds.ts'
import { LAYOUTS, readLayout } from './layout.ts'

/** The kinds of records that the package of before there were versions knows. It ends for any other. */
const OF_LAYOUT_1 = [
  'administrators',
  'config-comment',
  'deleted-config',
  'instance-disabling',
  'namespace',
  'namespace-look',
  'permission',
  'remembered-metadata',
  'server',
  'session',
  'signing-key',
  'switch',
  'user',
  'user-role',
]

test('every kind of records that is new names a layout which this version writes', () => {
  const first = STORED_KINDS.filter(({ layout = 1 }) => layout === 1).map(({ name }) => name)
  expect(first.sort()).toEqual(OF_LAYOUT_1)
  for (const { name, layout = 1 } of STORED_KINDS) expect(includes(LAYOUTS, layout), name).toBe(true)
})

test('a layout that is not understood is refused with both, and with what to do', () => {
  const understood = { from: 2, to: 3 }
  expect(readLayout('w/format', '3', understood)).toBe(3)
  expect(() => readLayout('w/format', '4', understood)).toThrow(
    /has the layout 4 \(key w\/format\); this version of Waypost knows layout 2 to 3\. Use the version/,
  )
  expect(() => readLayout('w/format', '1', understood)).toThrow(/layout 1 .*2 to 3\. Start a version between/)
  expect(() => readLayout('w/format', '', understood)).toThrow(/"", which is no number/)
})
