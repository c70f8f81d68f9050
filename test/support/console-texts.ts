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
  ['yaml', 'secrets', many((index) => `password-${index}:\n  - a\n  - redis://:b@c # token: d`)],
  [
    'yaml',
    'aliases of one secret',
    (count) => `a: &a x\n${repeated('- {token: *a}\n')(count).replaceAll('- ', 'b: ')}`,
  ],
  ['yaml', 'merges', (count) => `a: &a {b: 1}\n${many((index) => `c${index}: {<<: *a}`)(count)}`],
  ['yaml', 'comments', repeated('# password: x\n')],
  ['yaml', 'blocks', repeated('- |\n  a\n')],
  ['json', 'secrets', (count) => `{"tokens":[${many(() => '"token=\\"x"', ',')(count)}]}`],
  ['json', 'a value with quotes without an end', (count) => `["${repeated('token:\\"x\\\\')(count)}"]`],
  ['json', 'a value of one word', (count) => `["${repeated('w')(count)}"]`],
  ['json', 'addresses', (count) => `["${repeated('a://b:c@')(count)}"]`],
  ['json', 'keys', (count) => `{${many((index) => `"k${index}":1`, ',')(count)}}`],
  ['json', 'the same key', (count) => `{${many(() => '"k":1', ',')(count)}}`],
  ['toml', 'keys', many((index) => `key-${index} = ${index}`)],
  ['toml', 'tables', many((index) => `[t${index}]\na = 1`)],
  ['properties', 'keys', many((index) => `key-${index}=${index}`)],
  ['properties', 'the same key', repeated('key=1\n')],
  ['properties', 'one value in many lines', (count) => `a=${'x\\\n'.repeat(count)}`],
  ['properties', 'backslashes', repeated('\\')],
  ['properties', 'blanks', (count) => `a${' '.repeat(count)}\u2028${' '.repeat(count)}`],
  ['toml', 'lists of tables', repeated('[[a.b]]\nc = [1, {d = 2}]\n')],
  ['toml', 'wrong lines', repeated('a [ "b\n')],
  ['properties', 'characters that nobody sees', repeated('a\u3000=\u00A0b \n')],
  ['text', 'secrets', repeated('password: x\n')],
  ['text', 'an open secret', (count) => `token:\n${repeated('  x\n')(count)}`],
  ['xml', 'attributes', (count) => `<a ${many((index) => `a${index}="&lt;"`, ' ')(count)}/>`],
  ['xml', 'entities', (count) => `<!DOCTYPE a [${many((i) => `<!ENTITY e${i} "&e${i + 1};">`)(count)}]><a/>`],
  ['xml', 'texts beside elements', (count) => `<a>${repeated('x<b/>&amp;<c/>')(count)}</a>`],
  ['xml', 'comments', (count) => `<a>${repeated('<!-- password: x --->')(count)}</a>`],
  ['xml', 'elements', (count) => `<a>${'<b>x</b>\n'.repeat(count)}</a>`],
  ['xml', 'elements without an end', (count) => '<a>'.repeat(count / 10)],
]
