import type { Answer } from '../routing/answer.ts'

/** The ids of the servers that have not replied in time, separated by commas. */
const HEADER = 'Waypost-Missing-Servers'

/** An answer that is collected from all servers, with a header that names the servers without a reply. */
export function withMissing(answer: Answer, missing: readonly string[]): Answer {
  if (missing.length === 0) return answer
  return { ...answer, headers: { ...answer.headers, [HEADER]: missing.join(',') } }
}
