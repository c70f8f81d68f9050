/** Texts of a given size that readers may find hard: for tests that measure what reading a text costs. */

/** A text of about this many bytes, as they are sent. */
export type Shape = (bytes: number) => string

/** The same text again and again. */
export const repeated =
  (unit: string): Shape =>
  (bytes) =>
    unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes)

/** Texts that differ, one after the other. */
export const joined =
  (unit: (at: number) => string): Shape =>
  (bytes) => {
    const parts: string[] = []
    for (let at = 0, length = 0; length < bytes; at++) {
      const part = unit(at)
      parts.push(part)
      length += part.length
    }
    return parts.join('').slice(0, bytes)
  }

/** The base of comparison: it needs no escaping, and means nothing to any reader. */
export const LETTERS: Shape = repeated('abcdefghij')

/** The same for readers of lines. */
export const LETTERS_IN_LINES: Shape = repeated('abcdefg\n')

/** The ten shapes for the value of a parameter. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  'the same separator': repeated(','),
  'separators of listening': repeated('\u0002'),
  'ends of listening': repeated('a\u0002b\u0002\u0001'),
  brackets: repeated('['),
  'deep nesting': (bytes) => nested(Math.floor(bytes / 6)),
  blanks: repeated(' '),
  escapes: (bytes) => `{"a":"${repeated('\\u0041')(bytes)}"}`,
  digits: repeated('9'),
  'long keys': (bytes) => `{${joined((at) => `"${'k'.repeat(500)}${at}":"v",`)(bytes)}"z":"v"}`,
  'many keys': (bytes) => `{${joined((at) => `"${at}":"",`)(bytes)}"z":""}`,
  wildcards: repeated('*a'),
  'lines of spaces': repeated(`a${' '.repeat(500)}\n`),
  'key=value pairs': joined((at) => `k${at}=v,`),
  'quotes and equals': repeated('"='),
}

/** The shapes of a whole form, which are sent as they are. */
export const FORM_SHAPES: Readonly<Record<string, Shape>> = {
  plus: repeated('+'),
  ampersands: repeated('&'),
  equals: repeated('='),
  semicolons: repeated(';'),
  'escaped letters': repeated('%41'),
  'percent signs': repeated('%'),
  'many names': joined((at) => `n${at}=&`),
  'the same name': repeated('a=b&'),
  'token names': repeated('accessToken='),
  'nearly token names': repeated('&accessToke'),
  'escaped separators': repeated('%26%3D'),
  'escaped token names': repeated('%61ccessToken=a&'),
}

/** The shapes of lines: contents that are searched, and metadata of archives. */
export const LINE_SHAPES: Readonly<Record<string, Shape>> = {
  'empty lines': repeated('\n'),
  'carriage returns': repeated('\r'),
  'short lines': repeated('a\n'),
  'lines of spaces': repeated(`a${' '.repeat(500)}\n`),
  'spaces behind colons': repeated(`a:${' '.repeat(500)}x\n`),
  'one line of spaces': repeated(' '),
  'keys and values': joined((at) => `key${at}=value\n`),
  'deep keys': joined((at) => `${' '.repeat(at % 400)}${'k'.repeat(20)}:\n`),
  dashes: repeated('- '),
  quotes: repeated('"'),
}

/** The shapes in texts whose bytes are counted as they are sent in a form: escaped. */
export function asParameters(shapes: Readonly<Record<string, Shape>>): Record<string, Shape> {
  return scaled(shapes, (text) => encodeURIComponent(text).length)
}

/** The shapes in texts whose bytes are counted as they are sent in JSON. */
export function asJson(shapes: Readonly<Record<string, Shape>>): Record<string, Shape> {
  return scaled(shapes, (text) => JSON.stringify(text).length)
}

function scaled(
  shapes: Readonly<Record<string, Shape>>,
  sentBytes: (text: string) => number,
): Record<string, Shape> {
  const entries = Object.entries(shapes).map(([name, shape]): [string, Shape] => {
    const growth = sentBytes(shape(3_000)) / 3_000
    return [name, (bytes) => shape(Math.floor(bytes / growth))]
  })
  return Object.fromEntries(entries)
}

function nested(depth: number): string {
  return '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
}
