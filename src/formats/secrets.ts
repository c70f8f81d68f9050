import { unescaped } from './escapes.ts'
import { type Finding, isWarning } from './finding.ts'
import { read } from './read.ts'
import { isSecretKey, judged, type Secrecy } from './secret-keys.ts'
import { commentsInPlaces, secretsInComments, type SecretPlace } from './secret-comments.ts'
import { secretsInLines, secretsInSource, withoutOverlaps } from './secret-texts.ts'
import type { Collection, Range, Reading, Scalar, Tree } from './tree.ts'
import { secretDeclarations } from './xml-secrets.ts'

/**
 * The parts of a text that people nearby should not read: values of keys such as password, by the reader of the type. Each part is
 * within a line. Comments, texts without keys and texts that the reader cannot read are looked through by their lines.
 */
export async function secretRanges(type: string, text: string): Promise<Range[]> {
  const reading = await read(type, text)
  return reading === undefined ? inLines(text, secretsInLines(text)) : secretsOf(reading, type, text)
}

/** Such a text is read nevertheless, each of its keys. */
const TWICE: ReadonlySet<string> = new Set(['duplicateKey', 'lastCounts'])

/** Such parts of a text that was read, in order and apart from each other. */
export function secretsOf(reading: Reading, type: string, text: string): Range[] {
  const { comments } = reading
  const found = secretsInComments(text, comments)
  const places: SecretPlace[] = []
  for (const root of reading.roots) new Cover({ type, text, found, places }).walk(root)
  places.sort((a, b) => a.from - b.from)
  found.push(...commentsInPlaces(text, comments, places))
  if (reading.findings.some(({ code }) => !TWICE.has(code))) found.push(...secretsInLines(text))
  if (reading.declared !== undefined) found.push(...secretDeclarations(text, reading.declared, found))
  return inLines(text, found)
}

/** The findings of a text that was read. An error within a secret does not say what is written there. */
export function withoutSecrets(reading: Reading, type: string, text: string): readonly Finding[] {
  const { findings } = reading
  if (findings.every(isWarning)) return findings
  const ranges = secretsOf(reading, type, text)
  return findings.map((one) => (isWarning(one) || !meetsAny(one, ranges) ? one : withoutText(one)))
}

/** Sentences of the reader of YAML say at their ends what is written, and those about tags anywhere. */
function withoutText(finding: Finding): Finding {
  const { code, text } = finding
  if (code.startsWith('yaml.TAG_')) return { ...finding, code: 'wrongForm', text: '' }
  const short = text.replace(/(?<=sequence|character|indicator|:) [^]*$/, '')
  return { ...finding, text: /^(?:toml|yaml)/.test(code) ? short : '••••••' }
}

/** Whether a part of a text meets one of these parts, which are in order. */
export function meetsAny({ from, to }: Range, ranges: readonly Range[]): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]!.to <= from) low = middle + 1
    else high = middle
  }
  return low < ranges.length && ranges[low]!.from < to
}

/** A text, and the secrets of it that are found: their places, and the collections below secret keys. */
interface Covered {
  readonly type: string
  readonly text: string
  readonly found: Range[]
  readonly places: SecretPlace[]
}

class Cover {
  readonly #type: string
  readonly #text: string
  readonly #found: Range[]
  readonly #places: SecretPlace[]
  /** Trees that are covered by an alias: each once. */
  readonly #covered = new Set<Tree>()

  constructor({ type, text, found, places }: Covered) {
    this.#type = type
    this.#text = text
    this.#found = found
    this.#places = places
  }

