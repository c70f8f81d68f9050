import type { Operations } from '../../../operations/operations.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/schema.ts'
import { cloneEndpoint, importEndpoint, type ImportLimits } from '../endpoints/transfer/import-endpoint.ts'
import { placeRoutes, type Route, type Answer } from '../routing/route.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'
import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { NotTaken, TransferAnswers, Transferred } from '../endpoints/transfer/transfer-params.ts'
import { nacosMessage } from './nacos-errors.ts'
import { JSON_UTF8 } from '../routing/answers.ts'
import { REFUSALS } from '../../refusals/refusals.ts'
import type { ImportOutcome } from '../../../operations/config/import-configs.ts'

/** `POST /nacos/v1/cs/configs` with `import=true` or `clone=true` in the query (http-compat.md section 3). */
export function nacosImportRoutes(
  { transfer }: { transfer: Operations['transfer'] },
  limits: ImportLimits,
): Route[] {
  const parts = { limits, rules: NACOS_CONFIG_RULES, answers: nacosTransferAnswers }
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['POST', '/configs', importEndpoint(transfer, parts)],
    ['POST', '/configs', cloneEndpoint(transfer, nacosTransferAnswers)],
  ])
}

/** The codes that say, at HTTP 200, why nothing was imported. The text of 100002 comes from 2.5.1. */
const PROBLEMS = {
  'unknown namespace': { code: 100001, text: 'namespace does not exist' },
  'bad metadata': { code: 100002, text: '导入的元数据非法' },
  'no data': { code: 100005, text: 'imported file data is empty' },
  'nothing selected': { code: 100006, text: 'no configuration selected' },
} as const

/** Why an import did not begin. */
type ImportProblem = keyof typeof PROBLEMS

/** The text before the name of something that is not imported. Clients compare these texts, which come from 2.5.1. */
const PREFIXES: Readonly<Record<NotTaken['reason'], string>> = {
  'bad-name': '',
  'not-in-metadata': '未在元数据中找到: ',
  'no-entry': '未在文件中找到: ',
  litter: '',
  'metadata-elsewhere': '',
  link: '',
  'set-record': '',
  'no-item': '',
}

/** The answers of `/nacos`: an envelope with a code of its own, mostly at HTTP 200. */
const nacosTransferAnswers: TransferAnswers = {
  nothingSelected: () => problemAnswer('nothing selected'),
  nothingToCopy: () => problemAnswer('no data'),
  noFile: () => problemAnswer('no data'),
  nothingInIt: (reason, unrecognized) => problemAnswer('no data', reason, unrecognizedData(unrecognized)),
  unknownNamespace: (namespaceId) => problemAnswer('unknown namespace', namespaceId),
  badMetadata: badMetadataAnswer,
  done: outcomeAnswer,
}

const SUCCESS = { import: 'import success', clone: 'Clone Completed Successfully' } as const

/** The answer to an import that did not begin. */
function problemAnswer(
  problem: Exclude<ImportProblem, 'bad metadata'>,
  detail?: string,
  more: object = {},
): Answer {
  const { code, text } = PROBLEMS[problem]
  const message = detail === undefined ? text : `${text}: ${detail}`
  return envelope(200, { code, message, data: { succCount: 0, ...more } })
}

/** The answer to bad metadata. Clients compare its message, so what is wrong is in `data.reason`. */
function badMetadataAnswer(reason: string): Answer {
  const { code, text } = PROBLEMS['bad metadata']
  return envelope(200, { code, message: text, data: { succCount: 0, reason } })
}

/** The items that were imported and the items that were not, also if the import stopped in the middle. */
function outcomeAnswer(outcome: ImportOutcome, about: Transferred): Answer {
  const { what, dryRun, unrecognized, folder, unknownTypes = [], readAs = [] } = about
  const { published, skipped, failed, stoppedBy } = outcome
  const data = {
    succCount: published.length,
    skipCount: skipped.length,
    failData: failed.map(nameOf),
    skipData: skipped.map(nameOf),
    ...unrecognizedData(unrecognized),
    // Other servers have no such fields: they take no folder off, and store any type.
    folder,
    ...(unknownTypes.length > 0 && { unknownTypeData: unknownTypes }),
    ...(readAs.length > 0 && { readAsData: readAs }),
  }
  const message = dryRun ? 'dry run: nothing was changed' : SUCCESS[what]
  if (stoppedBy === undefined) return envelope(200, { code: 200, message, data })
  const status = REFUSALS[stoppedBy.code].http
  const stopped = `stopped after ${published.length} items: ${nacosMessage(stoppedBy, 'config')}`
  return envelope(status, { code: status, message: stopped, data })
}

function unrecognizedData(unrecognized: readonly NotTaken[]): object {
  const names = unrecognized.map(({ name, reason }) => ({ itemName: PREFIXES[reason] + name }))
  return { unrecognizedCount: names.length, unrecognizedData: names }
}

function nameOf({ dataId, group }: ConfigKey): object {
  return { dataId, group }
}

function envelope(status: number, value: object): Answer {
  return { status, contentType: JSON_UTF8, body: JSON.stringify(value) }
}
