import { Refusal } from '../../../../core/refusal.ts'
import type { Selected } from '../../../../operations/config-transfer.ts'
import * as fields from '../../../parameters/fields.ts'
import { compileReader } from '../../../parameters/parameter-reader.ts'
import { SVC_RULES } from '../../../parameters/parameter-rules.ts'
import { type Static, Type } from '../../../parameters/schema.ts'

/** Each of the most items is some 450 bytes of names at the most. */
const MAX_CLONED = 10_000
/** The body of a clone. */
export const MAX_CLONE_BODY_BYTES = 8 * 1024 * 1024

const ALLOWED = 'a JSON array of {"cfgId":…,"dataId":"…","group":"…"}'

/** The body of a clone, as JSON Schema. */
export const SELECTION_SCHEMA = {
  type: 'array',
  maxItems: MAX_CLONED,
  items: {
    type: 'object',
    required: ['cfgId'],
    properties: { cfgId: { type: 'integer' }, dataId: { type: 'string' }, group: { type: 'string' } },
  },
}

/** The items that a body names; throws Refusal where it is not what is allowed. */
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
const readNames = compileReader(NEW_NAMES, SVC_RULES)

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
