import type { Finding } from './finding.ts'

/** Finds what is wrong with a JSON text: the first error of its form, and keys that occur twice in an object. */
export function checkJson(text: string): Finding[] {
  const reader = new JsonReader(text)
  reader.read()
  return reader.findings
}

class Stop extends Error {}

const MOST_DEPTH = 500

class JsonReader {
  readonly findings: Finding[] = []
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): void {
    try {
      this.#value(0)
      this.#skipBlanks()
      if (this.#at < this.#text.length) this.#fail('afterEnd')
    } catch (error) {
      if (!(error instanceof Stop)) throw error
    }
  }

  #value(depth: number): void {
    this.#skipBlanks()
    const character = this.#text[this.#at]
    if (depth > MOST_DEPTH) this.#fail('tooDeep')
    if (character === '{') this.#object(depth)
    else if (character === '[') this.#array(depth)
    else if (character === '"') this.#string()
    else this.#word()
  }

  #object(depth: number): void {
    const keys = new Set<string>()
    this.#at++
    if (this.#isNext('}')) return
    do {
      this.#skipBlanks()
      const from = this.#at
      if (this.#text[from] !== '"') this.#fail('keyExpected')
      const key = this.#string()
      if (keys.has(key)) this.findings.push({ code: 'duplicateKey', text: key, from, to: this.#at })
      keys.add(key)
      if (!this.#isNext(':')) this.#fail('colonExpected')
      this.#value(depth + 1)
    } while (this.#isNext(','))
    if (!this.#isNext('}')) this.#fail('commaOrEndExpected')
  }

  #array(depth: number): void {
    this.#at++
    if (this.#isNext(']')) return
    do this.#value(depth + 1)
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
