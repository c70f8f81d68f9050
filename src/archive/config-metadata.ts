import { setImmediate as othersTurn } from 'node:timers/promises'
import { typeOfWord } from '../core/config/state/type-names.ts'
import { CaseTwins } from './case-twins.ts'
import { areItemNames, entryName, formsOf, type Named } from './entry-names.ts'
import { inTurns } from './turns.ts'
import { shownNames } from './zip-format.ts'

/** The metadata of an item in an export. A missing field is not in the file. */
export interface ItemMetadata {
  readonly group: string
  readonly dataId: string
  readonly type?: string | null
  readonly desc?: string | null
  readonly appName?: string | null
  /** Fields for which the layout has no key; other servers ignore them. */
  readonly extras?: ItemExtras
}

/** Written as a comment of the metadata: readers of this layout refuse unknown keys. */
export interface ItemExtras {
  readonly configTags?: string
  readonly use?: string
  readonly effect?: string
  readonly schema?: string
  readonly encryptedDataKey?: string
}

/** The type in the metadata of an item, if it is none: every reader names it. */
export function unknownTypeOf({ type }: Pick<ItemMetadata, 'type'>): string | undefined {
  return type && typeOfWord(type) === undefined ? type : undefined
}

/** The metadata does not follow the layout. `message` names the fault and its line or item. */
export class MetadataError extends Error {}

/**
 * Descriptions by the paths of their items. A decomposed name that no item can have is composed. Throws MetadataError where
 * an item has two: neither can be trusted.
 */
export function byPath(described: readonly ItemMetadata[]): ReadonlyMap<string, ItemMetadata> {
  const found = new Map<string, ItemMetadata>()
  const twice = new Set<string>()
  for (const written of described) {
    const metadata = areItemNames(written) ? written : { ...written, ...formsOf(written)[1] }
    const path = entryName(metadata)
    if (found.has(path)) twice.add(path)
    found.set(path, metadata)
  }
  if (twice.size > 0) throw new MetadataError(`described twice: ${shownNames([...twice])}`)
  return found
}

/** Begins the comment with the extras of an item, as JSON. */
export const EXTRAS_MARK = '# waypost '
const EXTRA_NAMES = ['configTags', 'use', 'effect', 'schema', 'encryptedDataKey'] as const

/** The first line of `.metadata.yml`; the parts of the items follow. */
export const METADATA_HEAD = 'metadata:\n'

/** The part of `.metadata.yml` about one item. */
export function metadataText(item: ItemMetadata): string {
  const { appName = null, dataId, desc = null, group, type = null, extras = {} } = item
  const values = { appName, dataId, desc, group, type }
  const lines = Object.entries(values).map(([key, value]) => `${key}: ${writeScalar(value)}\n`)
  const hasExtras = Object.keys(extras).length > 0
  const more = hasExtras ? `  ${EXTRAS_MARK}${escapeUnprintable(JSON.stringify(extras))}\n` : ''
  return `- ${lines.join('  ')}${more}`
}

/** Reads the JSON behind the mark of extras. Throws SyntaxError for other texts. */
export function readExtras(json: string): ItemExtras {
  const fields = JSON.parse(json) as Readonly<Record<string, unknown>> | null
  const known = EXTRA_NAMES.map((name) => [name, fields?.[name]]).filter(
    ([, value]) => typeof value === 'string',
  )
  return Object.fromEntries(known) as ItemExtras
}

/** A text as a scalar on one line, quoted where a reader might take it for something else. */
function writeScalar(value: string | null): string {
  if (value === null) return 'null'
  return PLAIN.test(value) && !RESERVED.has(value.toLowerCase())
    ? value
    : escapeUnprintable(JSON.stringify(value))
}

const PLAIN = /^[A-Za-z_][\w.-]*$/
const RESERVED = new Set(['null', 'true', 'false', 'yes', 'no', 'on', 'off', 'y', 'n'])

/** JSON with an escape for every character that a reader of YAML might take for a line break or refuse. */
function escapeUnprintable(json: string): string {
  return json.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** The line of `.meta.yml` about an item: this layout has the application only. */
export function metaLine(item: { group: string; dataId: string; appName: string }): string {
  return `${metaKey(item)}=${item.appName}\r\n`
}

/** Lines read before other work gets a turn: about a millisecond. */
const LINES_PER_TURN = 2_000

/**
 * Reads `.meta.yml`: the applications of the wanted `metaKey`s. Rejects with MetadataError for a line without `=`, and for one
 * whose key differs from a wanted one by case only.
 */
export async function parseMetaLines(
  text: string,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const apps = new Map<string, string>()
  let lines = 0
  let twins: CaseTwins | undefined
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    const equals = line.indexOf('=')
    if (equals < 0 && line.trim() !== '') throw notALine(text, index)
    const key = line.slice(0, Math.max(0, equals)).trim()
    if (wanted.has(key)) apps.set(key, line.slice(equals + 1).trim())
    else (twins ??= await CaseTwins.of(wanted)).check(key)
    if (++lines % LINES_PER_TURN === 0) await othersTurn()
  }
  if (twins?.fault !== undefined) throw new MetadataError(twins.fault)
  return apps
}

function notALine(text: string, index: number): MetadataError {
  const line = text.slice(0, index).split(/\r\n?|\n/).length
  return new MetadataError(`line ${line}: a line is <group>.<dataId>.app=<application>`)
}

/** Reads `.meta.yml`: the items that it names among those items that files may mean. Rejects as `parseMetaLines`. */
export async function namedIn(text: string, candidates: readonly Named[]): Promise<ItemMetadata[]> {
  const wanted = new Set<string>()
  for await (const names of inTurns(candidates)) for (const one of formsOf(names)) wanted.add(metaKey(one))
  const apps = await parseMetaLines(text, wanted)
  const items = new Map<string, ItemMetadata>()
  for await (const names of inTurns(apps.size === 0 ? [] : candidates))
    for (const one of formsOf(names)) {
      const appName = apps.get(metaKey(one))
      if (appName !== undefined) items.set(entryName(one), appName === '' ? one : { ...one, appName })
    }
  return [...items.values()]
}

/** The name of an item in `.meta.yml`: the last dot of the dataId becomes a `~`. */
export function metaKey({ group, dataId }: { group: string; dataId: string }): string {
  const dot = dataId.lastIndexOf('.')
  const name = dot < 0 ? dataId : `${dataId.slice(0, dot)}~${dataId.slice(dot + 1)}`
  return `${group}.${name}.app`
}
