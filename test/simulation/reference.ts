import type { Change } from '../../src/core/decisions/changes.ts'
import type { Revision } from '../../src/core/engine/ports.ts'

/** The answer to a client: the outcome as text, or the code of a refusal. */
export type Answer = string

/** The effect of an operation on the value of its object, and its answer. The same value again: it changes nothing. */
export interface Step<Value> {
  readonly next: Value
  readonly answer: Answer
}

/** The behaviour of a correct installation, for one object. `changes` gives the ids that the server chose. */
export type Rule<Value = unknown> = (value: Value, changes: readonly Change[]) => Step<Value>

/** A value that an object had. */
interface Version {
  readonly value: unknown
  readonly revision: Revision
}

/**
 * The knowledge of a correct installation of one server: the operations are carried out one after the other, in the order in
 * which the store accepted them. Objects (an item, a service with its instances, all users) are values of plain data.
 */
export class Reference {
  readonly #versions = new Map<string, Version[]>()

  /** How many values an object has had. */
  count(object: string): number {
    return this.#of(object).length
  }

  /** The value now. */
  value(object: string): unknown {
    return this.#of(object).at(-1)!.value
  }

  /** The value that a server knows which has applied everything up to this revision. */
  at(object: string, revision: Revision): unknown {
    return this.#of(object).findLast((version) => version.revision <= revision)!.value
  }

  /** The values that an object had since its value number `count`, with this value. */
  since(object: string, count: number): unknown[] {
    return this.#of(object)
      .slice(count - 1)
      .map(({ value }) => value)
  }

  /** The object has another value from this revision on. */
  set(object: string, value: unknown, revision: Revision): void {
    this.#of(object).push({ value, revision })
  }

  get objects(): string[] {
    return [...this.#versions.keys()]
  }

  #of(object: string): Version[] {
    const known = this.#versions.get(object)
    if (known !== undefined) return known
    const versions = [{ value: EMPTY[kindOf(object)], revision: 0 }]
    this.#versions.set(object, versions)
    return versions
  }
}

/** An item: its content, and the id of the history record that made this version. */
export type ItemValue = { readonly content: string; readonly historyId: number } | null

/** A gray version of an item that has no formal one: its text, and the addresses that it is for. */
export type GrayValue = { readonly text: string; readonly addresses: string } | null

/** An instance, as far as operations change it. */
export interface InstanceValue {
  readonly weight: number
  readonly healthy: boolean
}

/** A service with its instances by address; null: it is not there. */
export type ServiceValue = {
  readonly madeBy: 'operator' | 'registration'
  readonly instances: Readonly<Record<string, InstanceValue>>
} | null

/** The users, each with the stamp of its password, the administrators, and the sessions with their users. */
export interface AccessValue {
  readonly users: Readonly<Record<string, number>>
  readonly administrators: readonly string[]
  readonly sessions: Readonly<Record<string, string>>
}

/** The kinds of objects; an object is named `<kind> <name>`. */
type ObjectKind = 'item' | 'gray' | 'service' | 'access'

const EMPTY: Readonly<Record<ObjectKind, unknown>> = {
  item: null,
  gray: null,
  service: null,
  access: { users: {}, administrators: [], sessions: {} } satisfies AccessValue,
}

/** The kind of an object. */
export function kindOf(object: string): ObjectKind {
  return object.split(' ')[0] as ObjectKind
}

/** A value as text: the same for equal values. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
