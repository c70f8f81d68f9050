import { type Collection, type Member, type Range, type Reading, stepAt, stepOf, type Tree } from './tree.ts'

/** A table or a list, and where its members are. */
interface Table extends Collection {
  to: number
  readonly byName: Map<string, Table | undefined>
}

/** A name in a key, decoded, with its place. */
interface Part extends Range {
  readonly name: string
}

const TOKENS = {
  blanks: /[ \t]*/y,
  blankLines: /[ \t\r\n]*/y,
  bareKey: /[A-Za-z0-9_-]+/y,
  basic: /"(?:[^"\\\n]|\\.)*"?/y,
  literal: /'[^'\n]*'?/y,
  basicLines: /"""(?:[^"\\]|\\[^]|"{1,2}(?!"))*(?:"{3,5})?/y,
  literalLines: /'''(?:[^']|'{1,2}(?!'))*(?:'{3,5})?/y,
  other: /[^\s,\]}#][^\n,\]}#]*/y,
  line: /[^\n]*/y,
} as const

/** How deep lists and inline tables may be. */
const MOST_DEPTH = 500

/**
 * The keys of a TOML text, with their places and values as they are written. It is no judge: it reads a right text right, and of
 * a wrong one as much as it can, a line at a time.
 */
export class TomlKeys {
  readonly #text: string
  readonly #comments: Range[] = []
  /** Inline tables in several lines, or with a comma at the end: TOML 1.1 has them. */
  readonly #longTables: Range[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Pick<Reading, 'roots' | 'comments'> & { readonly longTables: readonly Range[] } {
    const root: Table = { ...tableAt('map', 0, false), isText: true }
    root.to = this.#text.length
    let current = root
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#text[this.#at] === '[') current = this.#header(root)
      else this.#keyAndValue(current, 0)
      this.#restOfLine()
    }
    return { roots: [root], comments: this.#comments, longTables: this.#longTables }
  }

  #header(root: Table): Table {
    const isList = this.#text.startsWith('[[', this.#at)
    const from = this.#at
    this.#at += isList ? 2 : 1
    const parts = this.#key()
    const last = parts.pop()
    if (last === undefined) return root
    const parent = parts.reduce((table, part) => below(table, part, from), root)
    if (!isList) return below(parent, last, from)
    const list = parent.byName.get(last.name) ?? put(parent, last, tableAt('list', from, false))
    return append(list, tableAt('map', from, false))
  }

  #keyAndValue(table: Table, depth: number): void {
    const from = this.#at
    const parts = this.#key()
    const last = parts.pop()
    this.#token('blanks')
    if (last === undefined || this.#text[this.#at] !== '=') return
    this.#at++
    this.#token('blanks')
    const parent = parts.reduce((above, part) => below(above, part, from), table)
    this.#value(depth, (value) => void put(parent, last, value))
  }

  #key(): Part[] {
    const parts: Part[] = []
    do {
      this.#token('blanks')
      const from = this.#at
      const written = this.#token('bareKey') || this.#token('basic') || this.#token('literal')
      if (written === '') break
      parts.push({ name: decoded(written), from, to: this.#at })
      this.#token('blanks')
    } while (this.#isNext('.'))
    return parts
  }

  #value(depth: number, add: (value: Tree) => void): void {
    const from = this.#at
    const isDeep = depth > MOST_DEPTH
    if (this.#text[from] === '[' && !isDeep) return this.#list(depth, add)
    if (this.#text[from] === '{' && !isDeep) return this.#inlineTable(depth, add)
    for (const name of ['basicLines', 'literalLines', 'basic', 'literal', 'other'] as const)
      if (this.#token(name) !== '') break
    const text = this.#text.slice(from, this.#at).trimEnd()
    add({ kind: 'scalar', from, to: from + text.length, text })
  }

  #list(depth: number, add: (value: Tree) => void): void {
    const list = tableAt('list', this.#at++, true)
    add(list)
    for (this.#skip(); !this.#isEnd(']'); this.#skip()) {
      const from = this.#at
      this.#value(depth + 1, (value) => void append(list, value))
      this.#skip()
      this.#isNext(',')
      if (this.#at === from) break
    }
    list.to = this.#at
  }

  #inlineTable(depth: number, add: (value: Tree) => void): void {
    const table = tableAt('map', this.#at++, true)
    add(table)
    let isLong = this.#skip()
    let isComma = false
    while (!this.#isEnd('}')) {
      const from = this.#at
      this.#keyAndValue(table, depth + 1)
      isLong = this.#skip() || isLong
      isComma = this.#isNext(',')
      if (this.#at === from) break
      isLong = this.#skip() || isLong
    }
    table.to = this.#at
    if (isLong || isComma) this.#longTables.push({ from: table.from, to: table.to })
  }

  #isEnd(bracket: string): boolean {
    return this.#at >= this.#text.length || this.#isNext(bracket)
  }

  #isNext(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  /** Skips blanks, ends of lines, and comments. Returns whether there was an end of a line. */
  #skip(): boolean {
    const start = this.#at
    for (this.#token('blankLines'); this.#text[this.#at] === '#'; this.#token('blankLines')) {
      const from = this.#at
      this.#token('line')
      this.#comments.push({ from, to: this.#at })
    }
    return this.#text.slice(start, this.#at).includes('\n')
  }

  #restOfLine(): void {
    const from = this.#at
    const hash = this.#token('line').indexOf('#')
    if (hash >= 0) this.#comments.push({ from: from + hash, to: this.#at })
  }

  #token(name: keyof typeof TOKENS): string {
    const pattern = TOKENS[name]
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }
}

function tableAt(kind: 'map' | 'list', from: number, isFlow: boolean): Table {
  return { kind, from, to: from, members: [], isFlow, byName: new Map() }
}

/** The table with this name in another one; in a list of tables, in its last one. */
function below(table: Table, part: Part, at: number): Table {
  const there = table.byName.get(part.name)
  if (there === undefined) return put(table, part, tableAt('map', at, false))
  const last: Tree | undefined = there.kind === 'list' ? there.members.at(-1)?.value : there
  return (last as Table | undefined)?.byName === undefined ? there : (last as Table)
}

function put<T extends Tree>(table: Table, { name, from, to }: Part, value: T): T {
  table.members.push({ name, step: stepOf(name), key: { from, to }, value } satisfies Member)
  table.byName.set(name, 'byName' in value ? (value as unknown as Table) : undefined)
  return value
}

function append<T extends Tree>(list: Table, value: T): T {
  const index = list.members.length
  const key = { from: value.from, to: value.from }
  list.members.push({ name: String(index), step: stepAt(index), key, value })
  return value
}

function decoded(written: string): string {
  if (written.startsWith("'")) return written.slice(1, -1)
  if (!written.startsWith('"')) return written
  // JSON has no \U, and no tab in a text.
  const asJson = written
    .replaceAll(/\\(?:U([\da-fA-F]{8})|[^])/g, (whole, code: string | undefined) =>
      code === undefined ? whole : jsonOf(Number.parseInt(code, 16)),
    )
    .replaceAll('\t', String.raw`\t`)
  try {
    return JSON.parse(asJson) as string
  } catch {
    return written
  }
}

const jsonOf = (code: number): string =>
  code > 0x10_ff_ff ? '' : JSON.stringify(String.fromCodePoint(code)).slice(1, -1)
