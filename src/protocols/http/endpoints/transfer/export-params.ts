import type { Operations } from '../../../../operations/operations.ts'
import { type ArchiveVersion, type ArchivedConfig, archiveFiles } from '../../../../archive/config-archive.ts'
import { entryName, SETS_GROUP } from '../../../../archive/entry-names.ts'
import type { Caller } from '../../../../operations/authorisation.ts'
import { type Static, Type } from '../../../parameters/schema.ts'
import type { Answer } from '../../routing/route.ts'
import { SEARCH_PARAMS, searchOf } from '../config/search-params.ts'
import type { ItemExtras } from '../../../../archive/config-metadata.ts'
import { directoryBytes, fitsInZip, zipChunks } from '../../../../archive/zip-writer.ts'
import type { ConfigItem } from '../../../../core/config/state/config-item.ts'
import type { ConfigNotes } from '../../../../core/config/state/config-notes.ts'
import { Refusal } from '../../../../core/refusal.ts'

const MOST_IDS = 10_000
/** The most ids with their commas. */
const MOST_IDS_LENGTH = 17 * MOST_IDS

/** Which items an export has. */
export const EXPORT_PARAMS = {
  ...SEARCH_PARAMS,
  ids: Type.Optional(
    Type.String({
      maxLength: MOST_IDS_LENGTH,
      pattern: '^\\d{1,16}(,\\d{1,16})*$',
      allowed: 'ids of items, separated by commas',
      description: 'In an export: only the items of the namespace with these ids.',
    }),
  ),
}

const EXPORT = Type.Object(EXPORT_PARAMS)

/** An export: its parameters, its format and its file name. */
interface ExportRequest {
  readonly params: Static<typeof EXPORT>
  readonly version: ArchiveVersion
  /** The name of the file, by the id of its namespace; absent: it contains that id. */
  readonly fileName?: (namespaceId: string) => string
}

/** How many gray versions are not in the file: it has formal versions only. Absent for 0. */
const LEFT_OUT = 'Waypost-Gray-Left-Out'

/** A zip of the items with these ids, or of the items that a blur search finds. */
export function exportOf(
  transfer: Operations['transfer'],
  { params, version, fileName = nameOf }: ExportRequest,
  caller: Caller,
): Answer {
  const search = searchOf(params, 'blur')
  const ids = params.ids?.split(',').map(Number)
  if (ids !== undefined && ids.length > MOST_IDS) throw tooManyIds(ids.length)
  const found =
    ids === undefined
      ? transfer.exportMatching(search, caller)
      : transfer.exportByIds({ namespaceId: search.namespaceId, ids }, caller)
  // The record of a set is true in its namespace only: elsewhere an apply would take the items there for its own.
  const items = found.filter(({ key }) => key.group !== SETS_GROUP)
  const answer = exportAnswer(items, { version, fileName: fileName(search.namespaceId) })
  const leftOut = transfer.grayLeftOut({ search, ids }, caller)
  return leftOut === 0 ? answer : { ...answer, headers: { ...answer.headers, [LEFT_OUT]: String(leftOut) } }
}

/** An id of a namespace can have characters that no file has. */
function nameOf(namespaceId: string): string {
  return `waypost_${(namespaceId || 'public').replace(/[^\w.-]/g, '_')}`
}

const WORD = 8

/** Metadata of one item, at most: its names and notes, every character escaped. */
const MOST_METADATA_BYTES = 4096

/**
 * A zip of the items (http-compat.md section 3, export), made while it is sent. Its name is `fileName` and the time.
 * Throws Refusal `too-many` if the items do not fit into a zip.
 */
function exportAnswer(
  items: readonly ConfigItem[],
  { version, fileName }: { readonly version: ArchiveVersion; readonly fileName: string },
): Answer {
  const sizes = items.map(({ key, content }) => ({
    name: entryName(key),
    bytes: content.length + MOST_METADATA_BYTES,
  }))
  if (!fitsInZip(sizes)) throw tooMuch(items.length)
  return {
    status: 200,
    contentType: 'application/octet-stream',
    headers: {
      'Content-Disposition': `attachment;filename=${fileName}_${timeStamp(new Date())}.zip`,
    },
    body: '',
    // Its items are those of the server; their list is its own.
    kept: WORD * items.length + directoryBytes(sizes),
    chunks: zipChunks(archiveFiles(archived(items), version)),
  }
}

function* archived(items: readonly ConfigItem[]): Generator<ArchivedConfig> {
  for (const { key, type, notes, content, modifiedMs } of items) {
    const { group, dataId } = key
    const { appName, desc } = notes
    yield { metadata: { group, dataId, type, desc, appName, extras: extrasOf(notes) }, content, modifiedMs }
  }
}

function extrasOf({ configTags, use, effect, schema, encryptedDataKey }: ConfigNotes): ItemExtras {
  const extras = Object.entries({ configTags, use, effect, schema, encryptedDataKey })
  return Object.fromEntries(extras.filter(([, value]) => value !== null && value !== '')) as ItemExtras
}

/** `yyyyMMddHHmmss`, in UTC. */
function timeStamp(at: Date): string {
  return at.toISOString().replace(/\D/g, '').slice(0, 14)
}

function tooManyIds(count: number): Refusal {
  const allowed = `at most ${MOST_IDS} ids`
  return new Refusal('too-many', `These are ${count} ids: ${allowed} are exported at once.`, { allowed })
}

function tooMuch(count: number): Refusal {
  const allowed = 'at most 65534 items and 4 GiB in one export'
  return new Refusal('too-many', `These are ${count} items: ${allowed}. Export group by group.`, { allowed })
}
