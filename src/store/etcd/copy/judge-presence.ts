import type { Findings } from '../../finding.ts'
import { INSTALLATION } from '../keys/installation-name.ts'
import { STORE_EMPTY } from '../format/store-empty.ts'
import type { KeyPlace, Keys } from '../keys/keys.ts'

/** The name of the remembered value with the secret of the servers. */
const SECRET = 'peer-secret'

/** Judges whether all keys are there that an installation has while servers run on it. */
export class PresenceOfKeys {
  readonly #keys: Keys
  readonly #members = new Set<string>()
  readonly #requests = new Set<string>()
  readonly #remembered = new Set<string>()
  /** How many records there are of these kinds. */
  readonly #records = { user: 0, 'signing-key': 0 }

  constructor(keys: Keys) {
    this.#keys = keys
  }

  add(place: KeyPlace): void {
    if (place.of === 'member') this.#members.add(place.id)
    else if (place.of === 'request') this.#requests.add(place.id)
    else if (place.of === 'remembered') this.#remembered.add(place.name)
    else if (place.of === 'small-record' && (place.kind === 'user' || place.kind === 'signing-key'))
      this.#records[place.kind]++
  }

  /** Call it when all keys have come. */
  judge(findings: Findings): void {
    if (this.#remembered.has(STORE_EMPTY))
      findings.note(this.#keyOf(STORE_EMPTY), {
        problem: 'A server has noticed that its data were missing here.',
        effect: 'It removes the key once it has loaded its data again.',
      })
    // A new copy, and a store that was prepared before the first start, lack some keys.
    if (this.#members.size === 0) return
    if (!this.#remembered.has(INSTALLATION))
      findings.note(this.#keyOf(INSTALLATION), {
        problem: 'The installation has no name.',
        effect: 'The servers write it within seconds, once all of their versions know it.',
      })
    if (!this.#remembered.has(SECRET))
      findings.damage(this.#keyOf(SECRET), {
        problem: 'The secret by which the servers know each other is missing.',
        effect:
          'Running servers write it again within seconds. If they have all stopped, the next start makes another one.',
      })
    for (const id of this.#members)
      if (!this.#requests.has(id))
        findings.damage(`key ${this.#keys.of({ of: 'request', id })}`, {
          problem: `The server ${id} is a member, and the number of its requests is missing.`,
          effect:
            'It writes it again with its next change. Until then an older process in its place could write.',
        })
    if (this.#records.user > 0 && this.#records['signing-key'] === 0)
      findings.note('signing keys', {
        problem: 'There are users, and no key that signs tokens.',
        effect: 'That is so without sign-in. With sign-in, all tokens end, and a start makes another key.',
      })
  }

  #keyOf(name: string): string {
    return `key ${this.#keys.of({ of: 'remembered', name })}`
  }
}
