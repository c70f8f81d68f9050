import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { STORED_KINDS } from '../../../core/engine/stored-kinds.ts'
import { PEER_SECRETS } from '../../../core/engine/remembered-values.ts'
import type { KeyValue } from '@waypost/etcd-client/messages'
import type { ValueForm } from '@waypost/etcd-client/value-form'
import { NotExaminable } from '../../local-file.ts'
import { BrokenSeal } from '../failures/broken-seal.ts'
import { readRecord } from '../keys/read-values.ts'
import type { Keys } from '../keys/keys.ts'
import type { SecretsKey } from './secrets-keys.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The beginning of sealed values: `sealed:<id of the key>:<base64 of nonce, sealed value and tag>`. */
const MARK = Buffer.from('sealed:')
/** The remembered values that are secrets: the secret of the peer channel. */
const SECRET_VALUES = [PEER_SECRETS.name]

/** This process does not have the key of a sealed value. */
export class MissingSecretsKey extends NotExaminable {
  override readonly name = 'MissingSecretsKey'
}

/**
 * Encrypts the secrets among the values of etcd with AES-256-GCM. The key of etcd is authenticated with each value, so a
 * moved value is not read. Sealed values are read with any of the keys, other values as they are.
 */
export class Sealing implements ValueForm {
  readonly #places: Keys
  readonly #keys: ReadonlyMap<string, Buffer>
  readonly #prefixes: readonly string[]
  readonly #values: ReadonlySet<string>
  #writesWith: string | undefined

  constructor(keys: Keys, own: readonly SecretsKey[]) {
    this.#places = keys
    this.#keys = new Map(own.map(({ id, bytes }) => [id, bytes]))
    this.#prefixes = STORED_KINDS.filter(({ isSecret }) => isSecret).map(({ name: kind }) =>
      keys.of({ of: 'small-record', kind, id: '' }),
    )
    this.#values = new Set(SECRET_VALUES.map((name) => keys.of({ of: 'remembered', name })))
  }

  /** The ids of the own keys, the first key first. */
  get ids(): readonly string[] {
    return [...this.#keys.keys()]
  }

  /** The id of the key that new values are sealed with; undefined: they are kept as they are. */
  get writesWith(): string | undefined {
    return this.#writesWith
  }

  /** Seals new values with this key from now on. Throws {@link MissingSecretsKey} if it is no own key. */
  writeWith(id: string | undefined): void {
    if (id !== undefined && !this.#keys.has(id)) throw this.#missing('What is secret in etcd', id)
    this.#writesWith = id
  }

  /** Whether this is a secret that is not sealed, though a key is in use. */
  isInClear({ key, sealedBy }: KeyValue): boolean {
    return this.#writesWith !== undefined && sealedBy === undefined && this.#isSecret(key)
  }

  /** Whether a server has written this secret: other keys may lie in the same range. True if it cannot be unsealed. */
  isOurs(kv: KeyValue): boolean {
    if (this.#values.has(kv.key)) return true
    const place = this.#places.read(kv.key)
    if (place?.of !== 'small-record') return false
    if (kv.sealedBy !== undefined) return true
    try {
      return readRecord(place.kind, place.id, kv.value) !== undefined
    } catch {
      return false
    }
  }

  /** The places of secrets. */
  get secretPlaces(): { readonly prefixes: readonly string[]; readonly keys: readonly string[] } {
    return { prefixes: this.#prefixes, keys: [...this.#values] }
  }

  readonly kept = (key: string, value: Uint8Array): Uint8Array => {
    const id = this.#writesWith
    return id === undefined || !this.#isSecret(key) ? value : this.#sealed(key, value, id)
  }

  readonly read = (kv: KeyValue): KeyValue => {
    if (kv.value[0] !== MARK[0] || !this.#isSecret(kv.key)) return kv
    const value = Buffer.from(kv.value.buffer, kv.value.byteOffset, kv.value.byteLength)
    if (!value.subarray(0, MARK.length).equals(MARK)) return kv
    const end = value.indexOf(':', MARK.length)
    const sealedBy = value.subarray(MARK.length, end).toString()
    try {
      const sealed = Buffer.from(value.subarray(end + 1).toString(), 'base64')
      return { ...kv, value: this.#opened(kv.key, sealed, sealedBy), sealedBy }
    } catch (error) {
      return unreadable(kv, sealedBy, error)
    }
  }

  #isSecret(key: string): boolean {
    return this.#values.has(key) || this.#prefixes.some((prefix) => key.startsWith(prefix))
  }

  #sealed(key: string, value: Uint8Array, id: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#keys.get(id)!, nonce).setAAD(Buffer.from(key))
    const sealed = Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
    return Buffer.from(`${MARK.toString()}${id}:${sealed.toString('base64')}`)
  }

  #opened(key: string, sealed: Buffer, id: string): Buffer {
    const bytes = this.#keys.get(id)
    if (bytes === undefined) throw this.#missing(`The key ${key} of etcd`, id)
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const tag = sealed.subarray(-TAG_BYTES)
    try {
      const decipher = createDecipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(key)).setAuthTag(tag)
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    } catch (cause) {
      throw new BrokenSeal(
        `The value of the key ${key} of etcd is not as it was sealed with ${id}: somebody has changed or moved it. ` +
          'Restore it from a backup, or remove the key.',
        { cause },
      )
    }
  }

  #missing(what: string, id: string): MissingSecretsKey {
    const name = id.split('.')[0]
    const isSameName = this.ids.some((each) => each.split('.')[0] === name)
    const own = this.ids.length === 0 ? 'There is no key here' : `The keys here are ${this.ids.join(', ')}`
    const hint = isSameName ? `; the one of the name ${name} is another key` : ''
    return new MissingSecretsKey(
      `${what} is sealed with the key ${id}. ${own}${hint}. Add this key to the file of secrets-key-file, as the other servers have it, ` +
        'or to WAYPOST_SECRETS_KEYS.',
    )
  }
}

function unreadable(kv: KeyValue, sealedBy: string, error: unknown): KeyValue {
  return {
    ...kv,
    sealedBy,
    get value(): Uint8Array {
      throw error
    },
  }
}
