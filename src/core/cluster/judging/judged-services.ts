import type { ServiceKey } from '../../naming/state/service.ts'
import type { RecordView } from '../../records/record-tables.ts'
import type { State } from '../../engine/state.ts'
import { judgeOf } from './judge-of.ts'
import { MEMBER, memberIds } from '../members/member-records.ts'

type MemberTable = RecordView & Pick<State, 'recordVersion'>

/** The services that this server judges, as the members are now. */
export class JudgedServices {
  readonly #state: MemberTable
  readonly #self: string
  #version = -1
  #members: readonly string[] = []
  /** The answers since the members changed last. */
  #known = new WeakMap<ServiceKey, boolean>()

  /** `self`: the member id of this server. */
  constructor(state: MemberTable, self: string) {
    this.#state = state
    this.#self = self
  }

  /** Whether this server judges a service. Use the key of the service itself: the answer is kept with it. */
  readonly judges = (key: ServiceKey): boolean => {
    this.#look()
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const judges = judgeOf(key, this.#members) === this.#self
    this.#known.set(key, judges)
    return judges
  }

  #look(): void {
    const version = this.#state.recordVersion(MEMBER)
    if (version === this.#version) return
    this.#version = version
    this.#members = memberIds(this.#state)
    this.#known = new WeakMap()
  }
}
