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

/** The options of TLS for the side that answers. `PeerPlaces` ends handshakes that take too long. */
export function answeringTls(secrets: PeerSecrets) {
  return {
    ...ONLY,
    pskCallback: (_socket: unknown, identity: string) =>
      secrets().find(({ id }) => id === identity)?.tlsKey ?? null,
  }
}
