/** The most entries of a page, however many are asked for. */
const MAX_PAGE_SIZE = 500

/** Which entries are asked for; `pageNo` counts from 1. */
export interface PageWish {
  readonly pageNo: number
  readonly pageSize: number
}

/** The page that is answered: a larger one than allowed is cut, which clients can tell by `pagesAvailable`. */
export function toPage({ pageNo, pageSize }: PageWish): PageWish {
  return { pageNo, pageSize: Math.min(pageSize, MAX_PAGE_SIZE) }
}

/** The page object of histories and searches (interface.md, History page). */
export function pageJson(page: PageWish, totalCount: number, pageItems: readonly object[]): object {
  const pagesAvailable = Math.ceil(totalCount / page.pageSize)
  return { totalCount, pageNumber: page.pageNo, pagesAvailable, pageItems }
}
