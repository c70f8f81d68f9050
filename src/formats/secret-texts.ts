/** Secrets in texts whose format nobody knows, and within single values: by their looks. */
import { unescaped, withoutEscapes } from './escapes.ts'
import { isSecretKey } from './secret-keys.ts'
import type { Range } from './tree.ts'

/** A key, what parts it from its value, and the place of the value. */
const PAIR = /(?<![\w.$/-])(["']?)([\w.$/-]{1,250})\1(?:[ \t]*[:=]|(?=\t))[ \t]*/g
const QUOTED = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^]|'')*'/y
/** The start of an element that is not empty. */
const ELEMENT = /<([\w.:-]{1,250})(?:\s[^<>]{0,2000})?(?<!\/)>/g
const END_TAG = /<\/([\w.:-]{1,250})/g
const NAMED =
  /\b(?:name|key|id)\s{0,9}[=:]\s{0,9}["']([^"']{1,250})["'][^<>{}]{0,250}?value["']?\s{0,9}[=:]\s{0,9}["']([^"']*)["']/gi
/** The value is in the lines below. */
const BLOCK = /^(?:[|>][+-]?\d*\s*(?:#.*)?|[[{])$/
/** A line that long was not written by people. */
const LONGEST_LINE = 20_000

/** The secrets within a value as it is written, and without its escapes: in either form one may end too early. */
export function secretsInSource(
  type: string,
  source: string,
  look: (text: string) => Range[] = secretsInText,
): Range[] {
  const value = unescaped(type, source)
  if (value === undefined) return look(source)
  const { text, places } = value
  const behind = look(text).map(({ from, to }) => ({ from: places[from]!, to: places[to]! }))
  return [...look(source), ...behind]
}

/** The secrets in a value. One of several lines may be a file of its own: its values go up to the ends of lines. */
function secretsInText(text: string): Range[] {
  const found = secretsInValue(text)
  if (!text.includes('\n')) return found
  return [...found.filter(({ from, to }) => !BLOCK.test(text.slice(from, to))), ...secretsInLines(text)]
}

/** The parts of a text that are values of keys such as password. Each line is looked at once. */
export function secretsInLines(text: string): Range[] {
  const found = secretsInElements(text)
  /** The indentation of a key whose value is below it. */
  let above: number | undefined
  let at = 0
  for (const line of text.split('\n')) {
    const indent = line.length - line.trimStart().length
    const isBelow = above !== undefined && (indent > above || (indent === above && /^\s*-\s/.test(line)))
    if (line.trim() !== '')
      if (isBelow) found.push({ from: at + indent, to: at + line.trimEnd().length })
      else {
        const inLine = secretsInLine(line)
        above = isOpen(line, inLine) ? indent : undefined
        if (above === undefined || !BLOCK.test(line.slice(inLine.at(-1)?.from ?? 0).trim()))
          found.push(...inLine.map(({ from, to }) => ({ from: at + from, to: at + to })))
      }
    at += line.length + 1
  }
  return found
}

/** Whether a text may have secrets, in any format: it has a key for one somewhere, or a password in an address. */
export function mayHaveSecrets(text: string): boolean {
  return [text, withoutEscapes(text)].some((one) => {
    const hasKey = (one.match(/[\w.$/-]+/g) ?? []).some(isSecretKey)
    return hasKey || passwordsInAddresses(one).length > 0
  })
}

/** Whether the value of the key of a line is in the lines below, or continues there. */
function isOpen(line: string, ranges: readonly Range[]): boolean {
  const last = ranges.at(-1)
  if (last !== undefined) return BLOCK.test(line.slice(last.from).trim()) || line.endsWith('\\')
  const [, , key = ''] = /^\s*(?:- )?(["']?)([\w.$/-]{1,250})\1\s*[:=]\s*$/.exec(line) ?? []
  return key !== '' && isSecretKey(key)
}

/** Such parts of a line, or of a text that is as one. */
export function secretsInLine(line: string): Range[] {
  if (line.length > LONGEST_LINE) return isSecretKey(line) ? [{ from: 0, to: line.length }] : []
  const found = [...secretsInValue(line, true), ...secretsInElements(line)]
  for (const match of line.matchAll(NAMED)) if (isSecretKey(match[1]!)) found.push(endOf(match, match[2]!, 1))
  return withoutOverlaps(found)
}

/** The texts of elements such as `<password>`, up to their end tags; without one, up to the next tag of the line. */
function secretsInElements(text: string): Range[] {
  const found: Range[] = []
  let ends: ReadonlyMap<string, number> | undefined
  let behind = 0
  for (const { 0: whole, 1: name = '', index } of text.matchAll(ELEMENT)) {
    if (index < behind || !isSecretKey(name)) continue
    ends ??= new Map([...text.matchAll(END_TAG)].map((tag) => [tag[1]!, tag.index]))
    const from = index + whole.length
    // An end tag that does not follow is not looked for.
    const to = (ends.get(name) ?? -1) < from ? nextTag(text, from) : text.indexOf(`</${name}`, from)
    if (from < to) found.push({ from, to })
    behind = Math.max(from, to)
  }
  return found
}

/** The place of the next tag of the line, -1 where there is none. */
function nextTag(text: string, from: number): number {
  const tag = /[<\n]/g
  tag.lastIndex = from
  const found = tag.exec(text)
  return found?.[0] === '<' ? found.index : -1
}

function endOf({ index, 0: whole }: RegExpExecArray, value: string, behind: number): Range {
  const to = index + whole.length - behind
  return { from: to - value.length, to }
}

/** The secrets within a value: passwords in addresses, and values of keys in it. In a line, a value goes up to the end. */
function secretsInValue(text: string, isLine = false): Range[] {
  const found = passwordsInAddresses(text)
  let behind = 0
  for (const match of text.matchAll(PAIR)) {
    const { index, 0: whole, 2: key = '' } = match
    if (index < behind || !isSecretKey(key)) continue
    const from = index + whole.length
    const before = text.startsWith('&amp;', index - 5) ? '&' : text[index - 1]
    const to = valueEnd(text, { from, before, isQuoted: match[1] !== '', isLine })
    if (from < to) found.push({ from, to })
    behind = to
  }
  return withoutOverlaps(found)
}

/** The beginning of the value of a key in a text. */
interface Begun {
  readonly from: number
  /** The character before the key. */
  readonly before: string | undefined
  /** Whether the key has quotes. */
  readonly isQuoted: boolean
  readonly isLine: boolean
}

function valueEnd(text: string, begun: Begun): number {
  const { from } = begun
  QUOTED.lastIndex = from
  const [quoted] = QUOTED.exec(text) ?? []
  if (quoted !== undefined) return from + quoted.length
  // A quote without an end: the same is not looked for once more.
  if ('"\''.includes(text[from] ?? ' ')) return text.trimEnd().length
  const end = endIn(begun)
  end.lastIndex = from
  const at = end.exec(text)?.index ?? text.length
  return from + text.slice(from, at).trimEnd().length
}

/** The end of a value without quotes. Only between values of an address does `&` or `;` end one, and only if it is before the key, too. */
function endIn({ before, isQuoted, isLine }: Begun): RegExp {
  if (before === '?' || before === '&') return /[&\s"'<]/g
  if (before === ';') return /[;\n"'<]/g
  if (!isLine) return /[\s"'<]/g
  return isQuoted || before === '{' || before === ',' ? /[,}\s]/g : /\n/g
}

/** `redis://:password@host`, also where the password has odd characters; `jdbc:oracle:thin:user/password@host`; `user:password@tcp(host)`. */
function passwordsInAddresses(text: string): Range[] {
  const found: Range[] = []
  for (let at = text.indexOf('://'); at >= 0;) {
    const next = text.indexOf('://', at + 3)
    const rest = text.slice(at + 3, next < 0 ? undefined : next)
    const length = /^[^\s"'<>`]*/.exec(rest)![0].length
    const range = passwordIn(rest.slice(0, length)) ?? passwordWithBlanks(rest)
    if (range !== undefined) found.push({ from: at + 3 + range.from, to: at + 3 + range.to })
    at = next
  }
  for (const match of text.matchAll(/(?<![^\s"'=])[\w.-]{1,100}:([^\s"']{1,200})@(?:tcp|unix)\(/g)) {
    const from = match.index + match[0].indexOf(':') + 1
    found.push({ from, to: from + match[1]!.length })
  }
  for (const match of text.matchAll(/:thin:[^\s/@:]{1,100}\/([^\s@]{1,200})@/g))
    found.push(endOf(match, match[1]!, 1))
  return found
}

/** `postgres://user:a b@host`. A port is no such password, and neither is a placeholder. */
function passwordWithBlanks(rest: string): Range | undefined {
  const begin = /^(?!\[)([^\s"'<>`/?#:@]{0,200}):(?![${%])([^\s"'<>`/?#@]{1,200}[ \t][^\n"'<>`@]{0,200})@\S/
  const [, user = '', password] = begin.exec(rest) ?? []
  if (password === undefined || (user !== '' && /^\d{1,5}(?!\w)/.test(password))) return undefined
  return { from: user.length + 1, to: user.length + 1 + password.length }
}

function passwordIn(address: string): Range | undefined {
  const colon = address.indexOf(':')
  const slash = address.search(/[/?#]/)
  const host = slash < 0 ? address : address.slice(0, slash)
  let end = host.lastIndexOf('@')
  // A port has digits only, and a host before it.
  if (end < 0 && (colon === 0 || !/^\d*$/.test(host.slice(colon + 1)))) end = address.lastIndexOf('@')
  return colon < 0 || colon + 1 >= end || (slash >= 0 && slash < colon)
    ? undefined
    : { from: colon + 1, to: end }
}

/** These parts in order and apart from each other: parts that overlap are one. */
export function withoutOverlaps(ranges: readonly Range[]): Range[] {
  const kept: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = kept.at(-1)
    if (last === undefined || range.from >= last.to) kept.push(range)
    else if (range.to > last.to) kept[kept.length - 1] = { from: last.from, to: range.to }
  }
  return kept
}
