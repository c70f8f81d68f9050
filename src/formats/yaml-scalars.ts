/** Single values of YAML, as readers of YAML 1.1 take them: those of Java and Python. */
import { isScalar, type Node, type Scalar } from 'yaml'
import type { Finding } from './finding.ts'
import type { Range, Tree } from './tree.ts'

/** A plain text that begins so is a text, except for these words. */
const TEXT = /^[\p{L}_$/][^\s"'\\]*$/u
const WORDS = /^(?:true|false|yes|no|on|off|y|n|null)$/i
const TRUE = /^(?:true|yes|on)$/i

/** Whether a key is the same text with and without quotes. */
export const isSameAsPlain = ({ value }: Scalar): boolean =>
  typeof value === 'string' && TEXT.test(value) && !WORDS.test(value)

/** Equal for two keys of a map that readers take for one. */
export function keyIdentity(key: Node | null, step: string): string {
  if (!isScalar(key)) return `node ${step}`
  const { value, type, source = '', tag } = key
  if (tag === 'tag:yaml.org,2002:str') return `string ${source}`
  if (tag !== undefined) return `${tag} ${source}`
  if (type !== 'PLAIN') return `string ${String(value)}`
  if (/^(?:true|yes|on|false|no|off)$/i.test(source))
    return isMixedCase(source) ? `string ${source}` : `boolean ${TRUE.test(source)}`
  if (INT.test(source)) return `int ${intOf(source)}`
  if (FLOAT.test(source)) return `float ${floatOf(source)} ${source.startsWith('-')}`
  return value === null ? 'null' : `string ${typeof value === 'string' ? value : source}`
}

/** Longer numbers are compared as they are written: reading them takes long. */
const LONGEST_NUMBER = 100

/** A whole number of YAML 1.1 in any of its forms; `1:30` is one of base 60. */
function intOf(source: string): bigint | string {
  if (source.length > LONGEST_NUMBER) return source
  const digits = source.replaceAll(/[-+_]/g, '')
  const octal = /^0(?=[0-7])/.test(digits) ? digits.replace('0', '0o') : digits
  const value = octal.split(':').reduce((all, part) => all * 60n + BigInt(part), 0n)
  return source.startsWith('-') ? -value : value
}

/** `.inf` and `.nan` are themselves, in any case. */
const floatOf = (source: string): number | string =>
  /\.[in]/i.test(source) ? source.slice(-3).toLowerCase() : Number(source.replaceAll('_', ''))

/** `yEs` is a text. */
const isMixedCase = (word: string): boolean =>
  ![word.toLowerCase(), word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1).toLowerCase()].includes(
    word,
  )

/** The forms of numbers in YAML 1.1; one without a tag has a digit behind its mark. */
const INT = /^[-+]?(?:0b_*[01][01_]*|0x_*[\da-fA-F][\da-fA-F_]*|0[0-7_]*|[1-9][\d_]*(?::[0-5]?\d)*)$/
const FLOAT =
  /^(?:[-+]?(?:\d[\d_]*\.[\d_]*(?:[eE][-+]?\d+)?|\d[\d_]*[eE][-+]?\d+|\.(?:inf|Inf|INF))|\.\d[\d_]*(?:[eE][-+]?\d+)?|\.(?:nan|NaN|NAN))$/