  /** Not by calling itself: elements may be as deep as the text is long. */
  walk(root: Tree): void {
    const open: [Tree, Secrecy][] = [[root, 'none']]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [tree, secrecy] = next
      if (tree.kind === 'scalar') this.#scalar(tree, secrecy)
      else if (tree.kind === 'alias') {
        const target = secrecy === 'none' ? undefined : tree.target()
        if (target === undefined || this.#covered.has(target)) continue
        this.#covered.add(target)
        open.push([target, secrecy])
      } else open.push(...this.#members(tree, secrecy))
    }
  }

  #members(tree: Collection, secrecy: Secrecy): [Tree, Secrecy][] {
    const named = namedIn(tree, this.#type)
    return tree.members.map((member) => {
      const { name, value } = member
      if (name === '#order') return [value, 'none']
      if (member.isMerge === true) return [value, secrecy]
      const ofList = tree.kind === 'list' || name.startsWith('#text')
      const own = ofList ? secrecy : judged(name.replace(/^@/, ''), secrecy)
      const isNamed = named !== undefined && named.secrecy !== 'none' && !named.names.includes(name)
      const meant = own === 'none' && isNamed ? named.secrecy : own
      if (meant !== 'none' && secrecy === 'none' && 'members' in value)
        this.#places.push({
          key: member.key,
          from: member.key.to,
          to: endOf(value),
          isAll: meant === 'several',
        })
      // In brackets, a text without a value is a key for readers of YAML.
      if (secrecy !== 'none' && tree.isFlow === true && value.from === value.to) this.#found.push(member.key)
      return [value, meant]
    })
  }

  #scalar(tree: Scalar, secrecy: Secrecy): void {
    const { from, to, text } = tree
    if (secrecy === 'none') {
      for (const range of secretsInSource(this.#type, this.#text.slice(from, to)))
        this.#found.push({ from: from + range.from, to: from + range.to })
      return
    }
    if (tree.beside !== undefined) this.#found.push(tree.beside)
    if (/^(?:true|false|null|~|)$/i.test(text)) return
    // The mark of a block says nothing of its text.
    const start = tree.isBlock === true ? this.#text.indexOf('\n', from) : from
    if (start >= 0 && start < to) this.#found.push({ from: start, to })
  }
}

/** The end of a collection: a table of TOML ends with its last value. */
function endOf(tree: Tree): number {
  let end = tree.to
  for (let last: Tree | undefined = tree; last !== undefined;) {
    end = Math.max(end, last.to)
    last = 'members' in last ? last.members.at(-1)?.value : undefined
  }
  return end
}

const NAMES = ['name', 'key', 'id', 'property', 'env', 'variable', 'field', 'header', 'option']
const VALUES = ['value', 'val', 'default', 'content', '#text']

/** In a map such as `{name: DB_PASSWORD, value: x}`, the secrecy that its name says. */
function namedIn(
  { members }: Collection,
  type: string,
): { readonly secrecy: Secrecy; readonly names: readonly string[] } | undefined {
  const plain = (name: string): string => name.replace(/^@/, '').toLowerCase()
  const isPair = members.some(({ name }) => VALUES.some((value) => plain(name).startsWith(value)))
  if (!isPair) return undefined
  const names = members.filter(
    ({ name, value }) => NAMES.includes(plain(name)) && (value.kind === 'scalar' || value.kind === 'alias'),
  )
  const said = names.map(({ value }) => wordOf(value, type)).find(isSecretKey)
  return said === undefined
    ? undefined
    : { secrecy: judged(said, 'none'), names: names.map(({ name }) => name) }
}

/** The text of a scalar, as it is read; of an alias, the text of its target. Empty for other values. */
function wordOf(value: Tree, type: string): string {
  const written = value.kind === 'alias' ? value.target() : value
  return written?.kind === 'scalar' ? (unescaped(type, written.text)?.text ?? written.text) : ''
}

/** The parts of these ranges in each line, without the blanks around, in order and apart from each other. */
function inLines(text: string, ranges: readonly Range[]): Range[] {
  const found: Range[] = []
  for (const range of withoutOverlaps(ranges)) {
    let at = range.from
    for (const line of text.slice(at, range.to).split('\n')) {
      const from = at + line.length - line.trimStart().length
      const to = at + line.trimEnd().length
      if (from < to) found.push({ from, to })
      at += line.length + 1
    }
  }
  return found
}
