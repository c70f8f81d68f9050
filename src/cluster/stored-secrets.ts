import { createHash } from 'node:crypto'
import { fieldsOf, textIn } from '../core/records/shape.ts'
import { newSecretText, type PeerSecret, peerSecretOf } from './peer-secret.ts'

/** The name of the remembered value that has the secrets. */
export const STORED_SECRETS = 'peer-secret'

/**
 * The secrets in the store. A rotation has three steps: a next secret exists; it is in use and the previous one still
 * counts; it is alone. All servers must know a step before the next step.
 */
export interface StoredSecrets {
  /** Names the installation in the ids of events. It is made of the first secret, and stays. */
  readonly origin: string
  readonly inUse: string
  /** Will be in use: it is accepted already. */
  readonly next?: string
  /** Was in use: it is still accepted. */
  readonly previous?: string
}

/** The first secret of an installation. */
export function firstSecrets(): StoredSecrets {
  const inUse = newSecretText()
  return { origin: originOf(inUse), inUse }
}

/** Reads the stored text. Throws an Error for anything else. */
export function readSecrets(text: string): StoredSecrets {
  const fields = fieldsOf(JSON.parse(text))
  const optional = (name: 'next' | 'previous') =>
    fields[name] === undefined ? {} : { [name]: textIn(fields, name) }
  return {
    origin: textIn(fields, 'origin'),
    inUse: textIn(fields, 'inUse'),
    ...optional('next'),
    ...optional('previous'),
  }
}

/** The text of the secrets. */
export function secretsText(secrets: StoredSecrets): string {
  return JSON.stringify(secrets)
}

/** The valid secrets: first the secret to ask with, then the other accepted secret. */
export function countingSecrets({ inUse, next, previous }: StoredSecrets): [PeerSecret, ...PeerSecret[]] {
  const other = next ?? previous
  return other === undefined ? [peerSecretOf(inUse)] : [peerSecretOf(inUse), peerSecretOf(other)]
}

/** Begins a rotation. Undefined: another rotation is underway. */
export function withNext(secrets: StoredSecrets, next: string): StoredSecrets | undefined {
  return isRotating(secrets) ? undefined : { ...secrets, next }
}

/** The next step of a rotation. Undefined: no rotation is underway. */
export function advanced({ origin, inUse, next, previous }: StoredSecrets): StoredSecrets | undefined {
  if (next !== undefined) return { origin, inUse: next, previous: inUse }
  return previous === undefined ? undefined : { origin, inUse }
}

/** Whether a rotation is underway. */
export function isRotating({ next, previous }: StoredSecrets): boolean {
  return next !== undefined || previous !== undefined
}

function originOf(secret: string): string {
  return createHash('sha256').update(`events ${secret}`).digest('hex').slice(0, 12)
}
