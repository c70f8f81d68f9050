import { readFileSync } from 'node:fs'
import type { Connection, ConnectionOptions, AuthPlugin } from 'mysql2'
import { messageOf, UsageError } from '../../command/command-line.ts'
import { passwordFrom } from '../move-passwords.ts'
import { printableWord } from '../../command/terminal-text.ts'
import { KEPT_BYTES, KEPT_ROWS, ROW_BYTES, ROW_S } from '../answer-limits.ts'
import { textOfBytes } from '../no-text.ts'
import type { Waiting } from '../waiting.ts'
import { ReceivedBytes } from './received-bytes.ts'
import { connect, isIP } from 'node:net'
import type { Readable } from 'node:stream'
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

/** The dependencies of a database. */
export interface DatabaseParts {
  readonly flags: DatabaseFlags
  readonly waiting: Waiting
  /** By default {@link ROW_S}. */
  readonly patienceMs?: number
}

/** A connection that reads one state of the database, and streams large results. */
export class Database {
  /** Without a user. */
  readonly url: string
  readonly #connection: Connection
  readonly #received: ReceivedBytes
  readonly #waiting: Waiting
  readonly #patienceMs: number
  /** Why the connection broke, and who waits for its work: one at a time. */
  #error: Error | undefined
  #fail: ((error: Error) => void) | undefined

  private constructor(url: string, connection: OpenConnection, parts: DatabaseParts) {
    this.url = url
    this.#connection = connection.connection
    this.#received = connection.received
    this.#waiting = parts.waiting
    this.#patienceMs = parts.patienceMs ?? ROW_S * 1_000
    const broken = (error: Error): void => {
      this.#error ??= error
      this.#fail?.(error)
    }
    this.#connection.on('error', broken)
    catchUnreadable(this.#connection, (error) => {
      broken(error)
      this.close()
    })
  }

  /** Connects by an address such as `mysql://user@host:3306/nacos`. */
  static async open(address: string, parts: DatabaseParts): Promise<Database> {
    const { flags } = parts
    const url = databaseUrl(address)
    const user = decodeURIComponent(url.username)
    const password = await passwordFrom('WAYPOST_MYSQL_PASSWORD', `${user} at ${url.host}`)
    const { default: mysql } = await import('mysql2')
    const [host, port] = [hostOf(url), Number(url.port || 3306)]
    const socket = connect({ host, port, noDelay: true })
    const received = new ReceivedBytes(socket)
    const options: ConnectionOptions = {
      host,
      port,
      stream: () => socket,
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
    const database = new Database(`mysql://${url.host}${url.pathname}`, { connection, received }, parts)
    await database.#begin()
    if (flags.mysqlTls !== undefined && isAddress(host)) database.#requireAddress(host)
    return database
  }

  async #begin(): Promise<void> {
    await this.#run(`SET SESSION net_write_timeout = ${ROW_S}, SESSION group_concat_max_len = 1000000`)
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

  /** All rows of a small answer. Rejects if it is not small. */
  async rows(sql: string, values: readonly string[] = []): Promise<DatabaseRow[]> {
    const found: DatabaseRow[] = []
    let bytes = 0
    for await (const row of this.stream(sql, values, KEPT_ROWS)) {
      found.push(row)
      bytes += lengthOf(row)
      if (bytes <= KEPT_BYTES) continue
      this.close()
      throw this.#failed(new Error(`it sends more than ${KEPT_BYTES} bytes`), sql)
    }
    return found
  }

  /** How many rows a table has. `from`: the table, and a condition. */
  async count(from: string, values: readonly string[] = []): Promise<number> {
    const sql = `SELECT COUNT(*) AS n FROM ${from}`
    const [row] = await this.rows(sql, values)
    const count = Number(row?.['n'] ?? Number.NaN)
    if (Number.isSafeInteger(count) && count >= 0) return count
    throw this.#failed(new Error('it counts no rows'), sql)
  }

  /** The rows of a large result, one after the other. Rejects if there are more than `most`. */
  async *stream(sql: string, values: readonly string[], most: number): AsyncGenerator<DatabaseRow> {
    this.#received.begin()
    const query = this.#connection.query(sql, [...values]).on('result', this.#received.begin)
    const rows = query.stream({ highWaterMark: WAITING_ROWS })
    let count = 0
    try {
      for (;;) {
        const row = rows.read() as object | null
        if (row === null) {
          if (rows.readableEnded) return
          await this.#patiently(changed(rows), sql)
          continue
        }
        if (++count > most) throw new Error(`it sends more than ${most} rows`)
        const texts = textsOf(row)
        // A fast server may have sent a row before its bytes were looked at.
        if (lengthOf(texts) > ROW_BYTES) throw new Error(`it sends more than ${ROW_BYTES} bytes for one row`)
        yield texts
      }
    } catch (error) {
      // It may send more and more: nobody reads on.
      this.close()
      throw this.#failed(error, sql)
    } finally {
      rows.destroy()
    }
  }

  /** Rejects if it takes too long, or the connection breaks. */
  async #patiently<T>(work: Promise<T>, sql: string): Promise<T> {
    const ms = this.#patienceMs
    let timer: NodeJS.Timeout
    const inTime = new Promise<T>((done, fail) => {
      this.#fail = fail
      if (this.#error !== undefined) fail(this.#error)
      timer = setTimeout(() => fail(new Error(`it does not answer within ${ms / 1_000} s`)), ms)
      work.then(done, fail)
    })
    try {
      return await this.#waiting(`${this.url} (${beginOf(sql)})`, inTime)
    } finally {
      clearTimeout(timer!)
    }
  }

  /** Without line ends: the database must not write lines of its own. */
  #failed(error: unknown, sql: string): Error {
    if (error instanceof DatabaseError) return error
    return new DatabaseError(`${this.url}: ${printableWord(messageOf(error))} (${beginOf(sql)})`, {
      cause: error,
    })
  }

  close(): void {
    this.#connection.destroy()
  }

  async #run(sql: string): Promise<void> {
    this.#received.begin()
    const ran = new Promise<void>((done, fail) => {
      this.#connection.query(sql, (error: Error | null) => (error === null ? done() : fail(error)))
    })
    await this.#patiently(ran, sql).catch((error: unknown) => {
      this.close()
      throw this.#failed(error, sql)
    })
  }
}

