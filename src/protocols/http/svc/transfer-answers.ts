import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import { Refusal } from '../../../core/refusal.ts'
import { type Ahead, AHEAD_CHANGES, type ImportOutcome } from '../../../operations/config/import-configs.ts'
import { REASONS, type TransferAnswers, type Transferred } from '../endpoints/transfer/transfer-params.ts'
import { refusalProblem } from '../errors/problem.ts'
import { jsonAnswer, PROBLEM_JSON, answersJson, Json } from '../routing/answers.ts'
import type { Answer } from '../routing/route.ts'

const NAMES = Json.list(Json.object({ dataId: Json.string(), group: Json.string() }))

/** The answers of imports and clones. */
export const ANSWERS_OUTCOME = answersJson(
  Json.named(
    'TransferOutcome',
    Json.object({
      dryRun: Json.boolean('Whether this is only what would happen.'),
      succCount: Json.integer(),
      skipCount: Json.integer(),
      state: Json.string('After a dry run: what the items were, for `seenState`; else empty.'),
      succData: Json.list(
        Json.object({
          dataId: Json.string(),
          group: Json.string(),
          change: Json.optional(
            Json.words(AHEAD_CHANGES, 'In a dry run. unknown: the caller may not read the present item.'),
          ),
          watcherCount: Json.optional(Json.integer('In a dry run: how many clients listen.')),
        }),
      ),
      failData: NAMES,
      skipData: NAMES,
      unrecognizedCount: Json.integer(),
      unrecognizedData: Json.list(
        Json.object({
          itemName: Json.string(),
          reason: Json.words(REASONS),
        }),
      ),
      unknownTypeData: Json.list(
        Json.object({
          dataId: Json.string(),
          group: Json.string(),
          type: Json.string(
            'The unknown type in the metadata. A new item has the type that its name says; an item that exists keeps its type.',
          ),
        }),
      ),
      readAsData: Json.list(
        Json.object({
          dataId: Json.string(),
          group: Json.string(),
          itemName: Json.string('The name in the file, in another form of Unicode, as macOS writes it.'),
        }),
      ),
      folder: Json.string('The common folder that was taken off the names of a zip file; empty: none.'),
    }),
  ),
)

/** The answers of `/svc` to imports and clones: the outcome of the items, or a refusal if no item was tried. */
export const svcTransferAnswers: TransferAnswers = {
  nothingSelected: () => refuse('malformed-request', 'The body names no item.'),
  nothingToCopy: () => refuse('config-not-found', 'None of these items exists.'),
  noFile: () =>
    refuse(
      'bad-archive',
      'There is no file, or an empty one: send it as the field file of multipart/form-data.',
    ),
  nothingInIt: (reason, unrecognized) => {
    const stoppedBy = new Refusal('bad-archive', reason)
    const outcome = { published: [], skipped: [], failed: [], stoppedBy, state: '' }
    return outcomeAnswer(outcome, { what: 'import', dryRun: false, unrecognized })
  },
  unknownNamespace: (id) => refuse('namespace-not-found', `There is no namespace ${id} on the list.`),
  badMetadata: (reason) => refuse('bad-archive', `The metadata of the file is wrong: ${reason}`),
  done: outcomeAnswer,
}

function refuse(code: Refusal['code'], message: string): never {
  throw new Refusal(code, message)
}

/** The counts come also with the problem that stopped it in the middle. */
function outcomeAnswer(
  outcome: ImportOutcome,
  { dryRun, unrecognized, unknownTypes = [], readAs = [], folder = '' }: Transferred,
): Answer {
  const { published, skipped, failed, stoppedBy, state, ahead } = outcome
  const counts = {
    dryRun,
    succCount: published.length,
    skipCount: skipped.length,
    state,
    succData: ahead?.map(aheadJson) ?? published.map(nameOf),
    failData: failed.map(nameOf),
    skipData: skipped.map(nameOf),
    unrecognizedCount: unrecognized.length,
    unrecognizedData: unrecognized.map(({ name, reason }) => ({ itemName: name, reason })),
    unknownTypeData: unknownTypes,
    readAsData: readAs,
    folder,
  }
  if (stoppedBy === undefined) return jsonAnswer(counts)
  const problem = refusalProblem(stoppedBy)
  const body = JSON.stringify({ ...problem, ...counts })
  return { status: problem.status, contentType: PROBLEM_JSON, body }
}

function aheadJson({ key, change, clientCount }: Ahead): object {
  return { ...nameOf(key), change, watcherCount: clientCount }
}

function nameOf({ dataId, group }: ConfigKey): object {
  return { dataId, group }
}
