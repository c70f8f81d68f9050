import type { VersionedRecords } from '../../records/record-tables.ts'
import { MEMBER } from './member-records.ts'

/** The live processes of servers: this one, and the processes of the members. A single server has no members. */
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
