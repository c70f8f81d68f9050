import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { resealAll } from './resealing.ts'
import { MissingSecretsKey, type Sealing } from './sealing.ts'
import type { SecretsKeyInUse } from './secrets-key-in-use.ts'

/** The dependencies of `SealingCare`. */
export interface SealingCareParts {
  readonly client: Pick<EtcdClient, 'pages' | 'txn'>
  readonly sealing: Sealing
  readonly inUse: Pick<SecretsKeyInUse, 'look' | 'take'>
  readonly monotonicMs: () => number
  readonly log: Record<'info' | 'warn' | 'error', (facts: object, text: string) => void>
  /** Called with `MissingSecretsKey`: this server must stop. */
  readonly failed: (error: unknown) => void
}

/** How often the key in use is looked at. */
const LOOK_MS = 2_000
/** Other servers have looked by then: they write with the key in use, or have lost their lease. */
const SWITCHED_MS = 12_000
/** How often all secrets are looked at, when nothing was left to seal. */
const PASS_MS = 3_600_000

/** Keeps the secrets in etcd sealed with the first own key. The elected server takes it into use and reseals secrets. */
export class SealingCare {
  readonly #parts: SealingCareParts
  #lookAtMs = 0
  #isLooking = false
  /** The key whose use this server leads, and when the next pass over all secrets begins. */
  #led: string | undefined
  #passAtMs = 0
  #isPassing = false
  /** The last logged text: it is not repeated. */
  #logged = ''

  constructor(parts: SealingCareParts) {
    this.#parts = parts
  }

  /** Call it at least once a second. Rejects if etcd cannot be reached; the next call tries again. */
  async look(isElected: boolean): Promise<void> {
    const nowMs = this.#parts.monotonicMs()
    if (!isElected) this.#led = undefined
    if (this.#isLooking || nowMs < this.#lookAtMs) return
    this.#lookAtMs = nowMs + LOOK_MS
    this.#isLooking = true
    try {
      await this.#parts.inUse.look()
      if (isElected) await this.#lead(nowMs)
    } catch (error) {
      if (!(error instanceof MissingSecretsKey)) throw error
      this.#parts.failed(error)
    } finally {
      this.#isLooking = false
    }
  }

  async #lead(nowMs: number): Promise<void> {
    const { sealing, inUse } = this.#parts
    const [first] = sealing.ids
    if (first === undefined) return
    if (sealing.writesWith !== first) {
      const without = await inUse.take(first)
      if (without.length > 0) return this.#sayOnce('warn', { key: first, without }, WAITS)
      this.#sayOnce('info', { key: first }, TAKEN)
    }
    if (this.#led !== first) {
      this.#led = first
      this.#passAtMs = nowMs + SWITCHED_MS
    }
    if (nowMs < this.#passAtMs || this.#isPassing) return
    await this.#pass(nowMs, first)
  }

  async #pass(nowMs: number, key: string): Promise<void> {
    this.#isPassing = true
    this.#passAtMs = nowMs + SWITCHED_MS
    try {
      const { sealed, unreadable } = await resealAll(this.#parts.client, this.#parts.sealing)
      if (unreadable.length > 0) this.#parts.log.error({ key, keys: unreadable.slice(0, 10) }, UNREADABLE)
      if (sealed > 0) return this.#parts.log.info({ key, sealed }, SEALED)
      this.#passAtMs = nowMs + PASS_MS
      this.#sayOnce('info', { key }, WHOLE)
    } finally {
      this.#isPassing = false
    }
  }

  #sayOnce(level: 'info' | 'warn', facts: object, text: string): void {
    const said = `${text} ${JSON.stringify(facts)}`
    if (said !== this.#logged) this.#parts.log[level](facts, text)
    this.#logged = said
  }
}

const WAITS = 'secrets in etcd stay as they are until all servers have this key first in secrets-key-file'
const TAKEN = 'secrets in etcd are sealed with another key from now on'
const SEALED = 'secrets that were in etcd before are sealed with the key in use'
const WHOLE = 'all secrets in etcd are sealed with this key: the others can leave secrets-key-file'
const UNREADABLE = 'sealed values cannot be read, and stay as they are: waypost doctor names them'
