/**
 * A character that nobody sees in a name. These are control and format characters, and characters that are ignored by default:
 * Hangul fillers, variation selectors, joiners. Characters that turn a text around are among them, separators of lines, the blank
 * pattern of Braille, and all blanks but the space.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}/gu

/** An emoji, with the characters that join its parts: they are hidden elsewhere. The last form is the three flags of nations. */
const EMOJI =
  /\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)*|[0-9#*]\ufe0f?\u20e3|(?<=\u{1f3f4})\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu

/** The first character of a name that nobody sees, as `U+200B`; undefined if there is none. */
export function hiddenIn(name: string): string | undefined {
  const at = name.search(HIDDEN)
  if (at < 0) return undefined
  return `U+${name.codePointAt(at)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The same for a free text that people are shown: emoji are seen. */
export function hiddenInText(text: string): string | undefined {
  return hiddenIn(text) === undefined ? undefined : hiddenIn(text.replaceAll(EMOJI, '-'))
}

/** A name with its hidden characters replaced. */
export function withoutHidden(name: string, replaced: (character: string) => string): string {
  return name.replaceAll(HIDDEN, replaced)
}
