/**
 * A pattern for one of the characters that nobody sees in a name. They are control and format characters, and characters that are
 * ignored by default: Hangul fillers, variation selectors, joiners. Characters that turn a text around are among them, separators of
 * lines, the blank pattern of Braille, and all blanks but the space.
 */
export const HIDDEN_CHARACTER =
  '(?:[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Zl}\\p{Zp}\\u2800]|(?! )\\p{Zs})'

const HIDDEN = new RegExp(HIDDEN_CHARACTER, 'u')
const EVERY_HIDDEN = new RegExp(HIDDEN_CHARACTER, 'gu')

/** Emoji are joined with characters that are hidden elsewhere. */
const EMOJI = new RegExp('\\p{RGI_Emoji}', 'gv')

/** The first character of a name that nobody sees, as `U+200B`; undefined if there is none. */
export function hiddenIn(name: string): string | undefined {
  const found = HIDDEN.exec(name)?.[0]
  return found === undefined ? undefined : codeOf(found)
}

/** The same for a free text that people are shown: emoji are seen. */
export function hiddenInText(text: string): string | undefined {
  return HIDDEN.test(text) ? hiddenIn(text.replaceAll(EMOJI, '')) : undefined
}

/** A name with its hidden characters replaced. */
export function withoutHidden(name: string, replaced: (character: string) => string): string {
  return name.replaceAll(EVERY_HIDDEN, replaced)
}

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
