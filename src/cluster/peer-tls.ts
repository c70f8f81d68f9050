import { constants } from 'node:crypto'
import type { PeerSecrets } from './peer-secret.ts'

/**
 * TLS 1.3 with a shared secret and without certificates. Each connection has new keys, so the secret does not decrypt
 * earlier recordings. This cipher has the hash of such secrets.
 */
const ONLY = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const

/** The options of TLS for the side that asks. */
export function askingTls(secrets: PeerSecrets) {
  return {
    ...ONLY,
    pskCallback: () => {
      const [{ id: identity, tlsKey: psk }] = secrets()
      return { psk, identity }
    },
    // No member has a certificate: a server that shows one does not know the secret.
    checkServerIdentity: () => new Error('The other side has shown a certificate and not the secret.'),
    // A session that is resumed would keep a secret that has ended.
    maxCachedSessions: 0,
  }
}

/** Called with a TLS connection and the id of the secret that it has shown. */
export type Shown = (connection: unknown, secretId: string) => void

/** The options of TLS for the side that answers. `PeerPlaces` ends handshakes that take too long. */
export function answeringTls(secrets: PeerSecrets, shown: Shown = () => {}) {
  return {
    ...ONLY,
    // A ticket would open connections with a secret that has ended.
    secureOptions: constants.SSL_OP_NO_TICKET,
    pskCallback: (connection: unknown, identity: string) => {
      const secret = secrets().find(({ id }) => id === identity)
      if (secret !== undefined) shown(connection, identity)
      return secret?.tlsKey ?? null
    },
  }
}
