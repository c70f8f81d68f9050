import { type ServiceKey, serviceKeyText } from '../../naming/state/service.ts'
import type { RecordView } from '../../records/record-tables.ts'
import type { State } from '../../engine/state.ts'
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

/**
 * The member that judges the silence of a service's instances, by rendezvous hashing. Every server that knows
 * the same members names the same one. When a member comes or goes, only the services that it gains or loses
 * change their judge. Undefined where there are no members.
 */
export function judgeOf(serviceKey: ServiceKey, members: readonly string[]): string | undefined {
  const service = hash(serviceKeyText(serviceKey), 0)
  let judge: string | undefined
  let highest = -1
  for (const member of members) {
    const weight = hash(member, service)
    if (weight > highest || (weight === highest && member < (judge ?? ''))) {
      highest = weight
      judge = member
    }
  }
  return judge
}

/** 32 bits of FNV-1a, with the bits mixed afterwards: without that, names that differ at their end have close hashes. */
function hash(text: string, seed: number): number {
  let value = 0x811c9dc5 ^ seed
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
