import { CoveredText } from '../controls/covered.tsx'
import { Masked } from '../controls/masked.tsx'
import { isSecretKey } from '../../../src/formats/secret-keys.ts'
import { secretsInLines } from '../../../src/formats/secret-texts.ts'
import { shownNumber } from '../language/text.ts'
import type { Hit } from '../server/configs.ts'

/** The lines of a content that match. A line of a value of several lines is covered like the value. */
export function Hits({ hits }: { hits: readonly Hit[] }) {
  if (hits.length === 0) return null
  return (
    <ul class="hits">
      {hits.map(({ line, text, under }) => (
        <li key={line}>
          <span class="line">{shownNumber(line)}</span>
          <span dir="auto">
            {isSecretKey(under) ? (
              <Masked isSecret text={text} />
            ) : (
              <CoveredText text={text} ranges={secretsInLines(text)} />
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
