import { place } from './location.ts'
import { keep, readKept } from './kept.ts'

const USUAL = 50
const MOST = 500

/** How many rows a page of a long list has: the address says it, else it is what was chosen last. */
export function pageSize(): number {
  const size = Number(place.value.params['size'] ?? readKept('page-size'))
  return Number.isInteger(size) && size > 0 ? Math.min(size, MOST) : USUAL
}

/** Keeps a choice for the next visit. */
export const keepPageSize = (size: number): void => keep('page-size', String(size))
