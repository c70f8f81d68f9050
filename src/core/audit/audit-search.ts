import type { AuditEvent, AuditResult } from './audit-event.ts'

/** A search for events; undefined fields match all. */
export interface AuditSearch {
  readonly username: string | undefined
  readonly operation: string | undefined
  /** A part of the text of the item. */
  readonly itemPart: string | undefined
  readonly ip: string | undefined
  readonly result: AuditResult | undefined
  /** Not before, epoch ms. */
  readonly fromMs: number | undefined
  /** Not after, epoch ms. */
  readonly toMs: number | undefined
  /** Only events with a lower id. */
  readonly before: number | undefined
}

/**
 * Events that match, newest first. A store looks at a bounded number of events at a time, so there may be
 * fewer than were asked for, or none. There are a few more where events of several servers have the same id.
 * `goOn` is the `before` to continue with, undefined where nothing older is left.
 */
export interface FoundEvents {
  readonly events: readonly AuditEvent[]
  readonly goOn: number | undefined
}

/** How much of the audit stays, and how many events one step removes at most. */
export interface AuditLimit {
  /** Older events go, epoch ms. */
  readonly beforeMs: number
  /** The newest events that stay. */
  readonly keep: number
  /** The newest events with another outcome than `done` that stay: refusals cannot drive out `done` events. */
  readonly keepRefused: number
  readonly most: number
}
