import { codeOf, UNSEEN } from '../../../src/formats/unseen.ts'
import { t } from '../language/text.ts'
import { Masked } from './masked.tsx'

/** A value of a key as it is written, with marks for blanks at its ends and for characters that nobody sees. */
export function Written({ text, isSecret }: { text: string | undefined; isSecret: boolean }) {
  if (text === undefined) return <span class="soft">–</span>
  return text === '' ? (
    <span class="soft">{t('emptyValue')}</span>
  ) : (
    <Masked text={marked(text)} isSecret={isSecret} />
  )
}

function marked(text: string): string {
  const seen = text.replaceAll(UNSEEN, (character) => `⟨${codeOf(character)}⟩`)
  const inner = seen.trim()
  const from = seen.indexOf(inner)
  const blanks = (count: number): string => '␣'.repeat(count)
  return blanks(from) + inner + blanks(seen.length - from - inner.length)
}
