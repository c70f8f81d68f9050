import type { Change } from '../decisions/changes.ts'
import type { Command } from '../decisions/decision.ts'

/**
 * Executes commands: decide, commit, apply, publish, answer. {@link SoleEngine} works on a store that no other server
 * uses, {@link SharedEngine} on one that several servers share.
 */
export interface Engine {
  /**
   * The most changes that a command should make. Work on more things is split into several commands: each fits into one
   * transaction of the store, and other commands run between them.
   */
  readonly mostAtOnce: number
  /** `behind`: records applied but not yet in the store. `waiting`: commands that wait for the next batch. */
  readonly backlog: { readonly behind: number; readonly waiting: number }
  /**
   * Executes a command and returns its outcome: at once, or as a promise if something must reach the store first.
   * Throws or rejects with Refusal.
   */
  execute<T>(command: Command<T>): T | Promise<T>
  /** Makes changes that no caller waits for: of silence, probes and cleaning. */
  applyBehind(changes: readonly Change[]): void
  /** Call this about ten times a second. */
  tick(): void
  /** Accepts no more commands. Resolves when all accepted ones are answered. */
  close(): Promise<void>
}
