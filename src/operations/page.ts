/** Which entries of a list are asked for; `pageNo` counts from 1. */
export interface PageRequest {
  readonly pageNo: number
  readonly pageSize: number
}

/** The entries of one page, and how many there are in all. */
export interface Page<T> {
  readonly entries: readonly T[]
  readonly totalCount: number
}

/** The entries of a page; empty past the end. */
export function pageOf<T>(all: readonly T[], { pageNo, pageSize }: PageRequest): T[] {
  const first = (pageNo - 1) * pageSize
  return all.slice(first, first + pageSize)
}

/** The most entries of a page of configurations or of history, however many are asked for. */
const MAX_PAGE_SIZE = 500

/** The page that is answered: a larger one than allowed is cut, which clients can tell by the number of pages. */
export function cutPage({ pageNo, pageSize }: PageRequest): PageRequest {
  return { pageNo, pageSize: Math.min(pageSize, MAX_PAGE_SIZE) }
}
