import { textIfAny, t } from '../language/text.ts'
import { serverEn } from '../language/en-server.ts'

const PREFIX = 'operation.'

/** The operations that the audit names. */
export const OPERATIONS: readonly string[] = Object.keys(serverEn)
  .filter((key) => key.startsWith(PREFIX))
  .map((key) => key.slice(PREFIX.length))

/** The name of an operation in the language of the page; the server's word if the operation is unknown. */
export const operationText = (operation: string): string => textIfAny(PREFIX + operation) ?? operation

/** The result of an operation with its numbers, in the language of the page. */
export function detailText(detail: string): string {
  const [, published, skipped, failed] = /^published (\d+), skipped (\d+), failed (\d+)$/.exec(detail) ?? []
  if (published === undefined || skipped === undefined || failed === undefined) return detail
  return t('transferred', { published, skipped, failed })
}
