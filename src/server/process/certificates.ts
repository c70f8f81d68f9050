import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import type { KeyPair } from '../../protocols/sockets/secure-layer.ts'
import type { Settings } from '../../settings/settings.ts'

/** How often the files are checked: a renewed certificate counts after this time. */
export const LOOK_EVERY_MS = 5_000

type Files = Pick<Settings, 'tlsCert' | 'tlsKey' | 'tlsClientCa'>

/** The certificate's figures for metrics. */
export interface CertificateStatus {
  /** Epoch ms after which clients refuse it. */
  readonly expiresMs: number
  /** The files hold an unusable pair; the old pair stays in use. */
  readonly isBroken: boolean
}

/**
 * The certificate files of the server. They are read again at regular intervals. Every replacement is noticed by its
 * content: a new file, a link that moves or a rewritten file. A pair that cannot be used keeps the old one.
 */
export class Certificates {
  readonly #files: Files
  readonly #log: Logger
  #pair: KeyPair
  #isBroken = false
  /** The last logged fault; '' without a fault. */
  #logged = ''

  private constructor(files: Files, log: Logger, pair: KeyPair) {
    this.#files = files
    this.#log = log
    this.#pair = pair
  }

  /** Reads the files; undefined if no certificate is set. Rejects with an Error that explains a fault in them. */
  static async open(files: Files, log: Logger): Promise<Certificates | undefined> {
    const { tlsCert, tlsKey, tlsClientCa } = files
    if (tlsCert === '' && tlsKey === '' && tlsClientCa === '') return undefined
    if (tlsCert === '' || tlsKey === '')
      throw new Error('TLS needs a certificate and its key: set both tls-cert and tls-key.')
    try {
      const pair = await readPair(files)
      checkPair(pair)
      return new Certificates(files, log, pair)
    } catch (cause) {
      throw new Error(`the TLS files cannot be used: ${(cause as Error).message}`, { cause })
    }
  }

  get pair(): KeyPair {
    return this.#pair
  }

  status(): CertificateStatus {
    return { expiresMs: Date.parse(new X509Certificate(this.#pair.cert).validTo), isBroken: this.#isBroken }
  }

  /** Looks at the files; `use` gets a new pair. Never rejects: an unusable pair is logged once. */
  async look(use: (pair: KeyPair) => void): Promise<void> {
    try {
      const pair = await readPair(this.#files)
      if (!isSame(pair, this.#pair)) this.#change(pair, use)
      this.#isBroken = false
      this.#logged = ''
    } catch (error) {
      this.#isBroken = true
      this.#tell((error as Error).message)
    }
  }

  #change(pair: KeyPair, use: (pair: KeyPair) => void): void {
    checkPair(pair)
    refuseExpired(pair)
    use(pair)
    this.#pair = pair
    this.#log.info({ expires: new X509Certificate(pair.cert).validTo }, 'a new TLS certificate is in use')
  }

  #tell(reason: string): void {
    if (reason === this.#logged) return
    this.#logged = reason
    this.#log.error({ reason }, 'the TLS files cannot be used: the server keeps the certificate that it has')
  }
}

async function readPair({ tlsCert, tlsKey, tlsClientCa }: Files): Promise<KeyPair> {
  const [cert, key, clientCa] = await Promise.all([
    readFile(tlsCert, 'utf8'),
    readFile(tlsKey, 'utf8'),
    tlsClientCa === '' ? undefined : readFile(tlsClientCa, 'utf8'),
  ])
  return { cert, key, clientCa }
}

/** Throws an Error that explains why a pair cannot be used. */
function checkPair({ cert, key, clientCa }: KeyPair): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key does not belong to the certificate')
  // For an empty list Node would trust the public authorities, and it skips unreadable certificates.
  if (clientCa !== undefined && certificatesIn(clientCa) === 0)
    throw new Error('tls-client-ca holds no certificate of an authority')
  createSecureContext({ cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }) })
}

/** The number of certificates in a PEM file. Throws an Error for an unreadable certificate. */
function certificatesIn(pem: string): number {
  const begin = '-----BEGIN CERTIFICATE-----'
  const [, ...pieces] = pem.split(begin)
  for (const piece of pieces) new X509Certificate(begin + piece)
  return pieces.length
}

/** A new certificate that has expired is no better than the present certificate. */
function refuseExpired({ cert }: KeyPair): void {
  const { validTo } = new X509Certificate(cert)
  if (Date.parse(validTo) < Date.now()) throw new Error(`the certificate has expired: ${validTo}`)
}

function isSame(one: KeyPair, other: KeyPair): boolean {
  return one.cert === other.cert && one.key === other.key && one.clientCa === other.clientCa
}
