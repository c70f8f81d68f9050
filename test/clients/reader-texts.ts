import fc from 'fast-check'

/** Types that the readers of applications judge. */
export type JudgedType = 'json' | 'properties' | 'toml' | 'xml' | 'yaml'

/** The parts of these lines, which are between bars. */
const cut = (...lines: readonly string[]): string[] => lines.flatMap((line) => line.split('¦'))

/** Parts of texts: few, so that many texts mean nearly the same. */
const YAML_SCALARS = cut(
  "1¦'1'¦\"1\"¦1.0¦01¦0x1¦0o1¦1e0¦1_0¦10¦true¦True¦yes¦\"yes\"¦null¦~¦¦''¦[]¦{}¦[1]¦['1']¦{a: 1}",
  '{"a": 1}¦[[]]¦*x¦&x 1¦&x {a: 1}¦&x¦!!str 1¦!!int 1¦!!int a¦x y¦x#y¦x #y¦"x\\ty"¦"x\\qy"¦"\\x41"',
  "A¦|\n  x\n¦|\n    x\n¦>\n  x\n  y\n¦|-\n  x\n\n¦|+\n  x\n\n¦x\n  y¦'x\n  y'",
  '12345678901234567890¦12345678901234567891¦.inf¦-1¦+1¦1:30¦2026-01-02¦@x¦%x¦`x¦a: b¦*.log¦*',
  '[1,\n  2]¦{a: 1,\n b: 2}¦[1,\n2]¦"a"#c¦\'it\'\'s\'¦{a:1}¦{"a":1}¦a:b¦!Ref x¦"\\/"¦"\\u00e9"¦é',
  '\u0007¦[1¦}¦"x" y¦\tx¦x\t¦- 1¦>-\n\tx¦|2\n  x¦|\n x\n  y\n¦|\n   x\n  y\n¦[a, b, ]¦[a,, b]',
  '"x\\\ty"¦|#c\n  x\n¦"x"#c¦&x.y 1¦&x/y 1¦!!set {a: 1}',
  '{a, b: 1}¦"x\n  y"¦!!binary "@@"¦!!binary aGk=¦[1]: [2]: 3¦x\u0085y¦!!bool x',
  '!!map 1¦!!seq 1¦!!map [1]¦!!seq {a: 1}¦!!str [1]¦!!int {a: 1}¦!!null x¦!!timestamp x¦!!set {a}¦!!map {a: 1}',
)
const YAML_KEYS = cut('a¦b¦__proto__¦"a"¦\'b\'¦a.b¦1¦"1"¦1.0¦01¦1_0¦10¦0xA¦yes¦true¦<<¦a b¦&x a¦*x¦!!str a¦')
const JSON_SCALARS = cut(
  '1¦1.0¦1e0¦10¦"1"¦true¦null¦"null"¦[]¦{}¦[1]¦{"a":1}¦12345678901234567890¦12345678901234567891',
  '1e400¦2e400¦-0¦0¦01¦.5¦"\\u0041"¦"A"¦"\\x"¦"a\tb"¦¦\'a\'¦NaN¦-¦"\u2028"',
)
const JSON_KEYS = cut('"a"¦"b"¦"__proto__"¦"a.b"¦"\\u0061"¦""¦a¦"a[0]"¦"a (2)"')
const TOML_KEYS = cut('a¦b¦__proto__¦"a"¦\'a\'¦a.b¦"a.b"¦a . b¦1¦"1"¦a.a¦""¦"\\u0061"¦é')
const TOML_SCALARS = cut(
  '1¦1.0¦1e0¦"1"¦1_0¦10¦0x1¦01¦true¦[]¦{}¦[1]¦{a = 1}¦[[]]¦"""1"""¦"""\n1"""¦"\\u0041"¦"A"¦"\\q"¦inf¦nan',
  "'1'¦'''1'''¦'x¦+1¦1979-05-27¦1979-05-27T07:32:00Z¦1979-05-27 07:32:00¦07:32:00¦¦x¦[1,]¦[1,,]",
  '"x¦{a = 1,}¦{\n}¦"\\x41"¦"\\e"¦07:32¦1979-02-30¦1979-05-27T07:32Z¦{a = 1, a2 = [\n]}¦[\n1\n]¦9223372036854775807¦[1, # c\n2]¦{a.b = 1}¦"""a\\\n  b"""¦"""a""""',
)
const TOML_HEADERS = cut('[a]¦[b]¦[[a]]¦[[b]]¦[a.b]¦[ a . b ]¦[[a.b]]¦["a.b"]¦# c¦¦[a¦[]')
const PROPERTY_PARTS = cut(
  'a¦b¦=¦:¦ ¦\t¦\f¦\\¦\\\\¦\\=¦\\:¦\\ ¦\\n¦\\u0041¦\\u¦\\u00¦A¦#¦!¦\n¦\\\n¦1¦a=1\n¦a = 2\n¦ a:1\n',
  'a 1\n¦#c\n¦a=\\\n  1\n¦\u00A0¦é',
)
const XML_PARTS = cut(
  '<a>¦</a>¦<a/>¦<b>¦</b>¦<b/>¦<a b="1">¦<a b=\'1\' c="2"/>¦<a b="1" b="2"/>¦<a c="2" b="1"/>¦x¦ ',
  '\n¦&amp;¦&#65;¦A¦&#x41;¦&#0;¦&nbsp;¦&¦<¦>¦]]>¦<![CDATA[x]]>¦<![CDATA[]]>¦<!-- c -->¦<!-- -- -->',
  '<?p x?>¦<?xml?>¦<?xml version="1.0"?>¦<!DOCTYPE a>¦<!DOCTYPE a [<!ENTITY e "x">]>',
  '<!DOCTYPE a [<!ENTITY e "y">]>¦&e;¦<a b="&e;"/>¦<a b="<"/>¦<!DOCTYPE a SYSTEM "a.dtd">¦<a:b/>',
  '<1/>¦<a b/>¦<a b=1/>¦<a b="1"c="2"/>¦\u0001¦</ a>¦</a >',
)

