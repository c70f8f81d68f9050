import type { FoundPage, NameSearch } from '../../../../operations/name-search.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonAnswer, answersJson, Json, pageJson } from '../../routing/answers.ts'
import type { Answer } from '../../routing/route.ts'

/** The parameters of a page of users, roles or permissions. */
export const PAGE_PARAMS = {
  search: fields.withDefault(
    Type.Enum(['accurate', 'blur'], { description: 'In a blur search, `*` stands for any characters.' }),
    'accurate',
  ),
  ...fields.page(100),
}

/** The pattern of a search parameter; an absent one finds all. */
export function searchFor(text: string | undefined, mode: NameSearch['mode']): NameSearch {
  return { text: text ?? '', mode }
}

/** The page object of `/nacos` and `/svc`. */
export function pageAnswer<T>(
  { page, totalCount, entries }: FoundPage<T>,
  json: (entry: T) => object,
): Answer {
  return jsonAnswer(pageJson(page, totalCount, entries.map(json)))
}

/** The schema of `doneAnswer`. */
export const ANSWERS_DONE = answersJson(
  Json.named(
    'Done',
    Json.object({ code: Json.integer(), message: Json.string(), data: Json.constant(null) }),
  ),
)

/** The answer to a change (http-compat.md section 7). */
export function doneAnswer(message: string): Answer {
  return jsonAnswer({ code: 200, message, data: null })
}
