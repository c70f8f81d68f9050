import type { ConfigKey } from '../../../core/config/config-item.ts'
import { nacosMessage } from './nacos-messages.ts'
import type { Answer } from '../routing/route.ts'
import { JSON_UTF8 } from '../routing/answers.ts'
import { STATUS_OF } from '../errors/status-codes.ts'
import type { ImportOutcome } from '../endpoints/transfer/import-configs.ts'

/** The codes that tell, at HTTP 200, why nothing was imported (http-compat.md section 3). */
const PROBLEMS = {
  'unknown namespace': { code: 100001, text: 'namespace does not exist' },
  'bad metadata': { code: 100002, text: 'imported metadata is invalid' },
  'no data': { code: 100005, text: 'imported file data is empty' },
  'nothing selected': { code: 100006, text: 'no configuration selected' },
} as const

/** Why an import did not begin. */
export type ImportProblem = keyof typeof PROBLEMS

/** The answer to an import that did not begin. */
export function problemAnswer(problem: ImportProblem, detail?: string): Answer {
  const { code, text } = PROBLEMS[problem]
  return envelope(200, {
    code,
    message: detail === undefined ? text : `${text}: ${detail}`,
    data: { succCount: 0 },
  })
}

/** What was imported, and what was not: also where the server could not go on in the middle. */
export function outcomeAnswer(
  outcome: ImportOutcome,
  { message, unrecognized = [] }: { message: string; unrecognized?: readonly string[] },
): Answer {
  const { published, skipped, failed, stoppedBy } = outcome
  const data = {
    succCount: published.length,
    skipCount: skipped.length,
    failData: failed.map(nameOf),
    skipData: skipped.map(nameOf),
    unrecognizedCount: unrecognized.length,
    unrecognizedData: unrecognized.map((itemName) => ({ itemName })),
  }
  if (stoppedBy === undefined) return envelope(200, { code: 200, message, data })
  const status = STATUS_OF[stoppedBy.code]
  const stopped = `stopped after ${published.length} items: ${nacosMessage(stoppedBy, 'config')}`
  return envelope(status, { code: status, message: stopped, data })
}

function nameOf({ dataId, group }: ConfigKey): object {
  return { dataId, group }
}

function envelope(status: number, value: object): Answer {
  return { status, contentType: JSON_UTF8, body: JSON.stringify(value) }
}
