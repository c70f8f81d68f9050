/** Texts that the checks of the console may find hard: for tests of the cost of checking. */

const many =
  (line: (index: number) => string, between = '\n') =>
  (count: number) =>
    Array.from({ length: count }, (_, index) => line(index)).join(between)
const repeated = (text: string) => (count: number) => text.repeat(count)

/** The type of a text, what it is made of, and the text with so many parts. */
export const CONSOLE_TEXTS: readonly (readonly [string, string, (count: number) => string])[] = [
  ['yaml', 'flat keys', many((index) => `key-${index}: ${index}`)],
  ['yaml', 'the same key', repeated('key: 1\n')],
  ['yaml', 'a flow map', (count) => `{${many((index) => `k${index}: 1`, ', ')(count)}}`],
  ['yaml', 'documents', repeated('a: 1\n---\n')],
  ['yaml', 'wrong lines', repeated('a b\n: : x\n')],
  ['json', 'keys', (count) => `{${many((index) => `"k${index}":1`, ',')(count)}}`],
  ['json', 'the same key', (count) => `{${many(() => '"k":1', ',')(count)}}`],
  ['toml', 'keys', many((index) => `key-${index} = ${index}`)],
  ['toml', 'tables', many((index) => `[t${index}]\na = 1`)],
  ['properties', 'keys', many((index) => `key-${index}=${index}`)],
  ['properties', 'the same key', repeated('key=1\n')],
  ['properties', 'one value in many lines', (count) => `a=${'x\\\n'.repeat(count)}`],
  ['properties', 'backslashes', repeated('\\')],
  ['properties', 'blanks', (count) => `a${' '.repeat(count)}\u2028${' '.repeat(count)}`],
  ['xml', 'elements', (count) => `<a>${'<b>x</b>\n'.repeat(count)}</a>`],
  ['xml', 'elements without an end', (count) => '<a>'.repeat(count / 10)],
]
