import {
  type ArchivedConfig,
  archiveFiles,
  type ArchiveVersion,
  entryName,
} from '../../../../archive/config-archive.ts'
import type { ItemExtras } from '../../../../archive/config-metadata.ts'
import { fitsInZip, zipChunks } from '../../../../archive/zip-writer.ts'
import type { ConfigItem } from '../../../../core/config/config-item.ts'
import type { ConfigNotes } from '../../../../core/config/config-notes.ts'
import { type ConfigSearch, searchConfigs } from '../../../../core/config/search-configs.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { State } from '../../../../core/state.ts'
import type { Answer } from '../../routing/route.ts'

/** Which items to export: those of these ids in the namespace, or all that the search finds. */
export interface ExportWish {
  readonly version: ArchiveVersion
  readonly search: ConfigSearch
  readonly ids: readonly number[] | undefined
}

const EVERYTHING = { pageNo: 1, pageSize: Number.MAX_SAFE_INTEGER }

/** Metadata of one item, at most: its names and notes, every character escaped. */
const MOST_METADATA_BYTES = 4096

/**
 * A zip of the items (http-compat.md section 3, export) as they are now, made while it is sent. Throws Refusal
 * `too-many` where they do not fit in one.
 */
export function exportAnswer({ configs }: Pick<State, 'configs'>, wish: ExportWish): Answer {
  const items = itemsOf(configs, wish)
  const sizes = items.map(({ key, content }) => ({
    name: entryName(key),
    bytes: content.length + MOST_METADATA_BYTES,
  }))
  if (!fitsInZip(sizes)) throw tooMuch(items.length)
  return {
    status: 200,
    contentType: 'application/octet-stream',
    headers: {
      'Content-Disposition': `attachment;filename=nacos_config_export_${timeStamp(new Date())}.zip`,
    },
    body: '',
    chunks: zipChunks(archiveFiles(archived(items), wish.version)),
  }
}

function itemsOf(configs: State['configs'], { search, ids }: ExportWish): readonly ConfigItem[] {
  if (ids === undefined) return searchConfigs(configs, search, EVERYTHING).items
  // Ids are of all namespaces; given out is only what belongs to the one that the caller has named.
  return [...new Set(ids)]
    .map((id) => configs.getById(id))
    .filter((item) => item !== undefined && item.key.namespaceId === search.namespaceId) as ConfigItem[]
}

function* archived(items: readonly ConfigItem[]): Generator<ArchivedConfig> {
  for (const { key, type, notes, content, modifiedMs } of items) {
    const { group, dataId } = key
    const { appName, desc } = notes
    yield { metadata: { group, dataId, type, desc, appName, extras: extrasOf(notes) }, content, modifiedMs }
  }
}

function extrasOf({ configTags, use, effect, schema, encryptedDataKey }: ConfigNotes): ItemExtras {
  const said = Object.entries({ configTags, use, effect, schema, encryptedDataKey })
  return Object.fromEntries(said.filter(([, value]) => value !== null && value !== '')) as ItemExtras
}

/** `yyyyMMddHHmmss`, in UTC. */
function timeStamp(at: Date): string {
  return at.toISOString().replace(/\D/g, '').slice(0, 14)
}

function tooMuch(count: number): Refusal {
  const allowed = 'at most 65534 items and 4 GiB in one export'
  return new Refusal('too-many', `These are ${count} items: ${allowed}. Export group by group.`, { allowed })
}
