import { CoveredText } from '../controls/covered.tsx'
import { shownNumber } from '../language/text.ts'
import type { Hit } from '../server/configs.ts'

/** The lines of a content that match, with their secrets covered. */
export function Hits({ hits }: { hits: readonly Hit[] }) {
  if (hits.length === 0) return null
  return (
    <ul class="hits">
      {hits.map(({ line, text, covered }) => (
        <li key={line}>
          <span class="line">{shownNumber(line)}</span>
          <span dir="auto">
            <CoveredText text={text} ranges={covered} />
          </span>
        </li>
      ))}
    </ul>
  )
}
