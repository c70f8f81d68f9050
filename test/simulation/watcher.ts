import { knownValue, objectOf, serviceKeyOf } from './known-values.ts'
import { kindOf, type Reference, textOf } from './reference.ts'
import type { SimulatedServer } from './simulated-server.ts'
import { violation } from './violation.ts'

/**
 * A subscriber of a server's feed, as held polls and pushes are: after each change it looks at what the server knows now. That must be
 * what the reference had at the revision of the server. Revisions of a server only rise, so what it sees never goes back.
 */
export class Watcher {
  readonly #server: SimulatedServer
  readonly #reference: Reference
  readonly #seen = new Map<string, string>()
  readonly #lastRefMs = new Map<string, number>()
  #revision = 0

  constructor(server: SimulatedServer, reference: Reference) {
    this.#server = server
    this.#reference = reference
    for (const object of reference.objects) this.#look(object)
    server.subscribe((change) => {
      const object = objectOf(change)
      if (object !== undefined) this.#look(object)
    })
  }

  /** At the end, when the server knows everything: nothing has changed that the subscriber was not told of. */
  checkLast(): void {
    const { name } = this.#server
    for (const object of this.#reference.objects) {
      const last = textOf(this.#reference.value(object))
      const seen = this.#seen.get(object) ?? textOf(this.#reference.at(object, 0))
      if (seen !== last) violation(`a watcher of ${name} ends with ${object} as ${seen}, but it is ${last}`)
    }
  }

  #look(object: string): void {
    const { name, revision, state } = this.#server
    if (revision < this.#revision) violation(`${name} went back to revision ${revision}`)
    this.#revision = revision
    const seen = textOf(knownValue(state, object))
    const right = textOf(this.#reference.at(object, revision))
    if (seen !== right)
      violation(`at revision ${revision}, ${name} knows ${object} as ${seen}, but it was ${right}`)
    this.#seen.set(object, seen)
    if (kindOf(object) === 'service') this.#lookAtTime(object)
  }

  /** Clients compare the times of lists: one that goes back is taken for an old list. */
  #lookAtTime(object: string): void {
    const { name, state } = this.#server
    const before = this.#lastRefMs.get(object) ?? 0
    const { services } = state
    const key = serviceKeyOf(object.slice('service '.length))
    const lastRefMs = services.get(key)?.lastRefMs ?? services.floorMs
    if (lastRefMs < before)
      violation(`${name} turned lastRefTime of ${object} back from ${before} to ${lastRefMs}`)
    this.#lastRefMs.set(object, lastRefMs)
  }
}
