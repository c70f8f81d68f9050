import { expect, test } from 'vitest'
import { KeyPattern } from './key-pattern.ts'

const pattern = (group: string, name: string) => new KeyPattern({ namespaceId: 'public', group, name })

test.each([
  ['* *', 'G a', true],
  ['G app-*', 'G app-a', true],
  ['G app-*', 'G an-app-a', false],
  ['G *-dev', 'G a-dev', true],
  ['G *mid*', 'G a-mid-b', true],
  ['G a', 'G ab', false],
  ['G* a', 'H a', false],
])('the patterns %s mean %s: %s', (patterns, names, isMeant) => {
  const [groupPattern = '', namePattern = ''] = patterns.split(' ')
  const [group = '', name = ''] = names.split(' ')
  expect(pattern(groupPattern, namePattern).matches(group, name)).toBe(isMeant)
})

test('patterns that mean the same have the same text', () => {
  expect(pattern('**', 'a').text).toBe(pattern('*', 'a').text)
  expect(pattern('*', 'a').text).not.toBe(pattern('a', '*').text)
})
