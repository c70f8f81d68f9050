import { keep, readKept } from '../state/kept.ts'
import { Store } from '../state/store.ts'
import { en, type TextKey } from './en.ts'

/** The languages of the page. */
export type Language = 'en' | 'zh-CN'

/** A text for each key: one that is missing does not compile. */
export type Texts = Readonly<Record<TextKey, string>>

let texts: Texts = en
let sayPhrase = (phrase: string): string => phrase

/** The language whose texts are shown. */
export const language = new Store<Language>('en')

/** The language to begin with: the chosen language, else the language of the browser. */
export function firstLanguage(): Language {
  const kept = readKept('language')
  if (kept === 'en' || kept === 'zh-CN') return kept
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en'
}

/** Loads a language and shows it. */
export async function showLanguage(wanted: Language): Promise<void> {
  const chinese = wanted === 'en' ? undefined : await import('./zh-cn.ts')
  texts = chinese?.zhCn ?? en
  sayPhrase = chinese?.phraseZhCn ?? ((phrase) => phrase)
  document.documentElement.lang = wanted
  language.set(wanted)
}

/** Shows a language from now on, also when the page is opened again. */
export function chooseLanguage(wanted: Language): Promise<void> {
  keep('language', wanted)
  return showLanguage(wanted)
}

/** The text of a key, with the values of its `{names}`. Views are drawn again when the language changes. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** A phrase of the server, such as the allowed values, in the language of the page; one that is not known stays in English. */
export const phraseText = (phrase: string): string => sayPhrase(phrase)

/** The text of a key that may not exist, such as one for a code of the server. */
export function textIfAny(key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key as TextKey] : undefined
}

/** A number as people of the language write it. */
export const shownNumber = (value: number): string => new Intl.NumberFormat(language.value).format(value)

/** A time as people of the language write it. */
export function shownTime(epochMs: number): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'medium' }).format(epochMs)
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** How long ago: `3 hours ago`. */
export function shownAgo(epochMs: number, nowMs: number): string {
  const elapsed = Math.max(0, nowMs - epochMs)
  const [unit, ms] = UNITS.find(([, size]) => elapsed >= size) ?? UNITS[3]
  if (elapsed < 1000) return t('justNow')
  // The long form of Chinese is `48秒钟前`, which nobody writes.
  const style = language.value === 'en' ? 'long' : 'short'
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto', style })
  return format.format(-Math.floor(elapsed / ms), unit).replace(/(\d)(?=\p{Script=Han})/u, '$1 ')
}

/** How long something takes: `17 s`. */
export function shownDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3]
  const format = new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'narrow' })
  return format.format(Math.round(ms / size))
}

/** A size in bytes: `1.5 kB`. */
export function shownSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const isLarge = bytes >= 1_000_000
  const value = new Intl.NumberFormat(language.value, { maximumFractionDigits: 1 })
  return `${value.format(bytes / (isLarge ? 1_000_000 : 1000))} ${isLarge ? 'MB' : 'kB'}`
}
