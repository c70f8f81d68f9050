import { isNightly } from '../../support/nightly.ts'
import { temporaryDirectory } from '../../support/waypost.ts'
import { preparedFolder, type Command, type PreparedProgram } from '../prepared-program.ts'
import { DrivenClient, type ClientSpec } from './driven-client.ts'
import { DrivenProgram } from './driven-program.ts'

/** A program that obeys commands, with the versions of its library. */
export interface LibraryProgram extends PreparedProgram {
  readonly language: string
  /** The tools that must be on the path. */
  readonly tools: readonly string[]
  /** The versions that this run tests. */
  readonly versions: readonly LibraryVersion[]
  /** Runs it; with a folder for what the library writes, and the authority that it trusts for TLS. */
  readonly run: (version: string, scratch: string, caFile?: string) => Command
}

/** A version, and the steps that it cannot take, with the reason. */
export interface LibraryVersion {
  readonly version: string
  /** How it calls itself to servers. */
  readonly says?: string
  readonly lacks?: Readonly<Record<string, string>>
  readonly lacksTls?: string
  /** It signs in again only when its token is nearly over, also where that is refused. */
  readonly signsInLate?: true
}

/** The versions that this run tests: all at night, else the one that most users have. */
export function tested(versions: readonly LibraryVersion[], usual: string): readonly LibraryVersion[] {
  return versions.filter(({ version }) => isNightly || version === usual)
}

/** The processes of one version of a library: one for all plain connections, one for those over TLS. */
export class Library {
  readonly version: LibraryVersion
  readonly #program: LibraryProgram
  readonly #running = new Map<string, DrivenProgram>()
  #opened = 0

  constructor(program: LibraryProgram, version: LibraryVersion) {
    this.#program = program
    this.version = version
  }

  /** Makes a client. */
  open(spec: ClientSpec): Promise<DrivenClient> {
    return DrivenClient.open(this.process(spec.caFile), `c${++this.#opened}`, spec)
  }

  /** The process for plain connections, or that which trusts the authority. */
  process(caFile?: string): DrivenProgram {
    const known = this.#running.get(caFile ?? '')
    if (known !== undefined) return known
    const scratch = temporaryDirectory(`client-${this.version.version}-`)
    const trust =
      caFile === undefined
        ? {}
        : { SSL_CERT_FILE: caFile, REQUESTS_CA_BUNDLE: caFile, NODE_EXTRA_CA_CERTS: caFile }
    // The libraries keep caches and logs in the home directory.
    const home = { HOME: scratch, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }
    const fresh = new DrivenProgram(this.#program.run(this.version.version, scratch, caFile), {
      cwd: preparedFolder(this.#program),
      env: { ...process.env, ...home, ...trust },
    })
    this.#running.set(caFile ?? '', fresh)
    return fresh
  }

  /** Ends its processes. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((one) => one.kill()))
  }
}

/** Answers the client of a name and a namespace, which is made when it is first asked for. */
export function clientsOf(
  library: Library,
  spec: ClientSpec,
): (name?: string, namespace?: string) => Promise<DrivenClient> {
  const opened = new Map<string, Promise<DrivenClient>>()
  return (name = 'a', namespace = '') => {
    const key = `${name} ${namespace}`
    const client = opened.get(key) ?? library.open({ ...spec, namespace })
    opened.set(key, client)
    return client
  }
}
