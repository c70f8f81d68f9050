import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { EtcdError } from './etcd-error.ts'

/** Files for TLS, read for each connection: the next connection uses a renewed certificate. */
export interface TlsFiles {
  /** The trusted authorities, instead of Node's own. */
  readonly ca?: string
  /** The certificate of this client with its key, if etcd asks for a certificate. */
  readonly cert?: string
  readonly key?: string
}

/** The settings that name the files: messages use them. */
const SETTINGS = { ca: 'etcd-ca', cert: 'etcd-cert', key: 'etcd-key' } as const

/** The contents of the files. Throws `EtcdError` of kind `untrusted` that names an unusable file. */
export function readTlsFiles(files: TlsFiles): Partial<Record<keyof TlsFiles, Buffer>> {
  const contents: Partial<Record<keyof TlsFiles, Buffer>> = {}
  for (const name of ['ca', 'cert', 'key'] as const) {
    const file = files[name]
    if (file !== undefined) contents[name] = readFile(name, file)
  }
  return contents
}

function readFile(name: keyof TlsFiles, file: string): Buffer {
  let content: Buffer
  try {
    content = readFileSync(file)
  } catch (cause) {
    throw untrusted(`the file of ${SETTINGS[name]} cannot be read: ${(cause as Error).message}`, cause)
  }
  if (name !== 'key') checkCertificate(name, content)
  return content
}

function checkCertificate(name: 'ca' | 'cert', content: Buffer): void {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(content)
  } catch (cause) {
    throw untrusted(`the file of ${SETTINGS[name]} holds no certificate that can be read`, cause)
  }
  if (name === 'cert' && Date.parse(certificate.validTo) < Date.now())
    throw untrusted(`the certificate of etcd-cert has expired: ${certificate.validTo}`)
}

function untrusted(message: string, cause?: unknown): EtcdError {
  return new EtcdError('untrusted', message, { cause })
}

/** Texts for codes of OpenSSL errors; the first match counts. */
const BY_CODE: readonly (readonly [code: RegExp, why: string])[] = [
  [/ALTNAME_INVALID/, 'its certificate is for other names or addresses than this one'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [
    /UNABLE_TO_VERIFY_LEAF|UNABLE_TO_GET_ISSUER|SELF_SIGNED_CERT|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED/,
    'its certificate is not signed by an authority of etcd-ca',
  ],
  [/ALERT_CERTIFICATE_REQUIRED/, 'it asks for a certificate of this client: set etcd-cert and etcd-key'],
  [/ALERT_CERTIFICATE_EXPIRED/, 'it refuses the certificate of etcd-cert, which has expired'],
  [
    /ALERT_(?:BAD_CERTIFICATE|UNKNOWN_CA|UNSUPPORTED_CERTIFICATE|CERTIFICATE|DECRYPT|ACCESS)/,
    'it refuses the certificate of etcd-cert',
  ],
  [/HANDSHAKE_FAILURE/, 'it refuses this client: it may ask for a certificate (etcd-cert and etcd-key)'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/, 'it does not speak TLS: it may be http'],
  [/KEY_VALUES_MISMATCH/, 'the key of etcd-key does not belong to the certificate of etcd-cert'],
  [/^ERR_OSSL/, 'the file of etcd-key or etcd-cert cannot be used'],
]

/** The fault of a certificate that made a connection fail; undefined: certificates are not the reason. */
export function tlsFault(error: Error | undefined): string | undefined {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code)
  return BY_CODE.find(([pattern]) => pattern.test(code))?.[1]
}
