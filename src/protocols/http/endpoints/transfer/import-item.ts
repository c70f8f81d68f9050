import { setImmediate as othersTurn } from 'node:timers/promises'
import {
  type ArchiveItem,
  type ConfigArchive,
  type Unrecognized,
} from '../../../../archive/config-archive.ts'
import { type ItemMetadata, MetadataError, unknownTypeOf } from '../../../../archive/config-metadata.ts'
import { shownNames, zipTooLarge } from '../../../../archive/zip-format.ts'
import { configKey, type ConfigType } from '../../../../core/config/state/config-item.ts'
import { MAX_TYPE_LENGTH, typeOfName, typeOfWord } from '../../../../core/config/state/type-names.ts'
import type { ConfigNotes } from '../../../../core/config/state/config-notes.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { ImportItem } from '../../../../operations/config/import-configs.ts'
import * as fields from '../../../parameters/fields.ts'
import { compileReader } from '../../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES, type Static, Type } from '../../../parameters/schema.ts'

/** The items of an archive that can be published, and its unrecognized entries. */
export interface ImportItems {
  readonly items: readonly ImportItem[]
  readonly unrecognized: readonly Unrecognized[]
  /** The common folder that was taken off; undefined: none was. */
  readonly folder: string | undefined
  readonly unknownTypes: readonly UnknownType[]
  readonly readAs: readonly ReadAs[]
}

/** An item whose entry has its name in another form of Unicode. */
export interface ReadAs {
  readonly group: string
  readonly dataId: string
  /** The name of the entry. */
  readonly itemName: string
}

/** An item whose metadata have an unknown type: a new one has the type that its name says. */
export interface UnknownType {
  readonly group: string
  readonly dataId: string
  /** Its first {@link MAX_TYPE_LENGTH} characters. */
  readonly type: string
}

const NOTES = Type.Object({
  appName: Type.Optional(fields.appName),
  desc: Type.Optional(fields.desc),
  use: Type.Optional(fields.use),
  effect: Type.Optional(fields.effect),
  schema: Type.Optional(fields.schema),
  configTags: Type.Optional(fields.configTags),
  encryptedDataKey: Type.Optional(fields.encryptedDataKey),
})
const readNotes = compileReader(NOTES, NACOS_CONFIG_RULES)

/** Items checked before other work gets a turn: a few milliseconds. */
const ITEMS_PER_TURN = 250

/** Checks the items of an archive as a publish would. Throws MetadataError for a wrong field of an item. */
export async function importItems(archive: ConfigArchive, namespaceId: string): Promise<ImportItems> {
  const items: ImportItem[] = []
  const unknownTypes: UnknownType[] = []
  for (const [index, item] of archive.items.entries()) {
    if (index % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await othersTurn()
    items.push(importItem(item, namespaceId))
    unknownTypes.push(...unknownTypesOf(item))
  }
  const { unrecognized, folder } = archive
  return { items, unrecognized, folder, unknownTypes, readAs: archive.items.flatMap(readAsOf) }
}

function readAsOf({ metadata, entry, isReadAs }: ArchiveItem): ReadAs[] {
  const { group, dataId } = metadata
  return isReadAs ? [{ group, dataId, itemName: entry.name }] : []
}

function unknownTypesOf({ metadata }: ArchiveItem): UnknownType[] {
  const { group, dataId } = metadata
  const type = unknownTypeOf(metadata)?.slice(0, MAX_TYPE_LENGTH)
  return type === undefined ? [] : [{ group, dataId, type }]
}

function importItem({ metadata, entry }: ArchiveItem, namespaceId: string): ImportItem {
  const { group, dataId } = metadata
  return {
    key: configKey(namespaceId, group, dataId),
    type: typeOf(metadata),
    typeIfNew: typeOfName(dataId),
    notes: notesOf(metadata),
    bytes: entry.bytes,
    read: () => entry.read(),
  }
}

function notesOf(metadata: ItemMetadata): Partial<ConfigNotes> {
  const { appName, desc, extras = {} } = metadata
  const said = Object.entries({ appName, desc, ...extras }).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const notes = readChecked(metadata, new Map(said))
  return {
    // Empty ones, which the reader treats as absent.
    ...(appName !== undefined && { appName: '' }),
    ...(desc !== undefined && { desc: null }),
    // The key belongs to this very content.
    encryptedDataKey: '',
    ...notes,
  }
}

function readChecked(metadata: ItemMetadata, said: Map<string, string>): Static<typeof NOTES> {
  try {
    return readNotes(said) as Static<typeof NOTES>
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new MetadataError(`${metadata.group}/${metadata.dataId}: ${error.message}`)
  }
}

/** The given type, else the type of the dataId's extension, else `text`. An unknown word leaves the type. */
function typeOf({ type, dataId }: ItemMetadata): ConfigType | undefined {
  return type ? typeOfWord(type) : (typeOfName(dataId) ?? 'text')
}

/** Throws Refusal `too-large` that names each item whose content is too large. */
export function checkSizes({ items }: ConfigArchive, maxContentBytes: number): void {
  const large = items.filter(({ entry }) => entry.bytes > maxContentBytes)
  if (large.length === 0) return
  const shown = shownNames(large.map(({ entry }) => entry.name))
  throw zipTooLarge(`has too large contents in ${shown}`, `at most ${maxContentBytes} bytes in one item`)
}
