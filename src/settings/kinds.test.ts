import { describe, expect, test } from 'vitest'
import {
  addressList,
  boolean,
  byteSize,
  decimal,
  duration,
  hostList,
  integer,
  oneOf,
  reachableHost,
  shortText,
  showDuration,
  showSize,
  text,
} from './kinds.ts'

describe('a duration', () => {
  const kind = duration({ min: 0, max: 40 * 86_400_000 })

  test.each([
    ['500', 500],
    [500, 500],
    ['500ms', 500],
    ['15s', 15_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['30d', 2_592_000_000],
    ['0', 0],
  ])('reads %j as %d ms', (raw, ms) => expect(kind.read(raw)).toBe(ms))

  const texts = ['', 's', '-1', '1.5s', '5 m', '5M', '5w', '1e3', '41d', '5constructor']
  test.each([...texts, 1.5, -1, true, null, ['5s']])('does not accept %j', (raw) =>
    expect(kind.read(raw)).toBeUndefined(),
  )

  test('is shown in its largest whole unit', () => {
    const shown = [0, 1500, 90_000, 3_600_000, 2_592_000_000].map(showDuration)
    expect(shown).toEqual(['0ms', '1500ms', '90s', '1h', '30d'])
  })
})

describe('a size', () => {
  const kind = byteSize({ min: 1, max: 1024 ** 3 })

  test.each([
    ['4096', 4096],
    ['16B', 16],
    ['512KiB', 524_288],
    ['10MiB', 10_485_760],
    ['1GiB', 1_073_741_824],
  ])('reads %j as %d bytes', (raw, bytes) => expect(kind.read(raw)).toBe(bytes))

  test.each(['0', '2GiB', '10MB', '10mib', '1k', 'MiB'])('does not accept %j', (raw) =>
    expect(kind.read(raw)).toBeUndefined(),
  )

  test('is shown in its largest whole unit', () => {
    expect([100, 1024, 1536, 10_485_760].map(showSize)).toEqual(['100B', '1KiB', '1536B', '10MiB'])
  })
})

describe('a number', () => {
  test('of the kind integer is whole and within its range', () => {
    const kind = integer({ min: 0, max: 65_535 })
    expect(['0', '8848', 65_535].map(kind.read)).toEqual([0, 8848, 65_535])
    const others = ['65536', '-1', '', ' 1', '1.0', '0x10', '1e3', 1.5, Number.NaN, true]
    expect(others.map(kind.read).every(isAbsent)).toBe(true)
  })

  test('of the kind decimal may have decimals', () => {
    const kind = decimal({ min: 0, max: 1 })
    expect(['0', '0.5', 0.25, 1].map(kind.read)).toEqual([0, 0.5, 0.25, 1])
    expect(['1.1', '.5', '1e-1', -0.1, Number.NaN].map(kind.read).every(isAbsent)).toBe(true)
  })
})

describe('a text', () => {
  test('is true or false for a boolean', () => {
    expect([true, 'true', false, 'false'].map(boolean().read)).toEqual([true, true, false, false])
    expect(['', 'yes', '1', 1, 'TRUE', null].map(boolean().read).every(isAbsent)).toBe(true)
  })

  test('is one of the listed words for a choice', () => {
    const kind = oneOf(['info', 'warn'])
    expect(kind.read('warn')).toBe('warn')
    expect(['loud', '', 'toString', 1].map(kind.read).every(isAbsent)).toBe(true)
    expect(kind.allowed).toBe('one of info, warn')
  })

  test('may be empty unless the kind is notEmpty', () => {
    expect(['', 'a b'].map(text().read)).toEqual(['', 'a b'])
    expect(['', ' ', 5, null].map(text({ notEmpty: true }).read).every(isAbsent)).toBe(true)
  })
})

test.each([
  ['', true],
  ['waypost.example', true],
  ['a_b', true],
  ['10.0.0.7', true],
  ['::1', true],
  ['[fd00::1]', true],
  ['localhost', true],
  ['h:80', false],
  ['a b', false],
  ['-a', false],
  ['http://x', false],
  ['10.1.1.300', false],
  ['中', false],
  ['localhost.', false],
  [' ', false],
  ['0.0.0.0', false],
  ['[0::0]', false],
  ['x'.repeat(254), false],
  [5, false],
])('whether %j is a host that others can reach: %s', (raw, is) => {
  expect(reachableHost().read(raw)).toBe(is ? raw : undefined)
})

test('a short text has no hidden characters, and an end', () => {
  expect(['', 'zone a', '上海'].map(shortText(6).read)).toEqual(['', 'zone a', '上海'])
  expect(['a\nb', 'a\u200b', '1234567', 5].map(shortText(6).read).every(isAbsent)).toBe(true)
})

describe('a list of addresses', () => {
  const { read } = addressList()

  test.each([
    ['10.0.0.7', ['10.0.0.7']],
    ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    [['fd00::/8'], ['fd00::/8']],
    ['', []],
    [[], []],
  ])('reads %j as %j', (raw, list) => expect(read(raw)).toEqual(list))

  const texts = ['10.0.0', 'host', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '1.1.1.1,']
  test.each([...texts, [1], 5, null])('does not accept %j', (raw) => expect(read(raw)).toBeUndefined())
})

function isAbsent(value: unknown): boolean {
  return value === undefined
}

describe('a list of hosts', () => {
  const { read } = hostList()

  test.each([
    ['waypost.example', ['waypost.example']],
    ['a_b-c.example:8443, [::1], [fd00::1]:80', ['a_b-c.example:8443', '[::1]', '[fd00::1]:80']],
    [['10.0.0.7:8848'], ['10.0.0.7:8848']],
    ['', []],
    [[], []],
  ])('reads %j as %j', (raw, list) => expect(read(raw)).toEqual(list))

  const names = ['http://waypost.example', 'waypost.example/', 'waypost.example:', 'waypost.example:65536']
  test.each([...names, '*.example', '::1', '[localhost]', 'a b', 'a,', [1], 5, null])(
    'does not accept %j',
    (raw) => expect(read(raw)).toBeUndefined(),
  )
})
