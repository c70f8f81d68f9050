import { Refusal } from '../../../../core/refusal.ts'
import type { Selected } from '../../../../operations/config/config-transfer.ts'
import * as fields from '../../../parameters/fields.ts'
import { checkJsonDepth } from '../../../parameters/json-depth.ts'
import { checkJsonSize } from '../../../parameters/json-size.ts'
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

/** More than the most items have, each with all its fields. */
const MOST_VALUES = 100_000

function parseArray(text: string): unknown[] {
  checkJsonDepth('The body', text, 32)
  checkJsonSize('The body', text, MOST_VALUES)
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
