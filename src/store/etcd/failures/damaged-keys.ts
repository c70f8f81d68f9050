import { UnknownRecordKind } from '../../../core/engine/stored-kinds.ts'
import { MissingChunk } from '../contents/chunks.ts'
import { shownKey } from '@waypost/etcd-client/key-text'
import { isOfValue } from './unreadable.ts'

/** A key that is left out, because no server has written its value, or the key. */
export interface DamagedKey {
  readonly key: string
  readonly problem: string
}

/** After so many equal tries a chunk is missing for good. */
const MOST_TRIES = 3
/** How many keys are reported: the doctor names all. */
const MOST_LOGGED = 100

/** A later version raises the layout before it writes a new kind, and then this one does not start. */
export const FOREIGN_KIND = 'no version that uses this layout writes records of this kind'
const NO_KEY = 'it is no key that a server writes'
/** Its service is not there, or is left out itself. */
export const NO_SERVICE = 'its service is not there'
/** A member, or the elected one, without a lease would never end. */
export const NO_LEASE = 'it has no lease, so no server keeps it'

/** The keys that a server leaves out of its state. Each key is judged by itself, so all servers leave out the same ones. */
export class DamagedKeys {
  readonly #noticed: (damaged: DamagedKey) => void
  readonly #found = new Map<string, string>()
  /** The problem of each key that was reported already. */
  readonly #reported = new Map<string, string>()
  readonly #tries = new Map<string, { readonly text: string; readonly count: number }>()

  /** `noticed` is called once for each key and problem. */
  constructor(noticed: (damaged: DamagedKey) => void) {
    this.#noticed = noticed
  }

  /** The result of `read`; undefined if the value is damaged: then the key is left out. Other errors are thrown. */
  reading<T>(key: string, read: () => T | Promise<T>): T | undefined | Promise<T | undefined> {
    const failed = (error: unknown): undefined => {
      if (!this.#isDamage(key, error)) throw error
      this.leaveOut(key, error instanceof UnknownRecordKind ? FOREIGN_KIND : (error as Error).message)
    }
    try {
      const found = read()
      if (!(found instanceof Promise)) return this.#sound(key, found)
      return found.then((value) => this.#sound(key, value), failed)
    } catch (error) {
      return failed(error)
    }
  }

  leaveOut(key: string, problem: string = NO_KEY): void {
    this.#found.set(key, problem)
    if (this.#reported.get(key) === problem) return
    if (this.#reported.size >= MOST_LOGGED) return
    this.#reported.set(key, problem)
    this.#noticed({ key: shownKey(key), problem })
  }

  /** The key is gone, or has a value that can be read. */
  forget(key: string): void {
    if (this.#found.size > 0) this.#found.delete(key)
    if (this.#reported.size > 0) this.#reported.delete(key)
    if (this.#tries.size > 0) this.#tries.delete(key)
  }

  /** These are all keys with this prefix. Each key is judged again. */
  readAgain(prefix: string, keys: ReadonlySet<string>): void {
    for (const key of this.#found.keys()) if (key.startsWith(prefix) && !keys.has(key)) this.forget(key)
  }

  get size(): number {
    return this.#found.size
  }

  has(key: string): boolean {
    return this.#found.has(key)
  }

  /** The first key with this prefix that is left out. */
  firstOf(prefix: string): string | undefined {
    for (const key of this.#found.keys()) if (key.startsWith(prefix)) return key
    return undefined
  }

  /** How many keys with this prefix are left out. */
  count(prefix: string): number {
    let count = 0
    for (const key of this.#found.keys()) if (key.startsWith(prefix)) count++
    return count
  }

  /** Their keys are as etcd has them: `shownKey` shows a key to people. */
  get all(): DamagedKey[] {
    return Array.from(this.#found, ([key, problem]) => ({ key, problem }))
  }

  #sound<T>(key: string, value: T): T {
    this.forget(key)
    return value
  }

  /** A missing chunk may be of a value that has changed meanwhile. */
  #isDamage(key: string, error: unknown): boolean {
    if (!(error instanceof MissingChunk)) return isOfValue(error) || error instanceof UnknownRecordKind
    const before = this.#tries.get(key)
    const count = before?.text === error.message ? before.count + 1 : 1
    this.#tries.set(key, { text: error.message, count })
    return count >= MOST_TRIES
  }
}
