import { TextPattern } from '../core/text/text-pattern.ts'
import { cutPage, type Page, type PageRequest, pageOf } from './page.ts'

/** Which names are looked for; the empty text finds all. In a `blur` search, `*` stands for any characters. */
export interface NameSearch {
  readonly text: string
  readonly mode: 'accurate' | 'blur'
}

/** The page of a search that is answered. */
export interface FoundPage<T> extends Page<T> {
  readonly page: PageRequest
}

/** The names that a search finds. */
export function nameFilter({ text, mode }: NameSearch): (name: string) => boolean {
  if (text === '') return () => true
  if (mode === 'accurate') return (name) => name === text
  const pattern = new TextPattern(text)
  return (name) => pattern.matches(name)
}

/** The page that was asked for, or a smaller one (`cutPage`). */
export function foundPage<T>(found: readonly T[], asked: PageRequest): FoundPage<T> {
  const page = cutPage(asked)
  return { page, entries: pageOf(found, page), totalCount: found.length }
}

/** The names that contain a text, up to the size of the largest page: suggestions while somebody types. */
export function namesWith(names: Iterable<string>, text: string): string[] {
  const distinct = [...new Set(names)].filter((name) => name.includes(text))
  return foundPage(distinct, { pageNo: 1, pageSize: Infinity }).entries.slice()
}
