import { expect, test } from 'vitest'
import { hiddenIn, hiddenInText, withoutHidden } from './hidden-characters.ts'

/** Every character of Unicode, without the halves of pairs. */
function* everyCharacter(): Generator<string> {
  for (let code = 0; code <= 0x10_ff_ff; code++)
    if (code < 0xd8_00 || code > 0xdf_ff) yield String.fromCodePoint(code)
}

test('every character of the classes is hidden, and no letter, digit or mark that is seen', () => {
  const isOfClass =
    /\p{Cc}|\p{Cf}|\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|\p{Zs}|\p{Zl}|\p{Zp}|\u2800/u
  const wrong: string[] = []
  let hidden = 0
  for (const character of everyCharacter()) {
    const isHidden = hiddenIn(`a${character}b`) !== undefined
    if (isHidden) hidden++
    const expected = character !== ' ' && isOfClass.test(character)
    if (isHidden !== expected) wrong.push(character)
  }
  expect(wrong).toEqual([])
  expect(hidden).toBeGreaterThan(4_000)
})

test.each(['❤️', '👩‍👩‍👧', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', 'prod 🚀 ✔️'])('a free text may have emoji: %s', (text) =>
  expect(hiddenInText(text)).toBeUndefined(),
)

test.each([
  ['prod\u200d', 'U+200D'],
  ['prod\ufe0f', 'U+FE0F'],
  ['❤️\u3164', 'U+3164'],
  ['\u{e0067}', 'U+E0067'],
  ['🏴\u{e0067}\u{e0068}\u{e007f}', 'U+E0067'],
  ['1\ufe0f', 'U+FE0F'],
  ['👩\u200d', 'U+200D'],
])('outside of emoji their parts are hidden: %j', (text, code) => expect(hiddenInText(text)).toBe(code))

test('hidden characters are replaced', () => {
  expect(withoutHidden('a\u3164b\u00a0c d', () => '?')).toBe('a?b?c d')
})
