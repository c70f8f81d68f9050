import { expect, test } from 'vitest'
import { TimeZone } from './time-zone.ts'

test.each([
  ['UTC', '2026-01-02T03:04:05Z'],
  ['+08:00', '2026-01-01T19:04:05Z'],
  ['-03:30', '2026-01-02T06:34:05Z'],
  ['Asia/Shanghai', '2026-01-01T19:04:05Z'],
  ['America/New_York', '2026-01-02T08:04:05Z'],
])('a time of %s', (name, expected) => {
  const zone = TimeZone.of(name)
  const text = '2026-01-02 03:04:05'
  expect(zone.toMs(text)).toBe(Date.parse(expected))
  expect(zone.toText(Date.parse(expected))).toBe(text)
})

test('a name has the offset of the season', () => {
  const zone = TimeZone.of('Europe/Berlin')
  const of = (text: string): string => new Date(zone.toMs(text)!).toISOString()
  expect(of('2026-03-29 01:59:59')).toBe('2026-03-29T00:59:59.000Z')
  expect(of('2026-03-29 03:00:00')).toBe('2026-03-29T01:00:00.000Z')
  expect(of('2026-07-01 12:00:00.5')).toBe('2026-07-01T10:00:00.500Z')
  expect(of('2026-10-25 12:00:00')).toBe('2026-10-25T11:00:00.000Z')
})

test.each(['', 'Mars', '+8', '08:00', 'GMT+25'])('%j is no zone', (text) => {
  expect(() => TimeZone.of(text)).toThrow(/must be UTC, an offset such as \+08:00/)
})

test.each([null, undefined, '', '0000-00-00 00:00:00', 'soon'])('%j is no time', (text) => {
  expect(TimeZone.of('Asia/Shanghai').toMs(text)).toBeNull()
})
