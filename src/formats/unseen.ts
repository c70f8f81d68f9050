import type { Finding } from './finding.ts'

/** Characters that nobody sees, or takes for blanks. */
export const UNSEEN =
  /[\u00A0\u00AD\u1680\u180E\u2000-\u200F\u2028-\u202F\u205F-\u2064\u2066-\u2069\u3000\u3164\uFEFF\uFFA0]/g
/** A colon of Chinese behind a key. */
const WIDE_COLON = /^[ \t]*(?:- )?["']?[\w.-]{1,200}["']?[ \t]?(：)/gm
const WITH_KEYS = ['yaml', 'properties', 'toml', 'json']
/** A mark of the order of bytes at the start is no part of a text. */
const MARK = '\uFEFF'

/** The characters of a text that people do not see or take for others, a finding for each run. */
export function unseenIn(type: string, text: string): Finding[] {
  const found: Finding[] = []
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    const last = found.at(-1)
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    if (index === 0 && character === MARK) continue
    if (isJoined(text, index)) continue
    if (last?.to === index && last.text === `U+${code}`) found.pop()
    const from = last?.to === index && last.text === `U+${code}` ? last.from : index
    found.push({ code: 'unseen', text: `U+${code}`, from, to: index + 1 })
  }
  if (!WITH_KEYS.includes(type)) return found
  for (const { 0: whole, index } of text.matchAll(WIDE_COLON)) {
    const to = index + whole.length
    found.push({ code: 'wideColon', text: '：', from: to - 1, to })
  }
  return found
}

/** Zero-width joiners have their place between signs of some languages, and in pictures. */
function isJoined(text: string, at: number): boolean {
  const isJoiner = text[at] === '\u200C' || text[at] === '\u200D'
  return isJoiner && (text[at - 1] ?? '') > '\u02FF' && (text[at + 1] ?? '') > '\u02FF'
}
