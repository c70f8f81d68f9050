import type { Finding } from './finding.ts'

/**
 * Characters that nobody sees, or takes for blanks: the characters that no new name has (hidden-characters.ts), except for tabs and ends of lines.
 * A selector behind a picture or a digit is a part of the picture. Zero-width joiners have their place between signs of some
 * languages, and in pictures.
 */
export const UNSEEN =
  /(?!(?<=[^\0-\u02FF])[\u200C\u200D][^\0-\u02FF])(?:[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs})(?<![\t\n\r]|(?:[^\0-\u02FF]|[\d#*])\uFE0F)/gu
/** A colon of Chinese behind a key. */
const WIDE_COLON = /^[ \t]*(?:- )?["']?[\w.-]{1,200}["']?[ \t]?(：)/gm
const WITH_KEYS = ['yaml', 'properties', 'toml', 'json']
/** A mark of the order of bytes at the start is no part of a text; of properties it is one of the first key. */
const MARK = '\uFEFF'

/** The characters of a text that people do not see or take for others, a finding for each run. */
export function unseenIn(type: string, text: string): Finding[] {
  const found: (Finding & { to: number })[] = []
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (index === 0 && character === MARK && type !== 'properties') continue
    const name = codeOf(character)
    const last = found.at(-1)
    const to = index + character.length
    if (last?.to === index && last.text === name) last.to = to
    else found.push({ code: 'unseen', text: name, from: index, to })
  }
  if (!WITH_KEYS.includes(type)) return found
  for (const { 0: whole, index } of text.matchAll(WIDE_COLON)) {
    const to = index + whole.length
    found.push({ code: 'wideColon', text: '：', from: to - 1, to })
  }
  return found
}

/** A character by its code, as `U+200B`. */
export const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
