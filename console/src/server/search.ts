import type { FoundEverywhere } from './answers.ts'
import { request } from './request.ts'

export type { FoundConfig, FoundEverywhere } from './answers.ts'

/** Finds a text in everything that the user may read. */
export const searchEverywhere = (text: string): Promise<FoundEverywhere> =>
  request('GET', 'svc/v1/console/search', { query: { text } })
