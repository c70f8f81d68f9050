import { withoutHidden } from '../core/text/hidden-characters.ts'

/** Like `printable`, but line ends and tabs stay as they are. */
export function printableText(text: string): string {
  return text.replaceAll(/(?!\n|\t|\r\n)\p{Cc}/gu, escaped)
}

/** Like `printableText`, for a message, which may have names: also without characters that nobody sees. */
export function printableMessage(text: string): string {
  return text.split('\n').map(printableLine).join('\n')
}

/** Escapes control characters: names of a damaged store, a file or another server must not control a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/(?!\n)\p{Cc}/gu, escaped)
}

/** Like `printable`, for a part of a line: also without line breaks and characters that nobody sees. */
export function printableWord(text: string): string {
  return withoutHidden(text, escaped)
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}

const CODES = { bold: 1, red: 31, green: 32, yellow: 33, cyan: 36, dim: 2 } as const

/** The ways in which a text can stand out. */
export type Paint = keyof typeof CODES

/** A text that is safe on a terminal, with colours where it shows any: its parts were escaped. */
export class Painted {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** Parts of a line as one. */
  static line(parts: readonly Part[], paint?: Paint): Painted {
    const text = parts.map((part) => (part instanceof Painted ? part.#text : printableLine(part))).join('')
    const isPlain = paint === undefined || !hasColours(process.stdout)
    return new Painted(isPlain ? text : `\u001b[${CODES[paint]}m${text}\u001b[0m`)
  }

  /** Each on a line of its own. */
  static lines(lines: readonly Part[]): Painted {
    return new Painted(lines.map((line) => `${Painted.line([line]).#text}\n`).join(''))
  }

  /** One text after the other. */
  static joined(texts: readonly Painted[]): Painted {
    return new Painted(texts.join(''))
  }

  toString(): string {
    return this.#text
  }
}

/** A part of a line: a text is escaped, because it may come from a server. */
export type Part = string | Painted

/** Parts of a line as one; in a colour, on a terminal that shows colours. */
export function painted(parts: string | readonly Part[], paint?: Paint): Painted {
  return Painted.line(typeof parts === 'string' ? [parts] : parts, paint)
}

function hasColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb'
}

/** The columns that a text takes on a terminal: East Asian letters take two. */
function widthOf(text: string): number {
  let width = 0
  for (const letter of text) if (!/\p{M}/u.test(letter)) width += WIDE.test(letter) ? 2 : 1
  return width
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** Rows under their headings. The last column is not padded. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): Painted {
  const shown = [headings, ...rows.map((row) => row.map(printableWord))]
  const widths = headings.map((_, at) => Math.max(...shown.map((row) => widthOf(row[at] ?? ''))))
  const lines = shown.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat(widths[at]! - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  )
  return Painted.lines([painted(lines[0]!, 'bold'), ...lines.slice(1)])
}

/** Like `printableWord`, for a whole line of a text: tabs stay. */
function printableLine(text: string): string {
  return text.split('\t').map(printableWord).join('\t')
}
