import type { Operations } from '../../../../operations/operations.ts'
import { readArchive } from '../../../../archive/config-archive.ts'
import { MetadataError } from '../../../../archive/config-metadata.ts'
import { openZip } from '../../../../archive/zip-reader.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import * as fields from '../../../parameters/fields.ts'
import { type FormPart, parseMultipart } from '../../../parameters/multipart.ts'
import { compileReader } from '../../../parameters/parameter-reader.ts'
import type { ParameterRules } from '../../../parameters/parameter-rules.ts'
import { type Static, Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { checkContents, type ImportItems, importItems } from './import-item.ts'
import { importOptions, POLICY_PARAMS, type TransferAnswers } from './transfer-params.ts'

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

const UPLOAD = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', format: 'binary', description: 'The zip file.' } },
}

/** The most entries of a zip without zip64. */
const MAX_ENTRIES = 65_534
/** Any entry but a content may be as large as metadata can be; contents have their own limit. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024

/** Dependencies of an import endpoint besides the operations. */
export interface ImportEndpointParts {
  readonly limits: ImportLimits
  /** How fields of the upload are read. */
  readonly rules: ParameterRules
  readonly answers: TransferAnswers
}

/** `POST /configs?import=true`: publishes the items of a zip file (http-compat.md section 3). */
export function importEndpoint(
  transfer: Operations['transfer'],
  { limits, rules, answers }: ImportEndpointParts,
): Endpoint {
  const readParts = compileReader(PARAMS, rules)
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
      // Parameters may be fields of the upload as well.
      const all = { ...(readParts(textsOf(form)) as Static<typeof PARAMS>), ...params }
      const file = form.find(({ name }) => name === 'file')?.content
      const namespaceId = toNamespaceId(all.namespace)
      // First of all, because it judges whether the caller may write there.
      const isTarget = transfer.takesImports({ namespaceId }, caller)
      if (file === undefined || file.length === 0) return answers.nothingToImport()
      if (!isTarget) return answers.unknownNamespace(namespaceId)
      try {
        const { items, unrecognized } = await itemsOfFile(file, namespaceId, limits)
        if (items.length === 0) return answers.nothingToImport()
        const options = importOptions(all)
        const outcome = await transfer.import({ items, ...options }, caller)
        return answers.done(outcome, { what: 'import', dryRun: options.dryRun, unrecognized })
      } catch (error) {
        if (error instanceof MetadataError) return answers.badMetadata(error.message)
        throw error
      }
    },
  })
}

function textsOf(form: readonly FormPart[]): Map<string, string> {
  const texts = form.filter(({ name }) => name !== 'file')
  return new Map(texts.map(({ name, content }) => [name, content.toString('utf8')]))
}

/** The items of a zip, every content of which can be unpacked and is not too large. */
async function itemsOfFile(file: Buffer, namespaceId: string, limits: ImportLimits): Promise<ImportItems> {
  const maxTotalBytes = limits.maxImportContentBytes
  const entries = await openZip(file, {
    maxEntries: MAX_ENTRIES,
    maxEntryBytes: MAX_ENTRY_BYTES,
    maxTotalBytes,
  })
  const found = await importItems(await readArchive(entries), namespaceId)
  await checkContents(found.items, limits.maxContentBytes)
  return found
}
