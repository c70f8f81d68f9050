import { readArchive } from '../../../archive/config-archive.ts'
import { MetadataError } from '../../../archive/config-metadata.ts'
import { openZip } from '../../../archive/zip-reader.ts'
import { toNamespaceId } from '../../../core/namespace-id.ts'
import type { Caller } from '../../../operations/guard.ts'
import type { TransferOperations } from '../../../operations/config-transfer.ts'
import * as fields from '../../parameters/fields.ts'
import { type FormPart, parseMultipart } from '../../parameters/multipart.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import type { Answer, Route } from '../routing/route.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { checkContents, type ImportItems, importItems } from '../endpoints/transfer/import-item.ts'
import { cloneConfigs } from './clone-configs.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'
import { badMetadataAnswer, outcomeAnswer, problemAnswer } from './import-answers.ts'
import { importOptions, messageOf, POLICY_PARAMS } from './import-parts.ts'

/** `POST /nacos/v1/cs/configs` with `import=true` or `clone=true` in the query (http-compat.md section 3). */
export function nacosImportRoutes(
  { transfer }: { transfer: TransferOperations },
  limits: ImportLimits,
): Route[] {
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['POST', '/configs', importZip(transfer, limits)],
    ['POST', '/configs', cloneConfigs(transfer)],
  ])
}

/** How large an import may be, in bytes: the upload, one content, and all that it unpacks to. */
export interface ImportLimits {
  readonly maxImportBytes: number
  readonly maxContentBytes: number
  readonly maxImportContentBytes: number
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

function importZip(transfer: TransferOperations, limits: ImportLimits) {
  return endpoint({
    summary: 'Publishes the items of a zip file',
    permission: transfer.import.permission,
    params: PARAMS,
    variant: 'import',
    body: 'raw',
    bodyTypes: { 'multipart/form-data': UPLOAD },
    maxBodyBytes: limits.maxImportBytes,
    handle: async ({ params, caller, rawBody }) => {
      const form = rawBody === undefined ? [] : parseMultipart(rawBody, caller.headers['content-type'])
      const all: Static<typeof PARAMS> = { ...partParams(form), ...params }
      const file = form.find(({ name }) => name === 'file')?.content
      const namespaceId = toNamespaceId(all.namespace)
      // First of all, because it judges whether the caller may write there.
      const isTarget = transfer.takesImports({ namespaceId }, caller)
      if (file === undefined || file.length === 0) return problemAnswer('no data')
      if (!isTarget) return problemAnswer('unknown namespace', namespaceId)
      try {
        const { items, unrecognized } = await itemsOfFile(file, namespaceId, limits)
        if (items.length === 0) return problemAnswer('no data')
        return await importItemsAs(transfer, { items, unrecognized, params: all }, caller)
      } catch (error) {
        if (error instanceof MetadataError) return badMetadataAnswer(error.message)
        throw error
      }
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

/** The items of a zip, every content of which can be unpacked and is not too large. */
async function itemsOfFile(file: Buffer, namespaceId: string, limits: ImportLimits): Promise<ImportItems> {
  const maxTotalBytes = limits.maxImportContentBytes
  const entries = openZip(file, { maxEntries: MAX_ENTRIES, maxEntryBytes: MAX_ENTRY_BYTES, maxTotalBytes })
  const found = await importItems(await readArchive(entries), namespaceId)
  await checkContents(found.items, limits.maxContentBytes)
  return found
}

async function importItemsAs(
  transfer: TransferOperations,
  { items, unrecognized, params }: ImportItems & { params: Static<typeof PARAMS> },
  caller: Caller,
): Promise<Answer> {
  const options = importOptions(params)
  const outcome = await transfer.import({ items, ...options }, caller)
  return outcomeAnswer(outcome, { message: messageOf('import success', options), unrecognized })
}