/** Resolves when a stream has another row, or has ended. */
function changed(rows: Readable): Promise<void> {
  return new Promise((done, fail) => {
    const settle = (error?: Error): void => {
      for (const event of ['readable', 'end', 'error'] as const) rows.off(event, listeners[event])
      if (error === undefined) done()
      else fail(error)
    }
    const listeners = { readable: () => settle(), end: () => settle(), error: settle }
    for (const event of ['readable', 'end', 'error'] as const) rows.on(event, listeners[event])
  })
}

/** The fields by which the driver reads a packet: its place, and the end of the packet. */
interface Packet {
  readonly offset: number
  readonly end: number
}

/**
 * The driver throws where it reads what comes, so a packet of no form that it knows would end the process. It cuts a value
 * that is longer than its packet: that would be another value.
 */
function catchUnreadable(connection: Connection, failed: (error: Error) => void): void {
  const driver = connection as unknown as {
    readonly authorized: boolean
    handlePacket: (packet?: Packet) => void
  }
  const read = driver.handlePacket.bind(connection)
  driver.handlePacket = (packet) => {
    try {
      read(packet)
      // In a sign-in the zero at the end of a text may be missing.
      if (packet !== undefined && driver.authorized && !(packet.offset <= packet.end))
        throw new Error('a value is longer than its packet')
    } catch (error) {
      failed(new Error(`it sends what is no answer: ${messageOf(error)}`, { cause: error }))
    }
  }
}

/** A database does not do as asked. */
class DatabaseError extends Error {}

interface OpenConnection {
  readonly connection: Connection
  readonly received: ReceivedBytes
}

function beginOf(sql: string): string {
  return printableWord(sql.length > SHOWN ? `${sql.slice(0, SHOWN)}…` : sql)
}

/** How much of a query is shown. */
const SHOWN = 60

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

function lengthOf(row: DatabaseRow): number {
  let length = 0
  for (const value of Object.values(row)) length += value?.length ?? 0
  return length
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
