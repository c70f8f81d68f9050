import type { Finding } from './finding.ts'
import { type Collection, type Range, type Reading, stepAt, stepOf, type Tree } from './tree.ts'

/** Reads a JSON text up to its first error. Keys that occur twice in an object are found, and read. */
export function readJson(text: string): Reading {
  const reader = new JsonReader(text)
  reader.read()
  return reader
}

class Stop extends Error {}

const MOST_DEPTH = 500

class JsonReader implements Reading {
  readonly roots: Tree[] = []
  readonly findings: Finding[] = []
  readonly comments: Range[] = []
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): void {
    try {
      this.#value(0, (root) => this.roots.push(root))
      this.#skipBlanks()
      if (this.#at < this.#text.length) this.#fail('afterEnd')
    } catch (error) {
      if (!(error instanceof Stop)) throw error
    }
  }

  /** Reads a value. It is put where it belongs before it is complete, so that it is there after an error too. */
  #value(depth: number, put: (value: Tree) => void): void {
    this.#skipBlanks()
    const [from, character] = [this.#at, this.#text[this.#at]]
    if (depth > MOST_DEPTH) this.#fail('tooDeep')
    if (character === '{' || character === '[') {
      const made = {
        kind: character === '{' ? 'map' : 'list',
        from,
        to: from,
        members: [],
        isFlow: true,
      } as const
      const collection: Collection & { to: number } = { ...made, members: [] }
      put(collection)
      if (character === '{') this.#object(depth, collection)
      else this.#array(depth, collection)
      collection.to = this.#at
      return
    }
    if (character === '"') this.#string()
    else this.#word()
    put({ kind: 'scalar', from, to: this.#at, text: this.#text.slice(from, this.#at) })
  }

  #object(depth: number, { members }: Collection): void {
    const keys = new Set<string>()
    this.#at++
    if (this.#isNext('}')) return
    do {
      this.#skipBlanks()
      const from = this.#at
      if (this.#text[from] !== '"') this.#fail('keyExpected')
      const name = this.#string()
      const key = { from, to: this.#at }
      if (keys.has(name)) this.findings.push({ code: 'lastCounts', text: name, ...key })
      keys.add(name)
      if (!this.#isNext(':')) this.#fail('colonExpected')
      this.#value(depth + 1, (value) => members.push({ name, step: stepOf(name), key, value }))
    } while (this.#isNext(','))
    if (!this.#isNext('}')) this.#fail('commaOrEndExpected')
  }

  #array(depth: number, { members }: Collection): void {
    this.#at++
    if (this.#isNext(']')) return
    do
      this.#value(depth + 1, (value) => {
        const name = String(members.length)
        members.push({ name, step: stepAt(members.length), key: { from: value.from, to: value.from }, value })
      })
    while (this.#isNext(','))
    if (!this.#isNext(']')) this.#fail('commaOrEndExpected')
  }

  #string(): string {
    const from = this.#at
    // oxlint-disable-next-line no-control-regex
    const found = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
    found.lastIndex = from
    const [whole] = found.exec(this.#text) ?? []
    if (whole === undefined) return this.#fail('wrongString')
    this.#at += whole.length
    return JSON.parse(whole) as string
  }

  #word(): void {
    const found = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
    found.lastIndex = this.#at
    const [whole] = found.exec(this.#text) ?? []
    if (whole === undefined) this.#fail('valueExpected')
    else this.#at += whole.length
  }

  #isNext(character: string): boolean {
    this.#skipBlanks()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #skipBlanks(): void {
    const blanks = /[ \t\r\n]*/y
    blanks.lastIndex = this.#at
    this.#at += blanks.exec(this.#text)![0].length
  }

  #fail(code: Finding['code']): never {
    const from = Math.min(this.#at, this.#text.length)
    this.findings.push({ code, text: '', from, to: Math.min(from + 1, this.#text.length) })
    throw new Stop()
  }
}
