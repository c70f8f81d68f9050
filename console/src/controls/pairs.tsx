import { Breakable } from './breakable.tsx'
import { isSecretKey } from '../../../src/formats/secret-keys.ts'
import { t } from '../language/text.ts'
import { LongTextField } from './field.tsx'
import { Masked } from './masked.tsx'

type Metadata = Readonly<Record<string, string>>

/** A word that may be broken anywhere: shorter ones stay whole, and a narrow table scrolls. */
const LONG_WORD = /[^\s.:/\-_@=]{41}/

/** Keys with their values; values of keys such as password are covered. */
export function Pairs({ pairs }: { pairs: Metadata }) {
  const entries = Object.entries(pairs)
  if (entries.length === 0) return <span class="soft">–</span>
  return (
    <span class="pairs">
      {entries.map(([key, value]) => (
        <span key={key} class={LONG_WORD.test(`${key}=${value}`) ? 'broken' : undefined}>
          <bdi>
            <Breakable text={key} />
          </bdi>
          =
          <bdi>
            <Masked isSecret={isSecretKey(key)} text={value} />
          </bdi>
        </span>
      ))}
    </span>
  )
}

/** The text shown for a value that people nearby should not read. */
const COVER = '••••••'

/** Metadata as people type it: one `key=value` a line. Values of keys such as password are covered. */
export const textOfPairs = (pairs: Metadata): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key}=${isSecretKey(key) ? COVER : value}`)
    .join('\n')

/** Typed metadata with the values that are still covered. */
export const uncovered = (typed: Metadata, pairs: Metadata): Metadata =>
  Object.fromEntries(
    Object.entries(typed).map(([key, value]) => [key, value === COVER ? (pairs[key] ?? value) : value]),
  )

/** Whether a value cannot be typed in one line. */
export const hasLongValues = (pairs: Metadata): boolean =>
  Object.entries(pairs).some(([key, value]) => /[\n=]/.test(key) || value.includes('\n'))

/** The metadata that was typed; undefined for a line that is none. */
export function pairsIn(text: string): Metadata | undefined {
  const pairs: [string, string][] = []
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const at = line.indexOf('=')
    if (at < 1) return undefined
    pairs.push([line.slice(0, at).trim(), line.slice(at + 1).trim()])
  }
  return Object.fromEntries(pairs)
}

/** A field for metadata. */
export function PairsField(props: {
  readonly label?: string
  readonly text: string
  readonly onInput: (text: string) => void
}) {
  const { label = t('metadata'), text, onInput } = props
  return (
    <LongTextField
      label={label}
      hint={t('metadataHint')}
      isCode
      value={text}
      wrong={pairsIn(text) === undefined ? t('metadataWrong') : undefined}
      onInput={onInput}
    />
  )
}
