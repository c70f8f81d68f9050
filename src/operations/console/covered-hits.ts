import type { ConfigItem } from '../../core/config/state/config-item.ts'
import { formatOf } from '../../core/config/state/type-names.ts'
import { mayHaveSecrets } from '../../formats/secret-texts.ts'
import { secretRanges } from '../../formats/secrets.ts'
import type { Range } from '../../formats/tree.ts'
import type { Hit } from './content-search.ts'

/** Larger contents are not read here, because a reader has no turns: some 10 ms. */
const MOST_READ_BYTES = 32 * 1024

/** A line that was found, with its parts that people nearby should not read. */
export interface CoveredHit extends Hit {
  /** In characters of `text`, in order and apart from each other. */
  readonly covered: readonly Range[]
}

/** Covers the secrets in lines of an item: by the reader of its type, and of a large content the whole line. */
export async function coveredHits(item: ConfigItem, hits: readonly Hit[]): Promise<CoveredHit[]> {
  if (hits.length === 0) return []
  if (item.content.length > MOST_READ_BYTES)
    return hits.map((hit) => ({ ...hit, covered: [{ from: 0, to: hit.text.length }] }))
  const text = item.content.toString().replaceAll('\r\n', '\n')
  // Lines that end with CR alone are lines for readers, and one line of the search.
  const secrets = mayHaveSecrets(text) ? await secretRanges(formatOf(item), text.replaceAll('\r', '\n')) : []
  const starts = startsOf(text)
  return hits.map((hit) => ({ ...hit, covered: rangesIn(hit, starts[hit.line - 1] ?? 0, secrets) }))
}

function startsOf(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The ranges of a text that are in its line, of which a long one is cut. */
function rangesIn({ text }: Hit, start: number, ranges: readonly Range[]): Range[] {
  const end = start + text.length
  return ranges
    .filter(({ from, to }) => from < end && to > start)
    .map(({ from, to }) => ({ from: Math.max(from, start) - start, to: Math.min(to, end) - start }))
}
