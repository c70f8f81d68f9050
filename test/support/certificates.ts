import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from './waypost.ts'

/** The files of a certificate and its key. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate authority for one test, made with openssl: nothing in the project is secret, and nothing expires. */
export class Authority {
  readonly #directory = temporaryDirectory('certificates-')
  /** The certificate that clients trust. */
  readonly caFile = join(this.#directory, 'ca.pem')
  readonly #key = join(this.#directory, 'ca.key')
  #made = 0

  constructor() {
    this.#openssl(
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      this.#key,
      '-out',
      this.caFile,
      '-days',
      '2',
      '-subj',
      '/CN=test authority',
    )
  }

  get ca(): string {
    return readFileSync(this.caFile, 'utf8')
  }

  /** A certificate of a server on the loopback address. */
  forServer(): CertificateFiles {
    return this.#sign('/CN=localhost', FOR_SERVER)
  }

  /** A certificate of a server at another address. */
  forOtherServer(): CertificateFiles {
    return this.#sign('/CN=elsewhere', 'subjectAltName=DNS:elsewhere.example')
  }

  /** A certificate of a server with other names, such as `DNS:elsewhere.example`. */
  forNames(names: string): CertificateFiles {
    return this.#sign('/CN=elsewhere', `subjectAltName=${names}`)
  }

  /** A certificate that has expired. */
  expired(): CertificateFiles {
    return this.#sign('/CN=localhost', FOR_SERVER, -1)
  }

  /** A certificate of a client. */
  forUser(username: string): CertificateFiles {
    return this.#sign(`/CN=${username}`, FOR_CLIENT)
  }

  /** A certificate of a client with any subject, such as `/O=shops/CN=one`. */
  forSubject(subject: string): CertificateFiles {
    return this.#sign(subject, FOR_CLIENT)
  }

  #sign(subject: string, extension: string, days = 2): CertificateFiles {
    const name = join(this.#directory, String(++this.#made))
    const files = { cert: `${name}.pem`, key: `${name}.key` }
    writeFileSync(`${name}.ext`, extension)
    this.#openssl('req', '-new', ...NEW_KEY, '-keyout', files.key, '-out', `${name}.csr`, '-subj', subject)
    const by = [
      '-CA',
      this.caFile,
      '-CAkey',
      this.#key,
      '-CAcreateserial',
      '-days',
      String(days),
      '-extfile',
      `${name}.ext`,
    ]
    this.#openssl('x509', '-req', '-in', `${name}.csr`, '-out', files.cert, ...by)
    return files
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' })
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

const FOR_SERVER = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
const FOR_CLIENT = 'extendedKeyUsage=clientAuth'
