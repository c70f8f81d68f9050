import { expect, test } from 'vitest'
import { CaseTwins } from './case-twins.ts'

test.each([
  ['G/app', 'G/App'],
  ['g/a', 'G/A'],
  ['G/e\u0301', 'G/\u00c9'],
  ['G/\u03c3', 'G/\u03c2'],
  ['G/stra\u00dfe', 'G/STRA\u1e9eE'],
])('%s has no file of its own beside %s', async (name, file) => {
  const twins = await CaseTwins.of(['G/other', file])
  twins.check(name)
  expect(twins.fault).toBe(`no file of this name, but one that differs by case only: "${name}" ("${file}")`)
})

test.each([
  ['G/app', ['G/app', 'G/App']],
  ['G/\u00e9', ['G/e\u0301', 'G/\u00c9']],
  ['G/app', []],
])('%s has its own file or none among %j', async (name, files) => {
  const twins = await CaseTwins.of(files)
  twins.check(name)
  expect(twins.fault).toBeUndefined()
})

test('five are named', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `G/a${index}`)
  const twins = await CaseTwins.of(names.map((name) => name.toUpperCase()))
  for (const name of names) twins.check(name)
  expect(twins.fault).toMatch(/"G\/a4" \("G\/A4"\) and 4 more$/)
})
