import type { VersionedRecords } from '../../records/record-tables.ts'
import { MEMBER } from './member-records.ts'

/** Which processes of servers are alive: this one, and those of the members. A server that is alone has no members. */
export class LiveProcesses {
  readonly #state: VersionedRecords
  /** This process. */
  readonly self: string
  #version = -1
  #others: ReadonlySet<string> = new Set()

  constructor(state: VersionedRecords, self: string) {
    this.#state = state
    this.self = self
  }

  readonly has = (process: string): boolean => {
    const version = this.#state.recordVersion(MEMBER)
    if (version !== this.#version) {
      this.#version = version
      this.#others = new Set(Array.from(this.#state.records(MEMBER), ([, member]) => member.process))
    }
    return process === this.self || this.#others.has(process)
  }
}
