import type { Range } from '../../../src/formats/tree.ts'
import { Masked } from './masked.tsx'

/** A text of which some parts are covered until they are clicked. */
export function CoveredText({ text, ranges }: { text: string; ranges: readonly Range[] }) {
  const pieces = []
  let at = 0
  for (const { from, to } of ranges) {
    pieces.push(text.slice(at, from), <Masked key={from} isSecret text={text.slice(from, to)} />)
    at = to
  }
  return (
    <>
      {pieces}
      {text.slice(at)}
    </>
  )
}
