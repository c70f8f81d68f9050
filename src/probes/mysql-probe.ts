import type mysql2 from 'mysql2'
import type { Connection, QueryError } from 'mysql2'
import {
  converse,
  down,
  downNow,
  up,
  verdictOfError,
  type Conversation,
  type CheckerOf,
  type ProbeResult,
  type ProbeTarget,
  type Verdict,
} from './conversation.ts'
import { DriverStream } from './driver-stream.ts'
import { signInMethods } from './mysql-sign-in.ts'

type MysqlChecker = CheckerOf<'MYSQL'>
type Mysql = typeof mysql2

const ROWS_CAP = 100

/** Temporary errors of a working server: too many connections (1040; of one user: 1203, 1226), shutting down (1053). */
const PASSING_ERRORS = new Set([1040, 1203, 1226, 1053])

/** Values of the variable `read_only` on a replica. The last two exist since MariaDB 12. */
const READ_ONLY_VALUES = new Set(['ON', '1', 'NO_LOCK', 'NO_LOCK_NO_ADMIN'])

let loading: Promise<Mysql> | undefined

/** Loads the client on demand: it takes 100 ms and some megabytes, and most servers never need it. */
function loadMysql(): Promise<Mysql> {
  loading ??= import('mysql2').then((module) => module.default)
  return loading
}

/**
 * Signs in and runs `cmd` as one plain query; a successful query is up. A refused connection and an error of the server
 * (access denied, unknown table) are down at once; a timeout or an overload counts as down. A `cmd` with `read_only`
 * checks for the primary: a row with ON counts as down, because a failover takes a moment. It never throws.
 */
export async function mysqlProbe(target: ProbeTarget<MysqlChecker>, timeoutMs: number): Promise<ProbeResult> {
  try {
    return await checkWith(await loadMysql(), target, timeoutMs) // loading is not part of the timeout
  } catch (error) {
    return { ...down(`the MySQL client cannot be loaded: ${String(error)}`), elapsedMs: 0 }
  }
}

function checkWith(mysql: Mysql, target: ProbeTarget<MysqlChecker>, timeoutMs: number): Promise<ProbeResult> {
  return converse(target, timeoutMs, (talk, socket) => {
    const { host, checker } = target
    const stream = new DriverStream(
      talk,
      socket,
      checker.ca === undefined ? undefined : { host, ca: checker.ca },
    )
    stream.run(() => {
      const connection = connectOver(mysql, { talk, stream, checker })
      connection.on(
        'error',
        talk.guard((error: QueryError) => talk.conclude(verdictOfMysqlError(error))),
      )
      runCheck(talk, connection, checker.cmd)
    })
  })
}

interface MysqlLink {
  readonly talk: Conversation
  readonly stream: DriverStream
  readonly checker: MysqlChecker
}

function connectOver(mysql: Mysql, { talk, stream, checker }: MysqlLink): Connection {
  const { user, pwd, ca } = checker
  const connection = mysql.createConnection({
    stream,
    user,
    password: pwd,
    connectTimeout: 0, // the conversation has its own deadline
    multipleStatements: false,
    flags: ['-LOCAL_FILES'], // a server must not read files of this machine
    disableEval: true, // names of columns come from the host
    authPlugins: signInMethods(talk, stream, checker),
    ...(ca === undefined ? {} : { ssl: {} }),
  })
  // Its own TLS would read from the socket outside of `run` (decision 0048).
  return Object.assign(connection, { startTLS: (onSecure: () => void) => stream.secure(onSecure) })
}

function runCheck(talk: Conversation, connection: Connection, cmd: string): void {
  const asksForReadOnly = /read_only/i.test(cmd)
  let rows = 0
  const query = connection.query({ sql: cmd.trim() === '' ? 'SELECT 1' : cmd, rowsAsArray: true })
  query.on(
    'error',
    talk.guard((error: QueryError) => talk.conclude(verdictOfQueryError(error))),
  )
  const take = (row: unknown): void => {
    if (asksForReadOnly && saysReadOnly(row)) talk.conclude(down('read_only is ON: not the primary'))
    if (++rows >= ROWS_CAP) talk.conclude(up('query answered'))
  }
  query.on('result', talk.guard(take))
  query.on(
    'end',
    talk.guard(() => talk.conclude(up('query answered'))),
  )
}

/** `show variables` has name and value, `select @@read_only` only the value. It is the last column in both. */
function saysReadOnly(row: unknown): boolean {
  if (!Array.isArray(row)) return false
  return READ_ONLY_VALUES.has(String(row.at(-1)).toUpperCase())
}

/** MariaDB, TiDB and proxies have numbers of their own, and the driver has no name (`code`) for them. */
type MaybeNamed = Partial<QueryError> & Error

function verdictOfMysqlError(error: MaybeNamed, text = error.message): Verdict {
  if (error.sqlState === undefined || error.errno === undefined) return verdictOfError(error)
  const name = error.code ?? `error ${error.errno}`
  const reason = text === '' ? name : `${name}: ${text}`
  return PASSING_ERRORS.has(error.errno) ? down(reason) : downNow(reason)
}

/** Without the text of the server: the writer of the query could read data of the database in it. */
function verdictOfQueryError(error: QueryError): Verdict {
  return verdictOfMysqlError(error, '')
}
