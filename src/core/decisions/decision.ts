import type { Change } from './changes.ts'
import type { Now } from './stamps.ts'
import type { View } from './view.ts'

/**
 * When the caller is answered. `synced`: once the changes are on disk. `behind`: at once, and they are written within a
 * second (ephemeral instances). `synced if stored`: `synced` if the store may have an instance that is removed, else
 * `behind`. `local`: at once, and they are never written.
 */
export type Durability = 'synced' | 'synced if stored' | 'behind' | 'local'

/** The decision of a command: its changes, and the answer to its caller. */
export interface Decision<T> {
  readonly changes: readonly Change[]
  readonly durability: Durability
  readonly outcome: T
}

/**
 * A request to change something. `subject` names the one thing (item, service, list) that the decision reads
 * and changes, so that the engine knows which commands must wait for which. `decide` is pure, may be called
 * again, and throws Refusal for a 'no'.
 */
export interface Command<T> {
  readonly subject: string
  /** Whether it surely makes changes that are synced: then it is decided with its batch only, and not twice. */
  surelySyncs?(view: View): boolean
  decide(view: View, now: Now): Decision<T>
  /** How many stamps, from `now.stamp` on, the decision may use. Absent: one. Each history record needs its own. */
  stamps?(view: View): number
  /**
   * About how many bytes of contents and metadata it adds to the store; it is refused without room (`StoreRoom`).
   * Absent for commands that need no room: registrations, sessions, deletions.
   */
  readonly growsBy?: number | undefined
  /** It takes over names of another server as they are (`withSeenNames`). */
  readonly takesNames?: boolean
}

/** A command of the usual kind: it makes few changes, and needs no room in the store. */
export function commandOn<T>(subject: string, decide: Command<T>['decide']): Command<T> {
  return { subject, decide }
}

/** A command that stores about so many bytes of contents and metadata: it is refused without room for them. */
export function storing<T>(
  subject: string,
  growsBy: number | undefined,
  decide: Command<T>['decide'],
): Command<T> {
  return { subject, growsBy, decide }
}

/** A decision that changes nothing. */
export function unchanged<T>(outcome: T): Decision<T> {
  return { changes: [], durability: 'local', outcome }
}

/** A decision whose changes must be on disk before it is acknowledged. */
export function synced<T>(changes: readonly Change[], outcome: T): Decision<T> {
  return { changes, durability: 'synced', outcome }
}

/** The time of a decision. Its further stamps are given to no other decision. */
export function timeOf(command: Pick<Command<unknown>, 'stamps'>, view: View, clock: () => Now): Now {
  const now = clock()
  for (let left = command.stamps?.(view) ?? 1; left > 1; left--) clock()
  return now
}
