/** The escapes of values in each format. */

/** A value without its escapes, and the places of its characters and of its end in the source. */
export interface Unescaped {
  readonly text: string
  readonly places: readonly number[]
}

const BACKSLASH = {
  json: /\\(?:u[\da-fA-F]{4}|[^])/g,
  properties: /\\(?:u[\da-fA-F]{4}|\n[ \t\f]*|[^])/g,
  toml: /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[ \t]*\n\s*|[^])/g,
  yaml: /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|\n[ \t]*|[^])/g,
} as const
const TWO_QUOTES = /''/g
/** Comments and the marks of CDATA are in the middle of a text too. Long comments stay: a text may have many that do not end. */
const MARKUP = /&(?:#\d{1,10}|#x[\da-fA-F]{1,10}|lt|gt|amp|quot|apos);|<!--[^]{0,500}?-->|<!\[CDATA\[|\]\]>/g

/** The letters of escapes, and the characters that they mean. */
export const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f' }
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** A value as its format means it; undefined if it has no escapes. */
export function unescaped(type: string, source: string): Unescaped | undefined {
  const pattern = escapesOf(type, source)
  if (pattern === undefined) return undefined
  const places: number[] = []
  let text = ''
  let at = 0
  const addPlain = (to: number): void => {
    text += source.slice(at, to)
    for (; at < to; at++) places.push(at)
  }
  for (const { 0: escape, index } of source.matchAll(pattern)) {
    addPlain(index)
    const characters = meaningOf(escape)
    text += characters
    for (let unit = 0; unit < characters.length; unit++) places.push(index)
    at = index + escape.length
  }
  if (at === 0) return undefined
  addPlain(source.length)
  places.push(source.length)
  return { text, places }
}

/** The escapes that a value has by its format and its quotes. */
function escapesOf(type: string, source: string): RegExp | undefined {
  if (type === 'xml') return MARKUP
  if (type === 'yaml' && source.startsWith("'")) return TWO_QUOTES
  if (type !== 'properties' && !source.startsWith('"')) return undefined
  return Object.hasOwn(BACKSLASH, type) ? BACKSLASH[type as keyof typeof BACKSLASH] : undefined
}

/** A text without whatever is an escape in some format. */
export function withoutEscapes(text: string): string {
  return [BACKSLASH.toml, TWO_QUOTES, MARKUP].reduce(
    (rest, pattern) => rest.replaceAll(pattern, meaningOf),
    text,
  )
}

function meaningOf(escape: string): string {
  if (escape === "''") return "'"
  const [, hex, decimal] = /^(?:\\[uUx]|&#x)([\da-fA-F]{2,10});?$|^&#(\d+);$/.exec(escape) ?? []
  const digits = hex ?? decimal
  if (digits !== undefined) {
    const code = Number.parseInt(digits, hex === undefined ? 10 : 16)
    return code > 0x10_ff_ff ? '' : String.fromCodePoint(code)
  }
  if (escape.startsWith('&')) return ENTITIES[escape.slice(1, -1)] ?? ''
  const [mark, character = ''] = escape
  if (mark !== '\\' || /^\\\s*\n/.test(escape)) return ''
  return LETTERS[character] ?? character
}
