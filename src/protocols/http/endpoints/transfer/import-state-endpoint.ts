import { setImmediate as othersTurn } from 'node:timers/promises'
import { Refusal } from '../../../../core/refusal.ts'
import { isThing, type PlanLine } from '../../../../plan/plan.ts'
import { ShapeError } from '../../../../core/records/shape.ts'
import { readPlanLine } from '../../../../plan/read-plan.ts'
import type { ImportLine } from '../../../../operations/import/imported-things.ts'
import type { ImportedLines } from '../../../../operations/import/import-state.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { type ThingLimits, thingOf } from './plan-things.ts'
import { checkPlanLine } from './plan-line-size.ts'

/** Dependencies of the endpoint, and the largest body that it takes. */
export interface ImportStateParts {
  readonly imports: Operations['imports']
  readonly limits: ThingLimits & { readonly maxImportBytes: number }
}

const OUTCOME = Json.named(
  'ImportedState',
  Json.object({
    taken: Json.integer(),
    unchanged: Json.integer(),
    kept: Json.integer(),
    refused: Json.integer(),
    lines: Json.list(
      Json.object({
        line: Json.integer('The number of the line in the body; the head is 1.'),
        outcome: Json.words(['kept', 'refused']),
        reason: Json.string(),
      }),
    ),
  }),
)

const PARAMS = Type.Object({
  overwrite: Type.Boolean({ default: false, description: 'Whether it replaces what was changed here.' }),
  administrators: Type.Optional(
    Type.String({
      maxLength: 4096,
      description: 'The users who become administrators here, separated by commas.',
    }),
  ),
})

/** `POST /svc/v1/operator/import`: takes lines of a plan (docs/move-plan.md). */
export function importStateEndpoint({ imports, limits }: ImportStateParts): Endpoint {
  return endpoint({
    summary: 'Imports lines of the plan of a move: what another server had',
    permission: imports.state.permission,
    answers: answersJson(OUTCOME),
    params: PARAMS,
    body: 'raw',
    bodyTypes: {
      'application/x-ndjson': { type: 'string', description: 'The head of a plan, then lines of it.' },
    },
    maxBodyBytes: limits.maxImportBytes,
    handle: async ({ params, caller, rawBody }) => {
      const read = () => linesOf(rawBody ?? Buffer.alloc(0), limits)
      const { overwrite } = params
      return jsonAnswer(await imports.state({ read, overwrite, administrators: namesOf(params) }, caller))
    },
  })
}

function namesOf({ administrators = '' }: { administrators?: string }): ReadonlySet<string> {
  return new Set(administrators.split(',').filter((name) => name !== ''))
}

/** Lines that are read before other work gets a turn, and their bytes. */
const LINES_PER_TURN = 200
const BYTES_PER_TURN = 256 * 1024
const LINE_END = 10

/** The things of a body. Throws Refusal `malformed-request` for an unknown line: nothing is imported then. */
async function linesOf(body: Buffer, limits: ThingLimits): Promise<ImportedLines> {
  const lines: ImportLine[] = []
  let lastRefMs = 0
  const turn = { lines: 0, bytes: 0 }
  let number = 0
  for (let at = 0; at < body.length;) {
    const found = body.indexOf(LINE_END, at)
    const end = found < 0 ? body.length : found
    const read = planLine(body.subarray(at, end), ++number, limits.maxInstanceMetadataBytes)
    if (read.kind === 'plan') lastRefMs = read.lastRefMs
    if (isThing(read)) lines.push({ line: number, thing: thingOf(read, limits) })
    turn.lines++
    turn.bytes += end - at
    at = end + 1
    if (turn.lines < LINES_PER_TURN && turn.bytes < BYTES_PER_TURN) continue
    turn.lines = 0
    turn.bytes = 0
    await othersTurn()
  }
  if (number === 0) throw new Refusal('malformed-request', 'The body has no line of a plan.')
  return { lastRefMs, lines }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function planLine(bytes: Buffer, number: number, maxBytes: number): PlanLine {
  try {
    const text = UTF8.decode(bytes)
    checkPlanLine(text, number, maxBytes)
    return readPlanLine(text, number)
  } catch (error) {
    if (error instanceof ShapeError) throw new Refusal('malformed-request', `${error.message}.`)
    if (error instanceof TypeError)
      throw new Refusal('malformed-request', `line ${number} of the plan: it is not UTF-8.`)
    throw error
  }
}
