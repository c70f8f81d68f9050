import { createHash, hkdfSync, randomBytes } from 'node:crypto'

/** The secret of an installation's servers, which proves that a server belongs to it. */
export interface PeerSecret {
  /** Names it on the wire, and tells nothing of it. */
  readonly id: string
  /** The key of signatures. */
  readonly text: string
  /** The key of TLS, derived for TLS alone: 32 bytes. */
  readonly tlsKey: Buffer
}

/** The valid secrets. A server asks with the first secret, and accepts all. */
export type PeerSecrets = () => readonly [PeerSecret, ...PeerSecret[]]

const SECRET_BYTES = 32
const TLS_KEY_BYTES = 32
const ID_LENGTH = 16

/** The text of a new secret. */
export function newSecretText(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** The secret of a random text. */
export function peerSecretOf(text: string): PeerSecret {
  const id = createHash('sha256').update(`waypost peer secret ${text}`).digest('hex').slice(0, ID_LENGTH)
  const tlsKey = Buffer.from(hkdfSync('sha256', text, '', 'waypost peer channel tls', TLS_KEY_BYTES))
  return { id, text, tlsKey }
}
