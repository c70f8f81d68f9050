import { toNamespaceId } from '../../../core/namespace-id.ts'
import { Refusal } from '../../../core/refusal.ts'
import type { Cloned, Selected, TransferOperations } from '../../../operations/config-transfer.ts'
import * as fields from '../../parameters/fields.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { endpoint } from '../routing/endpoint.ts'
import type { Answer } from '../routing/route.ts'
import { outcomeAnswer, problemAnswer } from './import-answers.ts'
import { importOptions, messageOf, POLICY_PARAMS } from './import-parts.ts'

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
export function cloneConfigs(transfer: TransferOperations) {
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
    bodyTypes: { 'application/json': SCHEMA },
    maxBodyBytes: MAX_CLONE_BODY_BYTES,
    handle: async ({ params, caller, rawBody }) => {
      const selected = rawBody === undefined ? [] : parseSelection(rawBody.toString('utf8'))
      const namespaceId = toNamespaceId(params.tenant)
      const options = importOptions(params)
      const cloned = await transfer.clone({ namespaceId, selected, ...options }, caller)
      return answerOf(cloned, namespaceId, messageOf('Clone Completed Successfully', options))
    },
  })
}

function answerOf(cloned: Cloned, namespaceId: string, message: string): Answer {
  switch (cloned.kind) {
    case 'nothing-selected':
      return problemAnswer('nothing selected')
    case 'unknown-namespace':
      return problemAnswer('unknown namespace', namespaceId)
    case 'nothing-found':
      return problemAnswer('no data')
    case 'done':
      return outcomeAnswer(cloned.outcome, { message })
  }
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
    // Refused below.
  }
  throw malformed()
}

/** The names of a copy, checked as those of a publish; an empty one is that of the original. */
const NEW_NAMES = Type.Object({ dataId: Type.Optional(fields.dataId), group: Type.Optional(fields.group) })
const readNames = compileReader(NEW_NAMES, NACOS_CONFIG_RULES)

function selectedOf(json: unknown): Selected {
  if (typeof json !== 'object' || json === null) throw malformed()
  const { cfgId, dataId, group } = json as Readonly<Record<string, unknown>>
  const isId = typeof cfgId === 'number' || (typeof cfgId === 'string' && /^\d{1,16}$/.test(cfgId))
  if (!isId || !isName(dataId) || !isName(group)) throw malformed()
  const names = readNames(new Map(Object.entries({ dataId: dataId ?? '', group: group ?? '' })))
  const { dataId: newDataId, group: newGroup } = names as Static<typeof NEW_NAMES>
  return { id: Number(cfgId), dataId: newDataId, group: newGroup }
}

function isName(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string'
}

function malformed(): Refusal {
  return new Refusal('malformed-request', `The body must be ${ALLOWED}.`, { allowed: ALLOWED })
}
