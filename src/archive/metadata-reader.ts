import { typeOfWord } from '../core/config/state/type-names.ts'
import { setImmediate as othersTurn } from 'node:timers/promises'
import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  isAlias,
  Lexer,
  LineCounter,
  type Node,
  Parser,
} from 'yaml'
import {
  EXTRAS_MARK,
  type ItemMetadata,
  MetadataError,
  readExtras,
  type ItemExtras,
} from './config-metadata.ts'

/** Lexemes read before other work gets a turn: about one millisecond. */
const LEXEMES_PER_TURN = 500

/**
 * The most lexemes that are kept before their items are complete. Items in block style are read one by one and need a
 * few dozen each. A whole list in flow style, or one item of very many keys, is kept until its end.
 */
const MAX_KEPT_LEXEMES = 20_000

/** The longest item, in characters; also the longest list in flow style. An item of our exports has a few thousand at most. */
const MAX_ITEM_LENGTH = 256 * 1024

/** Items looked for before other work gets a turn. */
const PIECES_PER_TURN = 10_000

/** Collections within each other; the layout needs three. */
const MAX_DEPTH = 16

/** The lexeme before the text of a scalar, to distinguish a comment from a text like a comment. */
const SCALAR_MARK = '\u001f'

const NULL_TAG = 'tag:yaml.org,2002:null'

const KEYS = ['group', 'dataId', 'type', 'desc', 'appName', 'configTags'] as const

/**
 * Reads `.metadata.yml`: a list under `metadata`, of mappings of texts. Items are composed as soon as they are complete,
 * so that memory stays small and the event loop free. Rejects with MetadataError for anything else.
 */
export async function parseMetadata(text: string): Promise<ItemMetadata[]> {
  await checkItemLengths(text)
  const reader = new MetadataReader()
  let lexemes = 0
  for (const lexeme of new Lexer().lex(text)) {
    reader.add(lexeme)
    if (++lexemes % LEXEMES_PER_TURN !== 0) continue
    reader.readCompleteItems()
    await othersTurn()
  }
  return reader.end()
}

/**
 * Refuses a very long item before the lexer reads it, since the lexer reads a value as a whole. In block style every
 * item begins with `-` at the indentation of the first one, and no value has such a line.
 */
async function checkItemLengths(text: string): Promise<void> {
  const first = /^ *-(?=\s)/m.exec(text.slice(0, MAX_ITEM_LENGTH))
  const mark = first === null ? undefined : `\n${first[0]}`
  let pieces = 0
  for (let at = 0, end = 0; at < text.length; at = end) {
    const next = mark === undefined ? -1 : text.indexOf(mark, at + 1)
    end = next < 0 ? text.length : next
    if (end - at > MAX_ITEM_LENGTH) {
      const line = text.slice(0, at + 1).split('\n').length
      throw new MetadataError(`line ${line}: an item is longer than 256 KiB`)
    }
    if (++pieces % PIECES_PER_TURN === 0) await othersTurn()
  }
}

/** A `metadata` list on the parser's stack: its document, and the list that is still growing. */
interface OpenList {
  readonly document: CST.Document
  readonly list: CST.BlockSequence
}

class MetadataReader {
  readonly #lines = new LineCounter()
  readonly #parser = new Parser(this.#lines.addNewLine)
  readonly #directives: CST.Token[] = []
  readonly #documents: CST.Token[] = []
  readonly #items: ItemMetadata[] = []
  /** By the index of their item. */
  readonly #extras = new Map<number, ItemExtras>()
  /** An anchor may be used by any later item. */
  readonly #anchors = new Map<string, string | null>()
  #kept = 0
  #isScalar = false

  constructor() {
    this.#lines.addNewLine(0)
  }

