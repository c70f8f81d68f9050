import type { PageRequest } from '../../../../operations/page.ts'
import { Json, type JsonSchema } from '../../routing/answer-schema.ts'

/** The schema of a page; `more`: further fields. */
export function pageSchema(
  title: string,
  item: JsonSchema,
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const { integer, list } = Json
  const page = { totalCount: integer(), pageNumber: integer(), pagesAvailable: integer() }
  return Json.named(title, Json.object({ ...page, pageItems: list(item), ...more }))
}

/** The page object of histories and searches (interface.md, History page). */
export function pageJson(page: PageRequest, totalCount: number, pageItems: readonly object[]): object {
  const pagesAvailable = Math.ceil(totalCount / page.pageSize)
  return { totalCount, pageNumber: page.pageNo, pagesAvailable, pageItems }
}
