import type { SignedIn } from '../access/identity.ts'

/**
 * How the caller of an audited operation was signed in. `none`: not at all, or with invalid credentials. `tool`: a
 * command worked on the store of a stopped server.
 */
export type SignedInBy = SignedIn['by'] | 'none' | 'tool'

/**
 * The outcomes of operations. `refused`: an expected 'no' with a code. `failed`: an error that nobody expected.
 * `would-be-refused`: it was done, because authentication only reports.
 */
export const AUDIT_RESULTS = ['done', 'refused', 'failed', 'would-be-refused'] as const

/** One of {@link AUDIT_RESULTS}. */
export type AuditResult = (typeof AUDIT_RESULTS)[number]

/** An action that somebody took, or was refused. It has names only: no contents, no values, no secrets. */
export interface AuditEntry {
  /** The user, or `-`. */
  readonly username: string
  readonly by: SignedInBy
  /** The address of the caller, or `-` for a tool. */
  readonly ip: string
  /** The action, e.g. `publish config`. */
  readonly operation: string
  /** The item, e.g. `public:DEFAULT_GROUP:config/app.yaml`, or several, a line each: see `itemOfNames`. */
  readonly item: string
  readonly result: AuditResult
  /** The code of the refusal, or empty. */
  readonly code: string
  /** Numbers, e.g. how many items an import published; else empty. */
  readonly detail: string
}

/** An entry as it is kept. */
export interface AuditEvent extends AuditEntry {
  /** The stamp of when it was recorded (`Stamps`): ids rise with time, over restarts too. */
  readonly id: number
  /** Epoch ms; of equal ones that are merged into one event, when the first one came. */
  readonly atMs: number
  /** How many equal ones it stands for; else 1. */
  readonly count: number
}

/** The user of an event without a user. */
export const NO_USER = '-'

/** One item is named with at most this many characters. */
export const MOST_ITEM_CHARACTERS = 512

/** Counts how often an operation ran that is not recorded. */
export interface AuditTally {
  count: number
}

/** How an entry is recorded. */
export interface RecordingOptions {
  /**
   * Whether equal `done` entries of a minute are one event with a count, too. True for operations without a permission,
   * such as a sign-in: repeating them must not drive changes out of the audit.
   */
  readonly mayRepeat: boolean
  /** Whether it has changed something, though it was refused: an event of its own, whose names are not lost in another. */
  readonly hasChanged?: boolean
}

/** Records entries. Nobody waits for it, and it never throws. */
export interface AuditTrail {
  /** An operation has settled, or was refused. Equal refusals of a minute are one event. */
  record(entry: AuditEntry, options?: RecordingOptions): void
  /** The tally of an operation, for calls that are only counted. */
  tallyOf(operation: string): AuditTally
}

/** Records nothing. */
export const NO_AUDIT: AuditTrail = { record: () => undefined, tallyOf: () => ({ count: 0 }) }

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
