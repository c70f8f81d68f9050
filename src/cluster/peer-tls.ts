import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import type { PeerSecrets } from './peer-secret.ts'

/** The first version of the messages whose servers speak TLS on the peer port. */
const TLS_SINCE = 3

/** The first byte of a handshake of TLS. No request of HTTP begins with it. */
export const TLS_HANDSHAKE = 0x16

/**
 * TLS 1.3 whose two sides know a secret and have no certificates. Each connection has new keys, so the secret does not help
 * to read what was recorded before. This cipher is the one whose hash belongs to such secrets.
 */
const ONLY = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const

/** Whether a member says that it speaks TLS on its peer port. */
export function speaksTls({ versions }: MemberFacts): boolean {
  return versions.messages.to >= TLS_SINCE
}

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

/** The options of TLS for the side that answers. `handshakeMs`: how long a handshake may take. */
export function answeringTls(secrets: PeerSecrets, handshakeMs: number) {
  return {
    ...ONLY,
    pskCallback: (_socket: unknown, identity: string) =>
      secrets().find(({ id }) => id === identity)?.tlsKey ?? null,
    handshakeTimeout: handshakeMs,
  }
}