const FORMS: Readonly<Record<string, RegExp>> = {
  'tag:yaml.org,2002:int': /^[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0[0-7_]*|[1-9][\d_]*(?::[0-5]?\d)*)$/,
  'tag:yaml.org,2002:float':
    /^(?:[-+]?(?:[\d_]+(?:\.[\d_]*)?|\.[\d_]+)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  'tag:yaml.org,2002:bool': WORDS,
}

const TAGS =
  /^tag:yaml\.org,2002:(?!(?:map|seq|str|null|bool|int|float|binary|timestamp|omap|pairs|set|merge|value|yaml)$)/

/** Whether a tag is written as one of YAML and is none: `!!strr`. Tags of applications, such as `!Ref`, are theirs. */
export const hasUnknownTag = ({ tag }: { tag?: string }): boolean => tag !== undefined && TAGS.test(tag)

/** The values of tags that have others in them; those of the other tags of YAML have none. */
const COLLECTIONS: Readonly<Record<string, Tree['kind']>> = {
  map: 'map',
  set: 'map',
  seq: 'list',
  omap: 'list',
  pairs: 'list',
}

/** Whether a tag of YAML is for another kind of value: `!!seq 1`, `!!str [1]`. */
export function isOfOtherKind({ tag }: { tag?: string }, kind: Tree['kind']): boolean {
  const [, name] = /^tag:yaml\.org,2002:(\w+)$/.exec(tag ?? '') ?? []
  return name !== undefined && (COLLECTIONS[name] ?? 'scalar') !== kind
}

/** Whether a value has not the form that its tag says: `!!int abc`. */
export function hasWrongForm({ tag, source = '' }: Scalar): boolean {
  if (tag === 'tag:yaml.org,2002:binary') return !isBase64(source.replaceAll(/\s/g, ''))
  const form = tag === undefined ? undefined : FORMS[tag]
  return form !== undefined && !form.test(source)
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(text)

/**
 * A value as it is written, without its place. The lines of a block have no indentation, and later lines of another text have no
 * blanks in front. Readers that take two values for different ones do so after this too.
 */
export function sourceOf({ type }: Scalar, source: string): string {
  if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') return blockOf(source)
  return source.includes('\n') ? source.replaceAll(/\n[ \t]*/g, '\n') : source
}

function blockOf(source: string): string {
  const [header = '', ...lines] = source.split('\n')
  const marks = /^[|>][-+\d]*/.exec(header)?.[0] ?? ''
  // An indentation that is said, or a tab: the lines stay as they are.
  if (/\d/.test(marks) || lines.some((line) => /^ *\t/.test(line))) return source
  const indent = lines.reduce(
    (least, line) => (line.trim() === '' ? least : Math.min(least, indentOf(line))),
    Infinity,
  )
  // Blank lines may be longer or shorter than the indentation.
  const own = lines.map((line) => line.slice(Math.min(indent, indentOf(line))))
  if (!marks.includes('+')) {
    const isEnded = own.at(-1) === ''
    while (own.at(-1) === '') own.pop()
    if (isEnded && own.length > 0) own.push('')
  }
  return [marks, ...own].join('\n')
}

const indentOf = (line: string): number => /^ */.exec(line)![0].length

const COMMENT = /[ \t]*#[^\s#][^\n]*/y
const MARKED = /[!&]\S+[ \t]*$/
const LONGEST_MARK = 250

/** The range that people may take for a part of a value without quotes: the comment `#x` behind it, or `!x` and `&x` before no value. */
export function besideOf(text: string, { from, to }: Range): Range | undefined {
  COMMENT.lastIndex = to
  const [comment = ''] = COMMENT.exec(text) ?? []
  const before = from === to ? MARKED.exec(text.slice(Math.max(0, from - LONGEST_MARK), from)) : null
  const [mark = ''] = before ?? []
  return mark + comment === '' ? undefined : { from: from - mark.length, to: to + comment.length }
}

/** The comments of a text: each `#` behind a blank or at the start of a line that is in no value. */
export function commentsBetween(text: string, values: readonly Range[]): Range[] {
  const found: Range[] = []
  const sorted = values.toSorted((a, b) => a.from - b.from)
  let next = 0
  let at = text.indexOf('#')
  while (at >= 0) {
    while (next < sorted.length && sorted[next]!.to <= at) next++
    const value = sorted[next]
    const isInValue = value !== undefined && value.from <= at
    if (isInValue || !/\s/.test(text[at - 1] ?? '\n')) {
      at = text.indexOf('#', isInValue ? value.to : at + 1)
      continue
    }
    const end = text.indexOf('\n', at)
    const to = end < 0 ? text.length : end
    found.push({ from: at, to })
    at = text.indexOf('#', to)
  }
  return found
}

/** The place of an escaped slash or tab in a text in quotes, which the reader of Java does not take; -1: there is none. */
export function otherEscapeIn({ type }: Scalar, source: string): number {
  if (type !== 'QUOTE_DOUBLE' || !/\\[/\t]/.test(source)) return -1
  const escapes = [...source.matchAll(/\\[^]/g)]
  return escapes.find(([escape]) => escape === '\\/' || escape === '\\\t')?.index ?? -1
}

/** Where a document begins behind `...`, without `---`, and where `...` comes before the first document. */
export function wrongDocumentMarks(text: string): Finding[] {
  const found: Finding[] = []
  if (!text.includes('...')) return found
  let before: 'nothing' | 'end' | 'content' = 'nothing'
  let at = 0
  for (const line of text.split('\n')) {
    const isEnd = /^\.\.\.(?:\s|$)/.test(line)
    if (isEnd || !/^\s*(?:#|$)/.test(line)) {
      const isWrong = isEnd ? before === 'nothing' : before === 'end' && !/^(?:---(?:\s|$)|%)/.test(line)
      if (isWrong) found.push({ code: 'startExpected', text: '', from: at, to: at + line.length })
      before = isEnd ? 'end' : 'content'
    }
    at += line.length + 1
  }
  return found
}