  add(lexeme: string): void {
    if (!this.#isScalar && lexeme.startsWith(EXTRAS_MARK)) this.#addExtras(lexeme.slice(EXTRAS_MARK.length))
    this.#isScalar = lexeme === SCALAR_MARK
    for (const token of this.#parser.next(lexeme)) this.#addToken(token)
    if (++this.#kept > MAX_KEPT_LEXEMES)
      this.#refuse('too many keys in one item, or items in a list in flow style')
    if (this.#parser.stack.length > MAX_DEPTH) this.#refuse('nested too deeply')
  }

  /** Reads the items of the open list but the last, which may still grow. */
  readCompleteItems(): void {
    const open = this.#openList()
    if (open === undefined || open.list.items.length < 2) return
    const items = open.list.items.splice(0, open.list.items.length - 1)
    this.#readList(this.#compose([{ ...open.document, value: { ...open.list, items } }]).contents)
    this.#kept = 0
  }

  end(): ItemMetadata[] {
    for (const token of this.#parser.end()) this.#addToken(token)
    const { contents } = this.#compose(this.#documents)
    if (!isMap(contents) || contents.items.length !== 1)
      throw new MetadataError('line 1: the key metadata is expected, and no other')
    const [{ key, value }] = contents.items as unknown as [{ key: Node | null; value: Node | null }]
    if (!isScalar(key) || key.value !== 'metadata')
      this.#refuse('the key metadata is expected', key?.range?.[0])
    if (!isNull(value)) this.#readList(value)
    return this.#items
  }

  #addToken(token: CST.Token): void {
    if (token.type === 'error') this.#refuse(token.message, token.offset)
    if (token.type === 'directive') this.#directives.push(token)
    else this.#documents.push(token)
  }

  #openList(): OpenList | undefined {
    const [document, map, list] = this.#parser.stack
    if (document?.type !== 'document' || map?.type !== 'block-map' || list?.type !== 'block-seq')
      return undefined
    return map.items.length === 1 ? { document, list } : undefined
  }

  /** All scalars are texts, also those like a number or a date. */
  #compose(tokens: readonly CST.Token[]): Document.Parsed {
    const composer = new Composer({ schema: 'failsafe', logLevel: 'silent' })
    const [document, ...more] = composer.compose([...this.#directives, ...tokens], true)
    const error = document?.errors[0]
    if (error !== undefined) this.#refuse(error.message, error.pos[0])
    if (document === undefined || more.length > 0) this.#refuse('one document is expected')
    return document as Document.Parsed
  }

  #readList(list: Node | null): void {
    if (!isSeq(list)) this.#refuse('a list is expected', list?.range?.[0])
    for (const item of list.items as readonly (Node | null)[]) this.#items.push(this.#readItem(item))
  }

  #readItem(item: Node | null): ItemMetadata {
    if (!isMap(item)) this.#refuse('an item with keys and values is expected', item?.range?.[0])
    const values = new Map<unknown, string | null>()
    for (const { key, value } of item.items as unknown as readonly {
      key: Node | null
      value: Node | null
    }[]) {
      const name = isScalar(key) ? key.value : undefined
      const isKnown = KEYS.some((known) => known === name)
      const text = this.#textOf(value)
      if (text === undefined && isKnown) this.#refuse(`${String(name)} is not a text`, value?.range?.[0])
      if (text !== undefined && isKnown) values.set(name, text)
    }
    return this.#itemOf(Object.fromEntries(values) as Partial<Record<(typeof KEYS)[number], string | null>>)
  }

  /** The text of a scalar or of the scalar that an alias names; `undefined` for anything else. */
  #textOf(node: Node | null): string | null | undefined {
    if (isAlias(node)) {
      if (!this.#anchors.has(node.source))
        this.#refuse(`the alias ${node.source} is no text`, node.range?.[0])
      return this.#anchors.get(node.source)
    }
    if (node !== null && !isScalar(node)) return undefined
    const text = isNull(node) ? null : String(node.value)
    if (node?.anchor !== undefined) this.#anchors.set(node.anchor, text)
    return text
  }

  #itemOf({
    group,
    dataId,
    configTags,
    type,
    ...others
  }: Partial<Record<(typeof KEYS)[number], string | null>>): ItemMetadata {
    const index = this.#items.length
    if (!group || !dataId) throw new MetadataError(`item ${index + 1}: group and dataId are required`)
    const tags = configTags ? { configTags } : {}
    const typed = type === undefined ? {} : { type: type ? (typeOfWord(type) ?? type) : null }
    return { group, dataId, ...typed, ...others, extras: { ...tags, ...this.#extras.get(index) } }
  }

  #addExtras(json: string): void {
    const open = this.#openList()
    if (open === undefined || open.list.items.length === 0) return
    try {
      this.#extras.set(this.#items.length + open.list.items.length - 1, readExtras(json))
    } catch (error) {
      this.#refuse((error as Error).message)
    }
  }

  #refuse(message: string, offset = this.#parser.offset): never {
    throw new MetadataError(`line ${this.#lines.linePos(offset).line}: ${message}`)
  }
}

/** Nothing, a plain word for nothing, or a scalar with the tag `!!null`. */
function isNull(node: Node | null): node is null {
  if (node === null) return true
  if (!isScalar(node)) return false
  if (node.tag === NULL_TAG) return true
  if (node.type !== 'PLAIN' || node.tag !== undefined) return false
  return ['', '~', 'null', 'Null', 'NULL'].includes(String(node.value))
}
