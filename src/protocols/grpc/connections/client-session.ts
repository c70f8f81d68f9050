import type { CertificateUser } from '../../sockets/secure-layer.ts'

/**
 * A TCP connection with its HTTP/2 session. It is the identity of a client: requests belong to the connection on whose
 * session they arrive.
 */
export interface ClientSession {
  /** `<ms>_<ip>_<port>` of when it was opened; no other session of this process has it. */
  readonly id: string
  readonly ip: string
  readonly port: number
  /** The user of the certificate that the client has shown. */
  readonly certificateUser: CertificateUser | undefined
  /** Whether a request on it could be carried out: it is set up, and its caller counts. Until then its requests are small. */
  isKnown: boolean
  /** Ends it: answers that were given to it are sent first. */
  close(): void
}
