import { describe, expect, test } from 'vitest'
import { fileNameOf, itemMeant, nameOfFile, namesOfParts } from './entry-names.ts'
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

describe('the item that a file means', () => {
  const names = { group: 'e\u0301', dataId: '\u1112\u1161' }
  const composed = { group: '\u00e9', dataId: '\ud558' }
  const single = { group: '\u212A\u212B', dataId: '\uF90A\u0958\u09DF\uFB1D.yml' }

  const unknown = { isDescribed: () => false, isWritten: () => false }

  test('keeps long names, and names of very many marks, in linear time', () => {
    const marks = '\u0323\u0301'.repeat(200_000)
    const long = { group: 'G', dataId: `a${marks}` }
    expect(itemMeant(long, unknown)).toEqual(long)
    const short = { group: 'G', dataId: `a${'\u0301\u0323'.repeat(20)}` }
    expect(itemMeant(short, unknown)).toEqual(short)
  })

  test.each([
    ['has composed names', names, [], composed],
    ['is the described one, as it is', names, [names, composed], names],
    ['is the described one, composed', names, [composed], composed],
    ['is the described one, decomposed', composed, [names], names],
    ['has the names of the file', composed, [], composed],
    ['keeps what no system has decomposed', single, [], single],
    [
      'keeps letters beside decomposed ones',
      { group: `\uF90A${names.group}`, dataId: `${names.dataId}\u11AB\u09DF` },
      [],
      { group: '\uF90A\u00e9', dataId: '\ud55c\u09DF' },
    ],
    [
      'keeps names that no item can have',
      { group: 'a b', dataId: 'e\u0301' },
      [],
      { group: 'a b', dataId: 'e\u0301' },
    ],
    [
      'keeps marks that belong to no letter',
      { group: 'G', dataId: 'q\u0301' },
      [],
      { group: 'G', dataId: 'q\u0301' },
    ],
    [
      'is the described one, in NFC',
      { group: 'G', dataId: '\u212B' },
      [{ group: 'G', dataId: '\u00c5' }],
      { group: 'G', dataId: '\u00c5' },
    ],
  ])('%s', (...[, file, described, expected]) => {
    const isDescribed = (one: typeof names): boolean =>
      described.some(({ group, dataId }) => group === one.group && dataId === one.dataId)
    expect(itemMeant(file, { ...unknown, isDescribed })).toEqual(expected)
  })

  test('is not the described one that has a file of its own', () => {
    const isNames = ({ group }: typeof names): boolean => group === names.group
    expect(itemMeant(composed, { isDescribed: isNames, isWritten: isNames })).toEqual(composed)
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

  test.each([
    '.ok.yml.swx',
    '.swp',
    '.~lock.a.yml#',
    '~WRL0001.tmp',
    'a.yml:Zone.Identifier',
    '.syncthing.a.yml.tmp',
    '.goutputstream-X1Y2Z3',
  ])('is %s', (name) => {
    expect(isLitter(['DEFAULT_GROUP', name])).toBe(true)
  })

  test.each([
    '.env',
    '.env.production',
    'desktop.yml',
    'a.swp',
    'thumbs.yml',
    '.profile',
    'G',
    'a.bak',
    'a.yml.orig',
    'a.tmp',
    'syncthing.yml',
    '4913',
  ])('is not %s', (name) => {
    expect(isLitter(['DEFAULT_GROUP', name])).toBe(false)
  })
})
