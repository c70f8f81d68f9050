import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labelsOf, labelsText } from './label-texts.ts'

test('labels are read as they are typed', () => {
  expect([...labelsOf('env=test, AppName = shop ,zone=a=b,empty=,,flag')]).toEqual([
    ['env', 'test'],
    ['AppName', 'shop'],
    ['zone', 'a=b'],
    ['empty', ''],
    ['flag', ''],
  ])
  expect([...labelsOf('instance=a\\,b\\\\,x\\=y=1')]).toEqual([
    ['instance', 'a,b\\'],
    ['x=y', '1'],
  ])
  expect([...labelsOf('')]).toEqual([])
})

test('labels with any characters come back', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', ',', '=', '\\', '.'), minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.dictionary(part, part), (labels) => {
      expect(Object.fromEntries(labelsOf(labelsText(labels)))).toEqual({ ...labels })
    }),
  )
})
