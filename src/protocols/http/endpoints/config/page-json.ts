import type { PageRequest } from '../../../../operations/page.ts'

/** The page object of histories and searches (interface.md, History page). */
export function pageJson(page: PageRequest, totalCount: number, pageItems: readonly object[]): object {
  const pagesAvailable = Math.ceil(totalCount / page.pageSize)
  return { totalCount, pageNumber: page.pageNo, pagesAvailable, pageItems }
}
