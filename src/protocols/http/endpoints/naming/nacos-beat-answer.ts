import type { Beaten } from '../../../../operations/naming/beats.ts'
import { jsonTextAnswer } from '../../routing/answers.ts'
import type { Answer } from '../../routing/answer.ts'

/** Always 200: clients read when to beat next from it, and whether to register again (http-compat.md section 4). */
export function nacosBeatAnswer({ kind, intervalMs, lightBeatEnabled }: Beaten): Answer {
  const code = kind === 'unknown' ? 20404 : 10200
  return jsonTextAnswer(
    `{"clientBeatInterval":${intervalMs},"code":${code},"lightBeatEnabled":${lightBeatEnabled}}`,
  )
}
