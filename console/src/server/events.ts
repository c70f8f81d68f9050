import { addressFor, forUser } from './request.ts'

export type { LiveEvent } from './answers.ts'

/** Where the stream of events of the user of the page is. */
export const eventsAddress = (): string =>
  new URL(addressFor('svc/v1/console/events', forUser()), location.href).href
