import type { Finding } from './finding.ts'
import {
  type Collection,
  type DeclaredValue,
  type Member,
  type Range,
  type Reading,
  stepAt,
  stepOf,
  type Tree,
} from './tree.ts'
import { isName, isNoCharacter, NAME, readDoctype, referencesIn } from './xml-declarations.ts'

/** Reads an XML text up to its first error. */
export function readXml(text: string): Reading {
  const reader = new XmlReader(text)
  reader.read()
  return reader
}

class Stop extends Error {}

interface Element extends Collection {
  to: number
  readonly name: string
  /** The pieces of its text. */
  readonly texts: Piece[]
  /** How many elements with each name it has. */
  readonly counts: Map<string, number>
  /** The names of its elements, in order. */
  readonly order: string[]
}

/** A piece of the text of an element. */
interface Piece extends Range {
  /** The number of elements before it. */
  readonly after: number
}

/** A text of an element. */
interface Written extends Piece {
  text: string
  to: number
}

class XmlReader implements Reading {
  readonly roots: Tree[] = []
  readonly findings: Finding[] = []
  /** Instructions and the declaration of the type too: they have texts that no element has. */
  readonly comments: Range[] = []
  readonly declared: DeclaredValue[] = []
  readonly #text: string
  readonly #root: Collection
  readonly #open: Element[] = []
  #at = 0
  #hasRoot = false
  #hasDoctype = false
  #entities: ReadonlySet<string> | 'unknown' = new Set()

