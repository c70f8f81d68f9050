import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  HISTORY_CLOCK,
  importMarks,
  judgeRemembered,
  OLD_TOKENS,
  PEER_SECRETS,
  readOrNone,
  type RememberedKind,
  SECRETS_KEY,
  STORED_MEMORY,
  TERM,
} from './remembered-values.ts'
import { ShapeError } from '../records/shape.ts'

const SECRET = 'aB-_'.repeat(10) + 'xyz'
const SECRETS = `{"origin":"0123456789ab","inUse":"${SECRET}"}`

const KINDS: readonly (readonly [
  RememberedKind<unknown>,
  sound: readonly string[],
  damaged: readonly string[],
])[] = [
  [
    PEER_SECRETS,
    [SECRETS, SECRETS.replace('}', `,"next":"${SECRET}"}`), SECRETS.replace('}', `,"previous":"${SECRET}"}`)],
    [
      '{"origin":"0123456789ab","inUse":""}',
      '{"origin":"0123456789ab","inUse":"a"}',
      SECRETS.replace('aB', 'a '),
      SECRETS.replace(SECRET, `${SECRET}a`),
      SECRETS.replace('0123456789ab', ''),
      SECRETS.replace('}', ',"next":""}'),
      SECRETS.replace('}', ',"previous":null}'),
      '{"inUse":',
    ],
  ],
  [SECRETS_KEY, ['2026-11.1f3c9a77', 'a.00000000'], ['a', 'a.b', '.00000000', 'a b.00000000', 'A.0000000g']],
  [
    HISTORY_CLOCK,
    ['1764384910000', '1764384910000.25'],
    ['9e15', '9000000000000000', '-1', 'abc', 'NaN', '0x10'],
  ],
  [TERM, ['0', '7'], ['1e300', '-1', '1.5', '9999999999999999', 'abc']],
  [
    STORED_MEMORY,
    ['{"heap":1,"external":2.5}'],
    [
      '{"heap":9e15,"external":0}',
      '{"heap":-1,"external":0}',
      '{"heap":1}',
      '{"heap":null,"external":1}',
      '[]',
    ],
  ],
  [
    OLD_TOKENS,
    ['{"sinceStamp":1838979386563584,"untilMs":1764384910000}'],
    [
      '{"sinceStamp":9e15,"untilMs":1}',
      '{"sinceStamp":-1,"untilMs":1}',
      '{"sinceStamp":1}',
      '{"sinceStamp":1,"untilMs":9e15}',
      '{}',
    ],
  ],
  [importMarks(3), ['{}', '{"a":"b"}'], ['{"a":1}', '[]', '7', '{"a":']],
]
const NEVER = ['', 'null', '"', '{', '[{}]', 'true', '\0', '\ufffd', 'x'.repeat(100_000)]

describe.each(KINDS.map(([kind, sound, damaged]) => ({ kind, sound, damaged, name: kind.name })))(
  'the remembered value $name',
  ({ kind, sound, damaged }) => {
    test.each(sound.map((text) => [text]))('may be %s', (text) => {
      expect(() => judgeRemembered(kind.name, text)).not.toThrow()
      expect(readOrNone(kind, text)).toEqual(kind.read(text))
    })

    test.each([...damaged, ...NEVER].map((text) => [text.slice(0, 60), text]))('is never %s', (_, text) => {
      expect(() => judgeRemembered(kind.name, text)).toThrow(ShapeError)
      expect(readOrNone(kind, text)).toBeUndefined()
    })
  },
)

test('a text that is damaged is not shown: it may be a part of a secret', () => {
  fc.assert(
    fc.property(fc.constantFrom(...KINDS.map(([{ name }]) => name)), fc.string(), (name, other) => {
      const text = `secret ${other}`
      expect(() => judgeRemembered(name, text)).toThrow(expect.not.stringContaining('secret'))
    }),
  )
})

test('names that this version does not know are not judged, and an absent value is none', () => {
  expect(() => judgeRemembered('later', '')).not.toThrow()
  expect(readOrNone(TERM, undefined)).toBeUndefined()
})
