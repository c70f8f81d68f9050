import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { contained, guarded, nothing } from '../../core/unexpected.ts'

/** A certificate with its key, as PEM. */
export interface KeyPair {
  /** The certificate of the server, and the ones between it and its authority. */
  readonly cert: string
  readonly key: string
  /** The authorities of client certificates; undefined: clients are not asked for certificates. */
  readonly clientCa: string | undefined
}

/** The longest time that any client may take for the handshake. */
const HANDSHAKE_MS = 10_000

/** The options of a secure layer. */
export interface SecureLayerOptions {
  /** How long a client may take for a request: no longer for the handshake. */
  readonly requestTimeoutMs: number
  /** The handshake is done. `secure` gives and takes plain bytes; `socket` is the one that was passed to `begin`. */
  readonly onSecure: (secure: TLSSocket, socket: Socket) => void
  /** The protocols inside, as TLS names them: `http/1.1`, `h2`. */
  readonly protocols: readonly string[]
  /** There was no handshake: another protocol, an old version of TLS, or a client that is too slow. */
  readonly onFailed: () => void
  /** Ends a connection whose client speaks HTTP without TLS. Without it, such a connection is closed. */
  readonly endPlainHttp?: (socket: Socket) => void
}

/**
 * TLS, 1.2 or newer, on connections that were accepted before. A client may show a certificate, which
 * is ignored unless one of our authorities has signed it.
 */
export class SecureLayer {
  readonly #server: Server
  readonly #onFailed: () => void
  readonly #endPlainHttp: SecureLayerOptions['endPlainHttp']
  #clientCa: string | undefined
  /** The connections in their handshake, by their addresses and ports: Node does not tell which one a TLSSocket decrypts. */
  readonly #begun = new Map<string, Socket>()

  /** Throws an Error for a pair that cannot be used. */
  constructor(pair: KeyPair, options: SecureLayerOptions) {
    const { requestTimeoutMs, protocols, onSecure, onFailed, endPlainHttp } = options
    this.#onFailed = onFailed
    this.#endPlainHttp = endPlainHttp
    this.#clientCa = pair.clientCa
    this.#server = createServer({
      ...contextOf(pair),
      requestCert: pair.clientCa !== undefined,
      rejectUnauthorized: false,
      handshakeTimeout: Math.min(HANDSHAKE_MS, requestTimeoutMs),
      ALPNProtocols: [...protocols],
    })
    const secured = (secure: TLSSocket): void => {
      const socket = this.#begun.get(placeOf(secure))
      if (socket === undefined) return void secure.destroy()
      this.#begun.delete(placeOf(secure))
      onSecure(secure, socket)
    }
    this.#server.on('secureConnection', (secure) =>
      contained(
        'connection',
        () => secure.destroy(),
        () => secured(secure),
      ),
    )
    this.#server.on('tlsClientError', (error, socket) =>
      contained(
        'connection',
        () => socket.destroy(),
        () => this.#failed(error, socket),
      ),
    )
  }

  /** Begins the handshake on an open connection. */
  begin(socket: Socket): void {
    const place = placeOf(socket)
    this.#begun.set(place, socket)
    const forget = (): void => {
      if (this.#begun.get(place) === socket) this.#begun.delete(place)
    }
    socket.on('close', guarded('connection', nothing, forget))
    // A client that ends its side does not finish the handshake: the TLSSocket takes this over.
    socket.allowHalfOpen = false
    this.#server.emit('connection', socket)
  }

  /**
   * Uses another pair for the connections from now on; a session of an older one cannot be resumed. Returns whether the
   * authorities of client certificates have changed. Throws an Error for a pair that cannot be used; the old one stays then.
   */
  use(pair: KeyPair): boolean {
    this.#server.setSecureContext(contextOf(pair))
    const hasNewAuthorities = pair.clientCa !== this.#clientCa
    this.#clientCa = pair.clientCa
    return hasNewAuthorities
  }

  #failed({ code }: NodeJS.ErrnoException, secure: TLSSocket): void {
    const socket = this.#begun.get(placeOf(secure))
    if (code === 'ERR_SSL_HTTP_REQUEST' && socket !== undefined && this.#endPlainHttp !== undefined)
      this.#endPlainHttp(socket)
    else secure.destroy()
    // A client that left, such as a probe that only connects, has done nothing wrong.
    if (code !== 'ECONNRESET') this.#onFailed()
  }
}

function contextOf({ cert, key, clientCa }: KeyPair) {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    // Renegotiation lets a client make the server work as often as it likes. No client needs it.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  } as const
}

function placeOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

/** The user of the client certificate: the common name of its subject, if one of our authorities has signed it. */
export function certificateUserOf(socket: Socket | TLSSocket): CertificateUser | undefined {
  if (!('authorized' in socket) || !socket.authorized) return undefined
  const { subject, valid_to: validTo } = socket.getPeerCertificate()
  // A subject with several common names has a list here: it names nobody.
  const name: unknown = subject?.CN
  const expiresMs = Date.parse(validTo)
  const isNamed = typeof name === 'string' && name !== '' && !Number.isNaN(expiresMs)
  return isNamed ? { username: name, expiresMs } : undefined
}

/** The user of a client certificate, and until when it counts. */
export interface CertificateUser {
  readonly username: string
  /** Epoch ms. */
  readonly expiresMs: number
}
