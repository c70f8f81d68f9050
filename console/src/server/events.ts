export type { LiveEvent } from './answers.ts'

/** Where the stream of events is, for the page. */
export const EVENTS_ADDRESS = new URL('../svc/v1/console/events', location.href).href