const oneOf = (parts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...parts)

const yamlLines = fc
  .array(
    fc.tuple(
      fc.constantFrom('', '', '', '  ', '- ', '---\n', '# c\n', '...\n', '\t'),
      oneOf(YAML_KEYS),
      oneOf(YAML_SCALARS),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((lines) => lines.map(([before, key, scalar]) => `${before}${key}: ${scalar}\n`).join(''))

const jsonObject = fc
  .array(fc.tuple(oneOf(JSON_KEYS), oneOf(JSON_SCALARS)), { maxLength: 3 })
  .map((pairs) => `{${pairs.map(([key, scalar]) => `${key}:${scalar}`).join(', ')}}`)

const tomlLines = fc
  .array(
    fc.oneof(
      fc.tuple(oneOf(TOML_KEYS), oneOf(TOML_SCALARS)).map(([key, scalar]) => `${key} = ${scalar}`),
      oneOf(TOML_HEADERS),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((lines) => lines.join('\n'))

const joined = (parts: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(oneOf(parts), { minLength: 1, maxLength }).map((all) => all.join(''))

const xmlText = fc.oneof(
  joined(XML_PARTS, 6),
  joined(XML_PARTS, 4).map((text) => `<a>${text}</a>`),
)

const TEXTS: Readonly<Record<JudgedType, fc.Arbitrary<string>>> = {
  yaml: fc.oneof(yamlLines, oneOf(YAML_SCALARS), yamlLines.map(damaged)),
  json: fc.oneof(
    jsonObject,
    oneOf(JSON_SCALARS),
    jsonObject.map((text) => `[${text},1]`),
  ),
  toml: tomlLines,
  properties: joined(PROPERTY_PARTS, 8),
  xml: xmlText,
}

/** The same text without its fifth character: most are still read. */
function damaged(text: string): string {
  return text.slice(0, 4) + text.slice(5)
}

const { RUN_SEED } = process.env

/** Texts of a type, right and wrong ones, each once: the same with the same seed of the run. */
export function textsOf(type: JudgedType, numRuns: number): string[] {
  const seed = RUN_SEED === undefined ? {} : { seed: Number(RUN_SEED) }
  return [...new Set(fc.sample(TEXTS[type], { numRuns, ...seed }))]
}
