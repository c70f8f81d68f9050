import type { ConfigItem } from '../../../../core/config/state/config-item.ts'
import type { SeenItem } from '../../../../core/config/state/config-view.ts'
import { textAnswer } from '../../routing/answers.ts'
import type { Answer } from '../../routing/answer.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Answers items with their content as it is, whatever its type is: a browser must never run what somebody
 * published. An item's answer is made once for each of its versions, because reads are far more frequent.
 * `more` gives the headers that a dialect adds.
 */
export function contentAnswers(more: (item: SeenItem) => Headers = () => ({})): (item: SeenItem) => Answer {
  const made = new WeakMap<SeenItem, Answer>()
  return (item) => {
    const known = made.get(item)
    if (known !== undefined) return known
    const answer = textAnswer(item.content, 200, { ...contentHeaders(item), ...more(item) })
    made.set(item, answer)
    return answer
  }
}

/** The headers about an item. */
export function contentHeaders(item: ConfigItem): Headers {
  return {
    'Content-MD5': item.md5,
    'Config-Type': item.type,
    'Last-Modified': new Date(item.modifiedMs).toUTCString(),
  }
}
