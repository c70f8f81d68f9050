import { type ComponentChildren, Fragment, options } from 'preact'

/**
 * A character that nobody sees in a name. The server refuses it in a new name (`src/core/text/hidden-characters.ts`), but an older
 * name may have some, or a name from another server.
 */
const HIDDEN =
  /([\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs})/u

/** The characters that join emoji. */
const IN_EMOJI = /[\ufe0f\u{e0020}-\u{e007f}]|\u200d/u
const EMOJI = /\p{Extended_Pictographic}|\u20e3/u
/** Tabs and ends of lines: contents have them, and names do not. */
const IN_CONTENTS = /[\t\r\n]/

/** The attributes of an element that are shown or read aloud. */
const READ_ATTRIBUTES = ['title', 'aria-label', 'placeholder']
/** Elements that cannot have a mark in their text. */
const PLAIN = new Set<unknown>(['option', 'title', 'text'])

/** From now on every element shows its hidden characters by their codes, wherever its text comes from. */
export function markHidden(): void {
  options.vnode = (vnode) => {
    const { type, props } = vnode as { type: unknown; props: Record<string, unknown> }
    if (type === Fragment || (typeof type === 'string' && type !== 'textarea')) {
      for (const name of READ_ATTRIBUTES) if (name in props) props[name] = seenText(props[name])
      if ('children' in props)
        props['children'] = marked(props['children'] as ComponentChildren, PLAIN.has(type))
    }
  }
}

/** A text in which each hidden character is replaced by its code. Other values are left alone. */
export function seenText<T>(text: T): T | string {
  return typeof text === 'string' && HIDDEN.test(text) ? piecesOf(text, (code) => `[${code}]`).join('') : text
}

function marked(children: ComponentChildren, isPlain: boolean): ComponentChildren {
  if (Array.isArray(children)) return children.map((child) => marked(child as ComponentChildren, isPlain))
  if (typeof children !== 'string' || !HIDDEN.test(children)) return children
  if (isPlain) return seenText(children)
  const pieces = piecesOf(children, (code, key) => <mark key={key}>{code}</mark>)
  // A list of pieces becomes an element that is looked at again.
  return pieces.length === 1 ? children : pieces
}

/** The parts of a text, with the signs for its hidden characters. The characters inside emoji are seen. */
function piecesOf<T>(text: string, shown: (code: string, index: number) => T): (T | string)[] {
  const isSeen = (part: string): boolean =>
    IN_CONTENTS.test(part) || (IN_EMOJI.test(part) && EMOJI.test(text))
  const pieces: (T | string)[] = []
  for (const [index, part] of text.split(HIDDEN).entries()) {
    const last = pieces.at(-1)
    if (index % 2 === 1 && !isSeen(part)) pieces.push(shown(codeOf(part), index))
    else if (typeof last === 'string') pieces[pieces.length - 1] = last + part
    else pieces.push(part)
  }
  return pieces
}

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
