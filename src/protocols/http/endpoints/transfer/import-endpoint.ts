import type { ParameterRules } from '../../../parameters/parameter-field.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { checkContents, nothingInZip, readArchive } from '../../../../archive/config-archive.ts'
import { MetadataError } from '../../../../archive/config-metadata.ts'
import { openZip } from '../../../../archive/zip-reader.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import * as fields from '../../../parameters/fields.ts'
import { type FormPart, parseMultipart } from '../../../parameters/multipart.ts'
import { compileReader } from '../../../parameters/parameter-reader.ts'
import { type Static, Type, SVC_RULES } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { checkSizes, type ImportItems, importItems } from './import-item.ts'
import { importOptions, POLICY_PARAMS, type TransferAnswers } from './transfer-params.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { idsWithoutCopy, type Selected } from '../../../../operations/config/config-transfer.ts'
import { checkJsonDepth, checkJsonSize, MOST_LISTED_VALUES } from '../../../parameters/json-depth.ts'

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
      if (file === undefined || file.length === 0) return answers.noFile()
      if (!isTarget) return answers.unknownNamespace(namespaceId)
      try {
        const { items, ...about } = await itemsOfFile(file, namespaceId, limits)
        const { unrecognized } = about
        if (items.length === 0) return answers.nothingInIt(nothingInZip(unrecognized), unrecognized)
        const options = importOptions(all)
        const outcome = await transfer.import({ items, ...options }, caller)
        return answers.done(outcome, { what: 'import', dryRun: options.dryRun, ...about })
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
  const archive = await readArchive(entries)
  const found = await importItems(archive, namespaceId)
  checkSizes(archive, limits.maxContentBytes)
  await checkContents(archive.items)
  return found
}

/** `POST /configs?clone=true`: copies items into a namespace, under other names where they are given. */
export function cloneEndpoint(transfer: Operations['transfer'], answers: TransferAnswers): Endpoint {
  return endpoint({
    summary: 'Copies items into a namespace',
    permission: transfer.clone.permission,
    params: Type.Object({
      clone: Type.Optional(Type.Boolean({ description: 'True, in the query: copies items.' })),
      tenant: Type.Optional(fields.withAliases(fields.tenant, 'namespace')),
      ...POLICY_PARAMS,
    }),
    variant: 'clone',
    body: 'raw',
    bodyTypes: { 'application/json': SELECTION_SCHEMA },
    maxBodyBytes: MAX_CLONE_BODY_BYTES,
    handle: async ({ params, caller, rawBody }) => {
      const selected = rawBody === undefined ? [] : parseSelection(rawBody.toString('utf8'))
      const namespaceId = toNamespaceId(params.tenant)
      const options = importOptions(params)
      const cloned = await transfer.clone({ namespaceId, selected, ...options }, caller)
      switch (cloned.kind) {
        case 'nothing-selected':
          return answers.nothingSelected()
        case 'unknown-namespace':
          return answers.unknownNamespace(namespaceId)
        case 'nothing-found':
          return answers.nothingToCopy()
        case 'done': {
          const notCopied = idsWithoutCopy(cloned).map((id) => `id ${id}`)
          const unrecognized = notCopied.map((name) => ({ name, reason: 'no-item' as const }))
          return answers.done(cloned.outcome, { what: 'clone', dryRun: options.dryRun, unrecognized })
        }
      }
    },
  })
}

/** Each of the most items is some 450 bytes of names at the most. */
const MAX_CLONED = 10_000
/** The body of a clone. */
const MAX_CLONE_BODY_BYTES = 8 * 1024 * 1024

const ALLOWED = 'a JSON array of {"cfgId":…,"dataId":"…","group":"…"}'

/** The body of a clone, as JSON Schema. */
const SELECTION_SCHEMA = {
  type: 'array',
  maxItems: MAX_CLONED,
  items: {
    type: 'object',
    required: ['cfgId'],
    properties: {
      cfgId: { type: 'integer' },
      dataId: { type: 'string' },
      group: { type: 'string' },
      casMd5: {
        type: 'string',
        description: 'Copy only over this md5 (empty: only what is new), whatever the policy says.',
      },
      fromMd5: {
        type: 'string',
        description: 'Copy only if the original has this md5; otherwise it counts as one that exists.',
      },
    },
  },
}

/** The items that a body names. Throws Refusal for other bodies. */
export function parseSelection(text: string): Selected[] {
  const json = parseArray(text)
  if (json.length > MAX_CLONED) {
    const allowed = `at most ${MAX_CLONED} items`
    throw new Refusal('too-many', `The body names ${json.length} items: ${allowed} are cloned at once.`, {
      allowed,
    })
  }
  return json.map(selectedOf)
}

function parseArray(text: string): unknown[] {
  checkJsonDepth('The body', text, 32)
  checkJsonSize('The body', text, MOST_LISTED_VALUES)
  try {
    const json: unknown = text.trim() === '' ? [] : JSON.parse(text)
    if (Array.isArray(json)) return json
  } catch {
    // Refused below.
  }
  throw malformed()
}

/** The names of a copy, checked like the names of a publish; an empty name means the name of the original. */
const NEW_NAMES = Type.Object({ dataId: Type.Optional(fields.dataId), group: Type.Optional(fields.group) })
const readNames = compileReader(NEW_NAMES, SVC_RULES)

function selectedOf(json: unknown): Selected {
  if (typeof json !== 'object' || json === null) throw malformed()
  const fields = json as Readonly<Record<string, unknown>>
  const { cfgId } = fields
  const isId = typeof cfgId === 'number' || (typeof cfgId === 'string' && /^\d{1,16}$/.test(cfgId))
  if (!isId) throw malformed()
  const texts = [textIn(fields, 'dataId') ?? '', textIn(fields, 'group') ?? ''] as const
  const names = readNames(
    new Map([
      ['dataId', texts[0]],
      ['group', texts[1]],
    ]),
  )
  const { dataId, group } = names as Static<typeof NEW_NAMES>
  return {
    id: Number(cfgId),
    dataId,
    group,
    casMd5: textIn(fields, 'casMd5'),
    fromMd5: textIn(fields, 'fromMd5'),
  }
}

function textIn(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name] ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw malformed()
}

function malformed(): Refusal {
  return new Refusal('malformed-request', `The body must be ${ALLOWED}.`, { allowed: ALLOWED })
}
