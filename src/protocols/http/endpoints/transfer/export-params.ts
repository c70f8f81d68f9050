import type { Operations } from '../../../../operations/operations.ts'
import type { ArchiveVersion } from '../../../../archive/config-archive.ts'
import type { Caller } from '../../../../operations/authorisation.ts'
import { type Static, Type } from '../../../parameters/schema.ts'
import type { Answer } from '../../routing/answer.ts'
import { SEARCH_PARAMS, searchOf } from '../config/search-params.ts'
import { exportAnswer } from './export-configs.ts'

/** Which items an export has. */
export const EXPORT_PARAMS = {
  ...SEARCH_PARAMS,
  ids: Type.Optional(
    Type.String({
      maxLength: 65_536,
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
  const items =
    ids === undefined
      ? transfer.exportMatching(search, caller)
      : transfer.exportByIds({ namespaceId: search.namespaceId, ids }, caller)
  const answer = exportAnswer(items, { version, fileName: fileName(search.namespaceId) })
  const leftOut = transfer.grayLeftOut({ search, ids }, caller)
  return leftOut === 0 ? answer : { ...answer, headers: { ...answer.headers, [LEFT_OUT]: String(leftOut) } }
}

/** An id of a namespace can have characters that no file has. */
function nameOf(namespaceId: string): string {
  return `waypost_${(namespaceId || 'public').replace(/[^\w.-]/g, '_')}`
}
