import { type PeerSecret, type PeerSecrets, newSecretText, peerSecretOf } from './peer-secret.ts'
import { createHash } from 'node:crypto'
import { PEER_SECRETS, type StoredSecrets } from '../core/engine/remembered-values.ts'

/** A remembered value, and the revision that wrote it. */
export interface SeenValue {
  readonly value: string
  readonly revision: number
}

/** The store as the secrets need it. */
export interface SecretsStore {
  /** Rejects if the store cannot be reached. */
  seen(name: string): Promise<SeenValue | undefined>
  /** Replaces a value as it was seen. False: it has changed since. */
  replace(name: string, seen: SeenValue, value: string): Promise<boolean>
}

/** The dependencies of `SharedSecrets`. */
export interface SharedSecretsParts {
  readonly store: SecretsStore & {
    /** The remembered value, or else the result of `make`. */
    agree(name: string, make: () => string): Promise<string>
  }
  readonly monotonicMs: () => number
  readonly log: { info(facts: object, text: string): void; error(facts: object, text: string): void }
}

/** How often the store is asked. A server that cannot ask for as long as its lease lasts is no member. */
const LOOK_MS = 2_000
/** How long each step of a rotation takes: all members have looked by then. Their leases last 10 s. */
export const STEP_MS = 20_000

/** The secrets of the peer channel, as this server has seen them last. The elected server leads a rotation to its end. */
export class SharedSecrets {
  readonly #parts: SharedSecretsParts
  #stored: StoredSecrets
  #counting: readonly [PeerSecret, ...PeerSecret[]]
  #seen: SeenValue | undefined
  /** Since when this server is the elected one and has seen this value. */
  #ledSinceMs: number | undefined
  #lookAtMs = 0
  #isLooking = false

  /** `text`: the stored secrets. Throws an Error for any other text. */
  constructor(parts: SharedSecretsParts, text: string) {
    this.#parts = parts
    this.#stored = PEER_SECRETS.read(text)
    this.#counting = countingSecrets(this.#stored)
  }

  /** Names the installation in the ids of events, as long as it exists. */
  get origin(): string {
    return this.#stored.origin
  }

  readonly current: PeerSecrets = () => this.#counting

  /**
   * Call it at least once a second. Rejects if the store cannot be reached, and with a ShapeError if no server has written
   * its value: then the secrets stay as they were. The next call tries again.
   */
  async look(isElected: boolean): Promise<void> {
    const nowMs = this.#parts.monotonicMs()
    if (!isElected) this.#ledSinceMs = undefined
    if (this.#isLooking || nowMs < this.#lookAtMs) return
    this.#lookAtMs = nowMs + LOOK_MS
    this.#isLooking = true
    try {
      const seen = await this.#parts.store.seen(PEER_SECRETS.name)
      if (seen === undefined) return await this.#writeAgain()
      if (seen.revision !== this.#seen?.revision) this.#use(seen)
      if (isElected) await this.#lead(seen)
    } finally {
      this.#isLooking = false
    }
  }

  #use(seen: SeenValue): void {
    const before = this.#counting.map(({ id }) => id).join()
    this.#stored = PEER_SECRETS.read(seen.value)
    this.#seen = seen
    this.#ledSinceMs = undefined
    this.#counting = countingSecrets(this.#stored)
    const ids = this.#counting.map(({ id }) => id)
    if (ids.join() === before) return
    const [inUse, accepted] = ids
    this.#parts.log.info({ inUse, accepted }, 'the secret of the peer channel rotates')
  }

  /** The servers know each other by the secrets that they have seen: a server that starts would make another secret. */
  async #writeAgain(): Promise<void> {
    const { store, log } = this.#parts
    await store.agree(PEER_SECRETS.name, () => secretsText(this.#stored))
    log.error(
      { name: PEER_SECRETS.name },
      'the secret of the peer channel was missing in etcd, and is written again',
    )
  }

  async #lead(seen: SeenValue): Promise<void> {
    if (!isRotating(this.#stored)) return
    const nowMs = this.#parts.monotonicMs()
    this.#ledSinceMs ??= nowMs
    if (nowMs - this.#ledSinceMs < STEP_MS) return
    const next = advanced(this.#stored)
    // If another elected server was faster, the next look sees that.
    if (next !== undefined) await this.#parts.store.replace(PEER_SECRETS.name, seen, secretsText(next))
    this.#lookAtMs = 0
  }
}

/** The first secret of an installation. */
export function firstSecrets(): StoredSecrets {
  const inUse = newSecretText()
  return { origin: originOf(inUse), inUse }
}

/** The text of the secrets. */
export function secretsText(secrets: StoredSecrets): string {
  return JSON.stringify(secrets)
}

/** The valid secrets: first the secret to ask with, then the other accepted secret. */
function countingSecrets({ inUse, next, previous }: StoredSecrets): [PeerSecret, ...PeerSecret[]] {
  const other = next ?? previous
  return other === undefined ? [peerSecretOf(inUse)] : [peerSecretOf(inUse), peerSecretOf(other)]
}

/** Begins a rotation. Undefined: another rotation is underway. */
function withNext(secrets: StoredSecrets, next: string): StoredSecrets | undefined {
  return isRotating(secrets) ? undefined : { ...secrets, next }
}

/** The next step of a rotation. Undefined: no rotation is underway. */
function advanced({ origin, inUse, next, previous }: StoredSecrets): StoredSecrets | undefined {
  if (next !== undefined) return { origin, inUse: next, previous: inUse }
  return previous === undefined ? undefined : { origin, inUse }
}

/** Whether a rotation is underway. */
function isRotating({ next, previous }: StoredSecrets): boolean {
  return next !== undefined || previous !== undefined
}

function originOf(secret: string): string {
  return createHash('sha256').update(`events ${secret}`).digest('hex').slice(0, 12)
}

/** How a rotation begins. `underway`: another one has begun before; `none`: no server has made a secret yet. */
type Beginning = 'begun' | 'underway' | 'none'

const MOST_TRIES = 3

/** Gives the servers the next secret. They take it into use by themselves. */
export async function beginRotation(store: SecretsStore): Promise<Beginning> {
  for (let tries = 1; ; tries++) {
    const seen = await store.seen(PEER_SECRETS.name)
    if (seen === undefined) return 'none'
    const next = withNext(PEER_SECRETS.read(seen.value), newSecretText())
    if (next === undefined) return 'underway'
    if (await store.replace(PEER_SECRETS.name, seen, secretsText(next))) return 'begun'
    if (tries === MOST_TRIES) throw new Error('The secret is changed by others again and again.')
  }
}
