import type { ConfigItem } from '../../../core/config/config-item.ts'
import { toNamespaceId } from '../../../core/namespace-id.ts'
import { Refusal } from '../../../core/refusal.ts'
import { WRITE_CONFIG } from '../endpoints/config/config-parts.ts'
import * as fields from '../../parameters/fields.ts'
import { operation } from '../routing/operation.ts'
import { Type } from '../../parameters/schema.ts'
import { importConfigs } from '../endpoints/transfer/import-configs.ts'
import type { ImportItem } from '../endpoints/transfer/import-item.ts'
import { namedKey } from './config-names.ts'
import { outcomeAnswer, problemAnswer } from './import-answers.ts'
import { type ImportRouteParts, importWish, isListed, messageOf, POLICY_PARAMS } from './import-parts.ts'

/** Each of the most items is some 450 bytes of names at the most. */
const MAX_CLONED = 10_000
const MAX_CLONE_BODY_BYTES = 8 * 1024 * 1024

const ALLOWED = 'a JSON array of {"cfgId":…,"dataId":"…","group":"…"}'

const SCHEMA = {
  type: 'array',
  maxItems: MAX_CLONED,
  items: {
    type: 'object',
    required: ['cfgId'],
    properties: { cfgId: { type: 'integer' }, dataId: { type: 'string' }, group: { type: 'string' } },
  },
}

/** `POST /configs?clone=true`: copies items into a namespace, under other names where they are given. */
export function cloneConfigs(parts: ImportRouteParts) {
  return operation({
    summary: 'Copies items into a namespace',
    permission: WRITE_CONFIG,
    params: Type.Object({
      clone: Type.Optional(Type.Boolean({ description: 'True, in the query: copies items.' })),
      tenant: Type.Optional(fields.withAliases(fields.tenant, 'namespace')),
      ...POLICY_PARAMS,
    }),
    variant: 'clone',
    body: 'raw',
    bodyTypes: { 'application/json': SCHEMA },
    maxBodyBytes: MAX_CLONE_BODY_BYTES,
    handle: async ({ params, caller, rawBody }) => {
      const selected = rawBody === undefined ? [] : parseSelection(rawBody.toString('utf8'))
      const namespaceId = toNamespaceId(params.tenant)
      if (selected.length === 0) return problemAnswer('nothing selected')
      if (!isListed(parts.state, namespaceId)) return problemAnswer('unknown namespace', namespaceId)
      const items = selected.flatMap((one) => itemOf(parts, one, namespaceId))
      if (items.length === 0) return problemAnswer('no data')
      checkTargets(items)
      const wish = importWish(params, caller)
      const outcome = await importConfigs(parts, items, wish)
      return outcomeAnswer(outcome, { message: messageOf('Clone Completed Successfully', wish) })
    },
  })
}

interface Selected {
  readonly id: number
  readonly dataId: string | undefined
  readonly group: string | undefined
}

function parseSelection(text: string): Selected[] {
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
  try {
    const json: unknown = text.trim() === '' ? [] : JSON.parse(text)
    if (Array.isArray(json)) return json
  } catch {
    // Said below.
  }
  throw malformed()
}

function selectedOf(json: unknown): Selected {
  if (typeof json !== 'object' || json === null) throw malformed()
  const { cfgId, dataId, group } = json as Readonly<Record<string, unknown>>
  const isId = typeof cfgId === 'number' || (typeof cfgId === 'string' && /^\d{1,16}$/.test(cfgId))
  if (!isId || !isName(dataId) || !isName(group)) throw malformed()
  return { id: Number(cfgId), dataId: dataId || undefined, group: group || undefined }
}

function isName(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string'
}

function malformed(): Refusal {
  return new Refusal('malformed-request', `The body must be ${ALLOWED}.`, { allowed: ALLOWED })
}

/** The copy of one item; none where no item has the id. */
function itemOf({ state }: ImportRouteParts, selected: Selected, namespaceId: string): ImportItem[] {
  const source = state.configs.getById(selected.id)
  if (source === undefined) return []
  const { dataId = source.key.dataId, group = source.key.group } = selected
  return [copyOf(source, namedKey({ tenant: namespaceId, dataId, group }))]
}

function copyOf({ content, type, notes }: ConfigItem, key: ImportItem['key']): ImportItem {
  return { key, type, notes, bytes: content.length, read: () => Promise.resolve(content) }
}

function checkTargets(items: readonly ImportItem[]): void {
  const seen = new Set<string>()
  for (const { key } of items) {
    const name = `${key.group}/${key.dataId}`
    if (seen.has(name)) {
      const allowed = 'a name for each item that no other has'
      throw new Refusal('invalid-parameter', `The body gives two items the name ${name}; ${allowed}.`, {
        allowed,
      })
    }
    seen.add(name)
  }
}
