import { inTurns } from './turns.ts'
import { escapeUnprintable, readScalar, writeScalar } from './yaml-scalars.ts'

/** What an export says of an item besides its content. Absent is what it says nothing of. */
export interface ItemMetadata {
  readonly group: string
  readonly dataId: string
  readonly type?: string | null
  readonly desc?: string | null
  readonly appName?: string | null
  /** What the layout has no place for; other servers read over it. */
  readonly extras?: ItemExtras
}

/** Kept in a comment of the metadata, since readers of this layout refuse a key that they do not know. */
export interface ItemExtras {
  readonly configTags?: string
  readonly use?: string
  readonly effect?: string
  readonly schema?: string
  readonly encryptedDataKey?: string
}

/** Metadata that does not follow the layout. `message` says what is wrong and in which line. */
export class MetadataError extends Error {}

const EXTRAS_MARK = '# waypost '
const EXTRA_NAMES = ['configTags', 'use', 'effect', 'schema', 'encryptedDataKey'] as const
const KEYS = new Set(['group', 'dataId', 'type', 'desc', 'appName', 'configTags'])

/** `.metadata.yml`, a part for each item, to be joined. The head comes first. */
export const METADATA_HEAD = 'metadata:\n'

/** The part of `.metadata.yml` that is about one item. */
export function metadataText(item: ItemMetadata): string {
  const { appName = null, dataId, desc = null, group, type = null, extras = {} } = item
  const values = { appName, dataId, desc, group, type }
  const lines = Object.entries(values).map(([key, value]) => `${key}: ${writeScalar(value)}\n`)
  const hasExtras = Object.keys(extras).length > 0
  const more = hasExtras ? `  ${EXTRAS_MARK}${escapeUnprintable(JSON.stringify(extras))}\n` : ''
  return `- ${lines.join('  ')}${more}`
}

/** Reads `.metadata.yml`: a list under `metadata`, of mappings of texts. Throws MetadataError for anything else. */
export async function parseMetadata(text: string): Promise<ItemMetadata[]> {
  const reader = new MetadataReader(text.replaceAll('\r\n', '\n'))
  const items: ItemMetadata[] = []
  for await (const item of inTurns(reader.items())) items.push(item)
  return items
}

type Values = Map<string, string | null>

/** Goes through the lines; what they are is told by their indentation. */
class MetadataReader {
  readonly #text: string
  #item: { values: Values; extras: ItemExtras } | undefined
  #count = 0
  #at = 0
  #isList = false
  #keyIndent = -1

  constructor(text: string) {
    this.#text = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }

  /** The items, each once its last line is read. */
  *items(): Generator<ItemMetadata> {
    while (this.#at < this.#text.length) {
      const before = this.#item
      this.#tryLine()
      if (before !== undefined && before !== this.#item) yield this.#toItem(before)
    }
    if (this.#item !== undefined) yield this.#toItem(this.#item)
  }

  #tryLine(): void {
    try {
      this.#readLine()
    } catch (error) {
      const line = this.#text.slice(0, this.#at).split('\n').length
      throw new MetadataError(`line ${line}: ${(error as Error).message}`)
    }
  }

  #readLine(): void {
    const found = this.#text.indexOf('\n', this.#at)
    const end = found < 0 ? this.#text.length : found
    const line = this.#text.slice(this.#at, end)
    const content = line.trim()
    let next = end
    if (content.startsWith(EXTRAS_MARK)) this.#addExtras(content.slice(EXTRAS_MARK.length))
    else if (content !== '' && !content.startsWith('#') && content !== '---')
      next = this.#readContent(line, end)
    this.#at = next + 1
  }

  /** Answers where the line, or the lines of its value, end. */
  #readContent(line: string, end: number): number {
    if (!this.#isList) {
      if (!/^metadata:\s*(\[\]|null|~)?\s*(#.*)?$/.test(line)) throw new SyntaxError('metadata: is expected')
      this.#isList = true
      return end
    }
    const dash = /^ *- */.exec(line)?.[0]
    if (dash !== undefined) {
      this.#item = { values: new Map(), extras: {} }
      this.#keyIndent = dash.length
      return line.trim() === '-' ? ((this.#keyIndent = -1), end) : this.#readPair(dash.length)
    }
    const indent = line.search(/[^ ]/)
    if (this.#keyIndent < 0) this.#keyIndent = indent
    if (indent !== this.#keyIndent || indent === 0) throw new SyntaxError('unexpected indentation')
    return this.#readPair(indent)
  }

  #readPair(indent: number): number {
    const pair = /([A-Za-z]{1,64}):(?= |\n|$) */y
    pair.lastIndex = this.#at + indent
    const key = pair.exec(this.#text)?.[1]
    const values = this.#item?.values
    if (key === undefined || values === undefined) throw new SyntaxError('a key and its value are expected')
    if (values.has(key)) throw new SyntaxError(`${key} stands twice`)
    const { value, end } = readScalar(this.#text, pair.lastIndex, indent)
    if (KEYS.has(key)) values.set(key, value)
    return end
  }

  #addExtras(json: string): void {
    const item = this.#item
    if (item === undefined) return
    const said = JSON.parse(json) as Readonly<Record<string, unknown>> | null
    const known = EXTRA_NAMES.map((name) => [name, said?.[name]]).filter(
      ([, value]) => typeof value === 'string',
    )
    item.extras = Object.fromEntries(known) as ItemExtras
  }

  #toItem({ values, extras }: { values: Values; extras: ItemExtras }): ItemMetadata {
    const { group, dataId, configTags, ...others } = Object.fromEntries(values)
    this.#count++
    if (!group || !dataId) throw new MetadataError(`item ${this.#count}: group and dataId are required`)
    const tags = configTags ? { configTags } : {}
    return { group, dataId, ...others, extras: { ...tags, ...extras } }
  }
}

/** The line of `.meta.yml` about an item; that layout tells the application and nothing else. */
export function metaLine(item: { group: string; dataId: string; appName: string }): string {
  return `${metaKey(item)}=${item.appName}\r\n`
}

/** Reads `.meta.yml`: the applications by `metaKey`. Throws MetadataError for a line without `=`. */
export function parseMetaLines(text: string): ReadonlyMap<string, string> {
  const apps = new Map<string, string>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const equals = line.indexOf('=')
    if (equals < 0) throw new MetadataError(`line ${index + 1}: a line is <group>.<dataId>.app=<application>`)
    apps.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim())
  }
  return apps
}

/** How `.meta.yml` names an item: the last dot of the dataId is a `~`. */
export function metaKey({ group, dataId }: { group: string; dataId: string }): string {
  const dot = dataId.lastIndexOf('.')
  const name = dot < 0 ? dataId : `${dataId.slice(0, dot)}~${dataId.slice(dot + 1)}`
  return `${group}.${name}.app`
}
