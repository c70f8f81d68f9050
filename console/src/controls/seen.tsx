/**
 * A character that nobody sees in a name. The server refuses it in a new name (`src/core/text/hidden-characters.ts`), but an older
 * name may have some, or a name from another server.
 */
const HIDDEN =
  /([\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs})/u

/** The characters that join emoji. */
const IN_EMOJI = /[\ufe0f\u{e0020}-\u{e007f}]|\u200d/u
const EMOJI = /\p{Extended_Pictographic}|\u20e3/u

/** A name in which a character that nobody sees is marked by its code. The characters inside emoji are seen. */
export function Seen({ text }: { text: string }) {
  if (!HIDDEN.test(text)) return text
  const isSeen = (part: string): boolean => IN_EMOJI.test(part) && EMOJI.test(text)
  return text
    .split(HIDDEN)
    .map((part, index) => (index % 2 === 0 || isSeen(part) ? part : <mark key={index}>{codeOf(part)}</mark>))
}

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
