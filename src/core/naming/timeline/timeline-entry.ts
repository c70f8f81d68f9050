import { firstStampOf } from '../../decisions/stamps.ts'
import type { InstanceAddress } from '../state/instance.ts'

/**
 * The events of an instance. `late-beat`: a beat came after it was deregistered, and brought nothing back. `lifted`: what
 * operators had set counts no longer.
 */
export const TIMELINE_KINDS = [
  'registered',
  'removed',
  'healthy',
  'unhealthy',
  'enabled',
  'disabled',
  'weight',
  'metadata',
  'late-beat',
  'lifted',
] as const

/** The causes of events. `silence`: no beats came. `operator`: somebody asked for it. `claim`: its publisher left, and another one waited. `memory`: it is back as silence removed it. */
export const TIMELINE_CAUSES = [
  'registration',
  'deregistration',
  'beat',
  'silence',
  'probe',
  'operator',
  'connection',
  'claim',
  'memory',
] as const

/** One of {@link TIMELINE_KINDS}. */
export type TimelineKind = (typeof TIMELINE_KINDS)[number]
/** One of {@link TIMELINE_CAUSES}. */
export type TimelineCause = (typeof TIMELINE_CAUSES)[number]

/** The author of a change; `user` null: nobody was signed in. */
export interface Actor {
  readonly user: string | null
  readonly ip: string
}

/** Something that happened to an instance. */
export interface TimelineEntry {
  /** The stamp of the decision, equal on all servers; 0: it has none. See {@link orderOf}. */
  readonly stamp: number
  /** Epoch ms of the decision, never later than the clock of the server that noted it. */
  readonly atMs: number
  readonly kind: TimelineKind
  readonly address: InstanceAddress
  readonly cause: TimelineCause
  /** Known to the server that was asked. */
  readonly actor: Actor | undefined
  /** The result of a probe, or the weights; else empty. */
  readonly text: string
}

/** The order of entries: by their stamps, as the changes were decided. */
export function orderOf({ stamp, atMs }: Pick<TimelineEntry, 'stamp' | 'atMs'>): number {
  return stamp === 0 ? firstStampOf(atMs) : stamp
}

/** The part of an entry by which it is sorted among the entries of other servers. */
type Noted = Pick<TimelineEntry, 'stamp' | 'atMs' | 'cause'> & Partial<Pick<TimelineEntry, 'actor' | 'text'>>

/** Sorts entries of several servers: the newest first, and the most detailed first of the same event. */
export function newestFirst(a: Noted, b: Noted): number {
  return orderOf(b) - orderOf(a) || detailOf(b) - detailOf(a)
}

/** How detailed an entry is. Only the server of a connection knows whether its client asked to leave. */
function detailOf({ actor, text = '', cause }: Noted): number {
  return (actor === undefined ? 0 : 2) + (text === '' ? 0 : 1) + (cause === 'connection' ? 0 : 1)
}
