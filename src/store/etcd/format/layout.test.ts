import { expect, test } from 'vitest'
import { LAYOUTS, readLayout } from './layout.ts'

test('a layout that is not understood is refused with both layouts, and with advice', () => {
  const understood = { from: 5, to: 6 }
  expect(readLayout('w/format', '6', understood)).toBe(6)
  expect(() => readLayout('w/format', '7', understood)).toThrow(
    /has the layout 7 \(key w\/format\); this version of Waypost knows layout 5 to 6\. Use the version/,
  )
  expect(() => readLayout('w/format', '4', understood)).toThrow(/layout 4 .*5 to 6\. Start a version between/)
  expect(() => readLayout('w/format', '', understood)).toThrow(
    /w\/format of etcd has no layout.*etcdctl put w\/format 6/,
  )
})

test.each(['1', '2', '3'])('the layout %s of development builds is refused, with the way out', (layout) => {
  expect(() => readLayout('w/format', layout, LAYOUTS)).toThrow(
    /layout \d \(key w\/format\); this version of Waypost knows layout 4\. A development build .* `waypost export`/,
  )
})
