import type { State } from '../state.ts'
import { MEMBER } from './member-records.ts'

/**
 * When a member was last lost (health time): a lost member may have heard beats that nobody else has heard. A member whose
 * record is removed is lost, and one whose process is another one. This server's own start counts too, since it does not
 * know who was lost before. It is noticed when somebody looks, which is later than the loss, and never earlier.
 */
export class MemberLosses {
  readonly #state: Pick<State, 'records' | 'recordVersion'>
  #processes: ReadonlyMap<string, string>
  #version: number
  #lastMs: number

  constructor(state: Pick<State, 'records' | 'recordVersion'>, nowMs: number) {
    this.#state = state
    this.#processes = this.#read()
    this.#version = state.recordVersion(MEMBER)
    this.#lastMs = nowMs
  }

  /** When a member was last lost, as known at `nowMs`. */
  look(nowMs: number): number {
    const version = this.#state.recordVersion(MEMBER)
    if (version !== this.#version) this.#compare(version, nowMs)
    return this.#lastMs
  }

  /** Counts a loss now: this server was without news, and does not know who was lost. */
  note(nowMs: number): void {
    this.#lastMs = nowMs
  }

  #compare(version: number, nowMs: number): void {
    const before = this.#processes
    this.#processes = this.#read()
    const changes = version - this.#version
    this.#version = version
    const stayed = [...before].every(([id, process]) => this.#processes.get(id) === process)
    // More changes than new members: somebody left and came back, or came and left.
    if (!stayed || changes !== this.#processes.size - before.size) this.note(nowMs)
  }

  #read(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.#state.records(MEMBER), ([id, { process }]) => [id, process]))
  }
}
