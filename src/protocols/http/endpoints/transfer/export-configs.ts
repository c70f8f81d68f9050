import {
  type ArchivedConfig,
  archiveFiles,
  type ArchiveVersion,
  entryName,
} from '../../../../archive/config-archive.ts'
import type { ItemExtras } from '../../../../archive/config-metadata.ts'
import { fitsInZip, zipChunks } from '../../../../archive/zip-writer.ts'
import type { ConfigItem } from '../../../../core/config/state/config-item.ts'
import type { ConfigNotes } from '../../../../core/config/state/config-notes.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { Answer } from '../../routing/answer.ts'

/** Metadata of one item, at most: its names and notes, every character escaped. */
const MOST_METADATA_BYTES = 4096

/**
 * A zip of the items (http-compat.md section 3, export), made while it is sent. Its name is `fileName` and the time.
 * Throws Refusal `too-many` if the items do not fit into a zip.
 */
export function exportAnswer(
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

function tooMuch(count: number): Refusal {
  const allowed = 'at most 65534 items and 4 GiB in one export'
  return new Refusal('too-many', `These are ${count} items: ${allowed}. Export group by group.`, { allowed })
}
