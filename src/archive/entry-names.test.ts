import { describe, expect, test } from 'vitest'
import { fileNameOf, nameOfFile, namesOfParts } from './entry-names.ts'
import { isLitter, LITTER } from './litter.ts'

describe('the name of a file', () => {
  test.each([
    ['app.yml', 'app.yml'],
    ['.env', '.env'],
    ['a..b', 'a..b'],
    ['console.yml', 'console.yml'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['...', '..%2E'],
    ['end.', 'end%2E'],
    ['con', '%63on'],
    ['AUX.yml', '%41UX.yml'],
    ['lpt1.a.b', '%6Cpt1.a.b'],
    ['a%2E', 'a%252E'],
    ['.metadata.yml', '%2Emetadata.yml'],
    ['.META.yml', '%2EMETA.yml'],
    ['.metadata.yml.x', '.metadata.yml.x'],
    ['a/b', 'a%2Fb'],
    ['..\\a', '..%5Ca'],
  ])('%s is %s, and is read back', (name, fileName) => {
    expect(fileNameOf(name)).toBe(fileName)
    expect(nameOfFile(fileName)).toBe(name)
  })

  test.each(['%2e%2e', '%41pp', '%2', '%ZZ', 'a%FFb'])('%s is no escape of ours', (fileName) => {
    expect(nameOfFile(fileName)).toBe(fileName)
  })
})

test.each([[['a']], [['a', 'b', 'c']], [['', 'b']], [['a', '']]])('%j has no names', (parts) => {
  expect(namesOfParts(parts)).toBeUndefined()
})

describe('litter', () => {
  test.each(LITTER.names)('is %s, in any folder and in capitals', (name) => {
    expect(isLitter([name])).toBe(true)
    expect(isLitter(['G', name.toUpperCase()])).toBe(true)
    expect(isLitter(['G', `${name}.yml`])).toBe(name.startsWith('._'))
  })

  test.each(['.env', '.env.production', 'desktop.yml', 'a.swp', 'thumbs.yml', '.profile', 'G', 'a.bak'])(
    'is not %s',
    (name) => {
      expect(isLitter(['DEFAULT_GROUP', name])).toBe(false)
    },
  )
})
