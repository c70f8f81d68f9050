import { readFileSync } from 'node:fs'
import type { Connection, ConnectionOptions, AuthPlugin } from 'mysql2'
import { messageOf, UsageError } from '../../command-line.ts'
import { passwordFrom } from '../move-passwords.ts'
import { textOfBytes } from '../no-text.ts'
import { isIP } from 'node:net'
import { checkServerIdentity, TLSSocket } from 'node:tls'

/** How to reach a database. */
export interface DatabaseFlags {
  readonly mysqlPublicKey?: string
  readonly mysqlTls?: string
  readonly mysqlTimeZone?: string
}

/** A row: each value as a text, or null. Numbers and times are texts, too, because they may be larger than a number. */
export type DatabaseRow = Readonly<Record<string, string | null>>

/** The most rows waiting in memory. A row may have 10 MiB. */
const WAITING_ROWS = 8

/** The database may wait so long until a row is written to the plan. */
const PATIENCE_S = 600

/** A connection that reads one state of the database, and streams large results. */
export class Database {
  /** Without a user. */
  readonly url: string
  readonly #connection: Connection

  private constructor(url: string, connection: Connection) {
    this.url = url
    this.#connection = connection
  }

  /** Connects by an address such as `mysql://user@host:3306/nacos`. */
  static async open(address: string, flags: DatabaseFlags): Promise<Database> {
    const url = databaseUrl(address)
    const user = decodeURIComponent(url.username)
    const password = await passwordFrom('WAYPOST_MYSQL_PASSWORD', `${user} at ${url.host}`)
    const { default: mysql } = await import('mysql2')
    const options: ConnectionOptions = {
      host: hostOf(url),
      port: Number(url.port || 3306),
      user,
      password,
      database: decodeURIComponent(url.pathname.slice(1)),
      charset: 'utf8mb4',
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      // A server must not read files of this machine.
      flags: ['-LOCAL_FILES'],
      // Names of columns come from the database.
      disableEval: true,
      connectTimeout: 20_000,
      ...trustOf(mysql, url, flags),
    }
    const connection = mysql.createConnection(options)
    const database = new Database(`mysql://${url.host}${url.pathname}`, connection)
    await database.#begin()
    if (flags.mysqlTls !== undefined && isAddress(hostOf(url))) database.#requireAddress(hostOf(url))
    return database
  }

  async #begin(): Promise<void> {
    await this.#run(`SET SESSION net_write_timeout = ${PATIENCE_S}, SESSION group_concat_max_len = 1000000`)
    await this.#run('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    await this.renewSnapshot()
  }

  /** From now on all tables are read as they are at this moment. */
  async renewSnapshot(): Promise<void> {
    await this.#run('START TRANSACTION WITH CONSISTENT SNAPSHOT')
  }

  /** Not every way to sign in uses a plugin, which has checked it before. */
  #requireAddress(address: string): void {
    const problem = addressProblem(this.#connection, address)
    if (problem === undefined) return
    this.close()
    throw new Error(`${this.url}: ${problem.message}`, { cause: problem })
  }

  /** All rows of a small answer. */
  async rows(sql: string, values: readonly string[] = []): Promise<DatabaseRow[]> {
    const found: DatabaseRow[] = []
    for await (const row of this.stream(sql, values)) found.push(row)
    return found
  }

  /** The rows of a large result, one after the other. */
  async *stream(sql: string, values: readonly string[] = []): AsyncGenerator<DatabaseRow> {
    const query = this.#connection.query(sql, [...values])
    try {
      for await (const row of query.stream({ highWaterMark: WAITING_ROWS })) yield textsOf(row as object)
    } catch (error) {
      throw new Error(`${this.url}: ${messageOf(error)} (${sql.slice(0, 60)}…)`, { cause: error })
    }
  }

  close(): void {
    this.#connection.destroy()
  }

  async #run(sql: string): Promise<void> {
    await new Promise<void>((done, fail) => {
      const failed = (error: Error): void =>
        fail(new Error(`${this.url}: ${messageOf(error)}`, { cause: error }))
      this.#connection.once('error', failed)
      this.#connection.query(sql, (error: Error | null) => {
        this.#connection.off('error', failed)
        if (error === null) done()
        else failed(error)
      })
    })
  }
}

/** IPv6 addresses have brackets in URLs only. */
function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$/g, '')
}

function databaseUrl(address: string): URL {
  const url = new URL(address)
  if (url.password !== '')
    throw new UsageError(
      '--from must be without a password: use WAYPOST_MYSQL_PASSWORD, or a prompt asks for it',
    )
  if (url.username === '' || url.hostname === '' || url.pathname.length < 2)
    throw new UsageError('--from needs a user, a host and a database: mysql://user@host:3306/nacos')
  return url
}

/** The password itself goes only over TLS, or encrypted with a key that the user gives. */
function trustOf(
  mysql: typeof import('mysql2'),
  url: URL,
  { mysqlTls, mysqlPublicKey }: DatabaseFlags,
): ConnectionOptions {
  const { caching_sha2_password, sha256_password } = mysql.authPlugins
  if (mysqlTls !== undefined) {
    const host = hostOf(url)
    const ca = mysqlTls === 'system' ? {} : { ca: readFileSync(mysqlTls, 'utf8') }
    if (!isAddress(host)) return { ssl: { verifyIdentity: true, ...ca } }
    return {
      ssl: ca,
      authPlugins: {
        caching_sha2_password: forAddress(caching_sha2_password(), host),
        sha256_password: forAddress(sha256_password(), host),
      },
    }
  }
  const key = mysqlPublicKey === undefined ? {} : { serverPublicKey: readFileSync(mysqlPublicKey, 'utf8') }
  const onServerPublicKey = (): never => {
    throw new Error(
      `${url.host} asks for the password itself: use --mysql-tls, or --mysql-public-key with its key`,
    )
  }
  return {
    authPlugins: {
      caching_sha2_password: caching_sha2_password({ ...key, onServerPublicKey }),
      sha256_password: sha256_password({ ...key, onServerPublicKey }),
    },
  }
}

function textsOf(row: object): DatabaseRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOfValue(value)]))
}

function textOfValue(value: unknown): string | null {
  if (value === null) return null
  // Some sites have changed columns of texts to columns of bytes.
  return Buffer.isBuffer(value) ? textOfBytes(value) : String(value as string | number)
}

/** Whether the identity has to be checked here: the driver verifies names only, and takes `localhost` for every address. */
function isAddress(host: string): boolean {
  return isIP(host) !== 0
}

/** Why the certificate of a database does not belong to its address; undefined: it does. */
function addressProblem(connection: Connection, address: string): Error | undefined {
  // The types of the driver leave it out. Without it nothing is read.
  const { stream } = connection as unknown as { readonly stream?: unknown }
  if (!(stream instanceof TLSSocket)) return new Error('the connection is not by TLS')
  return checkServerIdentity(address, stream.getPeerCertificate(true))
}

/** A plugin that gives no password to a server whose certificate does not belong to its address. */
function forAddress(plugin: AuthPlugin, address: string): AuthPlugin {
  return (metadata) => {
    const problem = addressProblem(metadata.connection, address)
    return problem === undefined ? plugin(metadata) : () => Promise.reject<string>(problem)
  }
}
