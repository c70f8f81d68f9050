import { jsonAnswer } from '../../routing/answers.ts'
import type { Answer } from '../../routing/answer.ts'

/** An answer that no cache may keep. */
export function secretAnswer(body: object, headers: Answer['headers'] = {}): Answer {
  return { ...jsonAnswer(body), headers: { ...headers, 'Cache-Control': 'no-store' } }
}
