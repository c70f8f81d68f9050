import { readArchive } from '../../../archive/config-archive.ts'
import { MetadataError } from '../../../archive/config-metadata.ts'
import { openZip } from '../../../archive/zip-reader.ts'
import { toNamespaceId } from '../../../core/namespace-id.ts'
import { WRITE_CONFIG } from '../endpoints/config/config-parts.ts'
import * as fields from '../../parameters/fields.ts'
import { type FormPart, parseMultipart } from '../../parameters/multipart.ts'
import { operation, placeRoutes } from '../routing/operation.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import type { Answer, Route } from '../routing/route.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { importConfigs, type ImportWish } from '../endpoints/transfer/import-configs.ts'
import { checkContents, importItems } from '../endpoints/transfer/import-item.ts'
import { cloneConfigs } from './clone-configs.ts'
import { CONFIG_MANNERS } from './config-manners.ts'
import { badMetadataAnswer, outcomeAnswer, problemAnswer } from './import-answers.ts'
import { type ImportRouteParts, importWish, isListed, messageOf, POLICY_PARAMS } from './import-parts.ts'

/** `POST /nacos/v1/cs/configs` with `import=true` or `clone=true` in the query (http-compat.md section 3). */
export function nacosImportRoutes(parts: ImportRouteParts): Route[] {
  return placeRoutes(CONFIG_MANNERS, '/nacos/v1/cs', [
    ['POST', '/configs', importZip(parts)],
    ['POST', '/configs', cloneConfigs(parts)],
  ])
}

const PARAMS = Type.Object({
  import: Type.Optional(Type.Boolean({ description: 'True, in the query: imports a zip file.' })),
  namespace: Type.Optional(fields.withAliases(fields.tenant, 'tenant')),
  ...POLICY_PARAMS,
})

const readPartParams = compileReader(PARAMS, NACOS_CONFIG_RULES)

const UPLOAD = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', format: 'binary', description: 'The zip file.' } },
}

/** The most entries of a zip: those that one without zip64 can have. */
const MAX_ENTRIES = 65_534
/** Any entry but a content may be as large as metadata can be; contents have their own limit. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024

function importZip(parts: ImportRouteParts) {
  return operation({
    summary: 'Publishes the items of a zip file',
    permission: WRITE_CONFIG,
    params: PARAMS,
    variant: 'import',
    body: 'raw',
    bodyTypes: { 'multipart/form-data': UPLOAD },
    maxBodyBytes: parts.maxImportBytes,
    handle: async ({ params, caller, rawBody }) => {
      const form = rawBody === undefined ? [] : parseMultipart(rawBody, caller.headers['content-type'])
      const all: Static<typeof PARAMS> = { ...partParams(form), ...params }
      const file = form.find(({ name }) => name === 'file')?.content
      const namespaceId = toNamespaceId(all.namespace)
      if (file === undefined || file.length === 0) return problemAnswer('no data')
      if (!isListed(parts.state, namespaceId)) return problemAnswer('unknown namespace', namespaceId)
      return importFile(parts, { file, namespaceId }, importWish(all, caller))
    },
  })
}

/** Parameters may be fields of the upload as well. */
function partParams(form: readonly FormPart[]): Static<typeof PARAMS> {
  const texts = form
    .filter(({ name }) => name !== 'file')
    .map(({ name, content }) => [name, content.toString('utf8')])
  return readPartParams(new Map(texts as [string, string][])) as Static<typeof PARAMS>
}

async function importFile(
  parts: ImportRouteParts,
  { file, namespaceId }: { file: Buffer; namespaceId: string },
  wish: ImportWish,
): Promise<Answer> {
  try {
    const maxTotalBytes = parts.maxImportContentBytes
    const entries = openZip(file, { maxEntries: MAX_ENTRIES, maxEntryBytes: MAX_ENTRY_BYTES, maxTotalBytes })
    const { items, unrecognized } = await importItems(await readArchive(entries), namespaceId)
    if (items.length === 0) return problemAnswer('no data')
    await checkContents(items, parts.maxContentBytes)
    const outcome = await importConfigs(parts, items, wish)
    return outcomeAnswer(outcome, { message: messageOf('import success', wish), unrecognized })
  } catch (error) {
    if (error instanceof MetadataError) return badMetadataAnswer(error.message)
    throw error
  }
}
