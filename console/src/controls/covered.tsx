import { secretRanges } from '../editor/secrets.ts'
import { Masked } from './masked.tsx'

/** A text in which values of keys such as password are covered until they are clicked. */
export function CoveredText({ text }: { text: string }) {
  const pieces = []
  let at = 0
  for (const { from, to } of secretRanges(text)) {
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
