import type { State } from '../../engine/state.ts'
import { MEMBER } from '../members/member-records.ts'

/**
 * When a member was last lost (health time): a lost member may have received beats that no other server has. A member
 * is lost if its record is removed, or has another process. This server's own start counts too, since it
 * does not know who was lost before. A failure is noticed at the next look, later than it happened and never earlier.
 */
export class MemberFailures {
  readonly #state: Pick<State, 'recordCount' | 'recordVersion'>
  #members: number
  #version: number
  #lastMs: number

  constructor(state: Pick<State, 'recordCount' | 'recordVersion'>, nowMs: number) {
    this.#state = state
    this.#members = state.recordCount(MEMBER)
    this.#version = state.recordVersion(MEMBER)
    this.#lastMs = nowMs
  }

  /** When a member was last lost, as known at `nowMs`. */
  look(nowMs: number): number {
    const version = this.#state.recordVersion(MEMBER)
    if (version === this.#version) return this.#lastMs
    const changes = version - this.#version
    const members = this.#state.recordCount(MEMBER)
    // More changes than new members: a record was removed or replaced, perhaps between two looks.
    if (changes !== members - this.#members) this.note(nowMs)
    this.#version = version
    this.#members = members
    return this.#lastMs
  }

  /** Counts a failure now: this server was without news, and does not know which members were lost. */
  note(nowMs: number): void {
    this.#lastMs = nowMs
  }
}