  constructor(text: string) {
    this.#text = text
    this.#root = { kind: 'map', isText: true, from: 0, to: text.length, members: [] }
    this.roots.push(this.#root)
  }

  read(): void {
    try {
      if (this.#text.startsWith('\uFEFF')) this.#at = 1
      const declaration = this.#token(/<\?xml[ \t\r\n][^]*?\?>/y)
      if (declaration !== '' && !DECLARATION.test(declaration)) this.#fail('wrongForm', '', 0)
      while (this.#at < this.#text.length) this.#part()
      const left = this.#open.at(-1)
      if (left !== undefined) this.#fail('noEndTag', left.name, left.from)
      if (!this.#hasRoot) this.#fail('noElement')
    } catch (error) {
      if (!(error instanceof Stop)) throw error
    } finally {
      while (this.#open.length > 0) this.#close(this.#open.pop()!)
    }
  }

  #part(): void {
    const from = this.#at
    if (this.#text[from] !== '<') return this.#characters()
    if (this.#text.startsWith('<!--', from)) {
      const comment = this.#token(/<!--(?:[^-]|-[^-])*-->/y) || this.#fail('wrongForm')
      this.#checkCharacters(from, from + comment.length)
      this.comments.push({ from, to: this.#at })
    } else if (this.#text.startsWith('<![CDATA[', from)) {
      this.#cdata(this.#open.at(-1) ?? this.#fail('outsideRoot'))
    } else if (this.#text.startsWith('<?', from)) {
      const [, name = ''] = PROCESSING.exec(this.#token(/<\?[^]*?\?>/y)) ?? []
      if (!isName(name) || /^xml$/i.test(name)) this.#fail('wrongForm', '', from)
      this.#checkCharacters(from, this.#at)
      this.comments.push({ from, to: this.#at })
    } else if (this.#text.startsWith('<!DOCTYPE', from)) this.#doctype()
    else if (this.#text.startsWith('</', from)) this.#endTag()
    else this.#startTag()
  }

  #characters(): void {
    const from = this.#at
    const text = this.#token(/[^<]+/y)
    const element = this.#open.at(-1)
    if (element === undefined) {
      const [odd] = /[^ \t\r\n]/.exec(text) ?? []
      if (odd !== undefined) this.#fail('outsideRoot', '', from + text.indexOf(odd))
      return
    }
    const end = text.indexOf(']]>')
    if (end >= 0) this.#fail('wrongForm', '', from + end)
    this.#checkCharacters(from, this.#at)
    this.#checkReferences(text, from)
    element.texts.push({ from, to: this.#at, after: element.order.length })
  }

  #cdata(element: Element): void {
    const from = this.#at
    if (this.#token(/<!\[CDATA\[[^]*?\]\]>/y) === '') this.#fail('wrongForm')
    this.#checkCharacters(from, this.#at)
    element.texts.push({ from, to: this.#at, after: element.order.length })
  }

  #doctype(): void {
    const from = this.#at
    if (this.#hasRoot || this.#hasDoctype) this.#fail('wrongForm')
    const found = readDoctype(this.#text, from, this.declared)
    if (typeof found === 'number') return this.#fail('wrongForm', '', found)
    this.#hasDoctype = true
    this.#at = found.to
    this.#checkCharacters(from, found.to)
    this.#entities = found.entities
    this.comments.push({ from, to: found.to })
    if (found.subset.trim() === '') return
    const value = { kind: 'scalar', from, to: found.to, text: found.subset } as const
    this.#root.members.push({ name: '!DOCTYPE', step: '!DOCTYPE', key: { from, to: from }, value })
  }

  #startTag(): void {
    const from = this.#at
    this.#at++
    const name = this.#token(NAME) || this.#fail('wrongForm')
    const parent = this.#open.at(-1)
    if (parent === undefined && this.#hasRoot) this.#fail('outsideRoot', name, from)
    this.#hasRoot = true
    const element: Element = {
      kind: 'map',
      from,
      to: from,
      members: [],
      name,
      texts: [],
      counts: new Map(),
      order: [],
    }
    this.#add(parent, element)
    this.#open.push(element)
    this.#attributes(element)
    if (this.#token(/\/>/y) !== '') this.#close(this.#open.pop()!)
    else if (this.#token(/>/y) === '') this.#fail('wrongForm')
  }

  #add(parent: Element | undefined, element: Element): void {
    const { name, from } = element
    const count = parent?.counts.get(name) ?? 0
    parent?.counts.set(name, count + 1)
    parent?.order.push(name)
    // The first one has no number: most have no brothers.
    const step = stepOf(name) + (count === 0 ? '' : stepAt(count))
    const key = { from: from + 1, to: from + 1 + name.length }
    ;(parent ?? this.#root).members.push({ name, step, key, value: element })
  }

  #attributes({ members }: Element): void {
    const known = new Set<string>()
    for (;;) {
      const blanks = this.#token(/[ \t\r\n]+/y)
      const from = this.#at
      const name = this.#token(NAME)
      if (name === '') return
      if (blanks === '') this.#fail('wrongForm')
      const key = { from, to: this.#at }
      if (known.has(name)) this.#fail('duplicateAttribute', name, from)
      known.add(name)
      if (this.#token(/[ \t\r\n]*=[ \t\r\n]*/y) === '') this.#fail('wrongForm')
      const start = this.#at + 1
      const quoted = this.#token(/"[^"<]*"|'[^'<]*'/y) || this.#fail('wrongForm')
      const text = quoted.slice(1, -1)
      this.#checkCharacters(start, this.#at)
      this.#checkReferences(text, start)
      const value = { kind: 'scalar', from: start, to: this.#at - 1, text } as const
      members.push({ name: `@${name}`, step: `@${stepOf(name)}`, key, value })
    }
  }

  #endTag(): void {
    const from = this.#at
    this.#at += 2
    const name = this.#token(NAME)
    this.#token(/[ \t\r\n]+/y)
    const element = this.#open.at(-1)
    if (element === undefined || name !== element.name) this.#fail('wrongEndTag', name, from)
    if (this.#token(/>/y) === '') this.#fail('wrongForm')
    this.#close(this.#open.pop()!)
  }

  /** The texts of an element, and the order of its elements, become members of it. One with nothing but a text is that text. */
  #close(element: Element): void {
    element.to = this.#at
    const { texts, members, order } = element
    const written = textsOf(this.#text, texts).filter(
      // Blanks between elements are there for people.
      ({ text }) => text !== '' && (order.length === 0 || text.trim() !== ''),
    )
    if (members.length === 0 && order.length === 0) return this.#becomeText(element, written[0])
    for (const { after, text, ...place } of written)
      members.push(textMember(after === 0 ? '#text' : `#text${stepAt(after)}`, place, text))
    const isSorted = order.every((name, index) => index === 0 || order[index - 1]! <= name)
    if (!isSorted) members.push(textMember('#order', { from: element.to, to: element.to }, runsOf(order)))
  }

  #becomeText({ to }: Element, written: Written | undefined): void {
    const { members } = this.#open.at(-1) ?? this.#root
    const { text = '', from = to, to: end = to } = written ?? {}
    members.push({ ...members.pop()!, value: { kind: 'scalar', from, to: end, text } })
  }

  #checkCharacters(from: number, to: number): void {
    const at = isNoCharacter(this.#text, from, to)
    if (at >= 0) this.#fail('wrongCharacter', '', at)
  }

  #checkReferences(text: string, from: number): void {
    for (const { at, name, isRight } of referencesIn(text)) {
      if (!isRight) this.#fail('wrongForm', '', from + at)
      if (name !== '' && this.#entities !== 'unknown' && !this.#entities.has(name))
        this.#fail('noEntity', name, from + at)
    }
  }

  #token(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }

  #fail(code: Finding['code'], text = '', at = this.#at): never {
    const from = Math.min(at, this.#text.length)
    this.findings.push({ code, text, from, to: Math.min(from + 1, this.#text.length) })
    throw new Stop()
  }
}

const DECLARATION =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.\d"|'1\.\d')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>$/
const PROCESSING = /^<\?([^\s?<>]+)(?:[ \t\r\n][^]*)?\?>$/

function textMember(step: string, { from, to }: Range, text: string): Member {
  return { name: step, step, key: { from, to: from }, value: { kind: 'scalar', from, to, text } }
}

/** The texts of an element, without the comments in them. The places are without the blanks around. */
function textsOf(whole: string, pieces: readonly Piece[]): Written[] {
  const found: Written[] = []
  for (const { from, to, after } of pieces) {
    const piece = whole.slice(from, to)
    const start = from + piece.length - piece.trimStart().length
    const end = Math.max(start, from + piece.trimEnd().length)
    const last = found.at(-1)
    if (last?.after !== after) found.push({ after, text: piece, from: start, to: end })
    else {
      last.text += piece
      last.to = end
    }
  }
  return found
}

/** `a a b` is `a×2 b`. */
function runsOf(names: readonly string[]): string {
  const runs: [string, number][] = []
  for (const name of names) {
    const last = runs.at(-1)
    if (last?.[0] === name) last[1]++
    else runs.push([name, 1])
  }
  return runs.map(([name, count]) => (count === 1 ? name : `${name}×${count}`)).join(' ')
}
