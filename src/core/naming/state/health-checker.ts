import { Refusal } from '../../refusal.ts'

/** Sends a GET request and expects a status. */
export interface HttpChecker {
  readonly type: 'HTTP'
  readonly path: string
  /** `name:value|name2:value2`. The values are secret: answers have the names only. */
  readonly headers: string
  readonly expectedResponseCode: number
}

/** Signs in to a MySQL server and runs one query. */
export interface MysqlChecker {
  readonly type: 'MYSQL'
  readonly user: string
  /** Secret: no answer has it. */
  readonly pwd: string
  readonly cmd: string
  /** The RSA key of the server, for a sign-in that needs the password itself. Absent: no such sign-in without TLS. */
  readonly publicKey?: string
  /** The certificates that sign the one of the server. Present: the probe uses TLS. */
  readonly ca?: string
}

/** How the persistent instances of a cluster are probed (http-compat.md section 4). NONE: not at all. */
export type HealthChecker = { readonly type: 'TCP' } | HttpChecker | MysqlChecker | { readonly type: 'NONE' }

/** A MySQL checker as somebody sends it. Undefined: as stored. An empty `publicKey` or `ca` removes the stored one. */
export interface SentMysqlChecker {
  readonly type: 'MYSQL'
  readonly user: string
  readonly cmd: string
  readonly pwd: string | undefined
  readonly publicKey: string | undefined
  readonly ca: string | undefined
}

/** A checker as somebody sends it: hidden secrets may be missing. A header without a value is as stored. */
export type SentChecker = Exclude<HealthChecker, MysqlChecker> | SentMysqlChecker

/** A checker as answers show it: no password, and the names of headers (`name|name2`). */
export type ShownChecker = Exclude<HealthChecker, MysqlChecker> | Omit<MysqlChecker, 'pwd'>

/** The checker of a cluster without a configuration. */
export const DEFAULT_CHECKER: HealthChecker = { type: 'TCP' }

/** The checker without its secrets, for everybody who may read the service. */
export function shownChecker(checker: HealthChecker): ShownChecker {
  if (checker.type === 'HTTP') return { ...checker, headers: namesOfHeaders(checker.headers) }
  if (checker.type !== 'MYSQL') return checker
  const { pwd: _secret, ...shown } = checker
  return shown
}

/**
 * The checker to store: missing secrets are taken from the stored one. A secret is kept only if it is sent to the same
 * place as before. Otherwise a writer, who cannot read it, could send it elsewhere: to another path, or encrypted with
 * their own key. Throws Refusal `invalid-parameter` for the name of a header without a stored value.
 */
export function withStoredSecrets(sent: SentChecker, stored: HealthChecker | undefined): HealthChecker {
  if (sent.type === 'HTTP') {
    const isSame = stored?.type === 'HTTP' && stored.path === sent.path
    return { ...sent, headers: withStoredValues(sent.headers, isSame ? stored.headers : '') }
  }
  if (sent.type !== 'MYSQL') return sent
  return withStoredPassword(sent, stored?.type === 'MYSQL' && stored.user === sent.user ? stored : undefined)
}

function withStoredPassword(sent: SentMysqlChecker, stored: MysqlChecker | undefined): MysqlChecker {
  const { type, user, cmd } = sent
  const publicKey = sent.publicKey ?? stored?.publicKey ?? ''
  const ca = sent.ca ?? stored?.ca ?? ''
  const isTrustAsBefore = [
    [publicKey, stored?.publicKey],
    [ca, stored?.ca],
  ].every(([now, before]) => now === '' || now === before)
  const pwd = sent.pwd ?? (isTrustAsBefore ? stored?.pwd : undefined) ?? ''
  return { type, user, pwd, cmd, ...(publicKey === '' ? {} : { publicKey }), ...(ca === '' ? {} : { ca }) }
}

function withStoredValues(headers: string, stored: string): string {
  const values = new Map(headerPairs(stored).map(([name, value]) => [name.toLowerCase(), value]))
  return headerPairs(headers)
    .map(([name, value], i) => {
      if (value !== undefined && value.trim() !== '') return `${name}:${value}`
      const kept = values.get(name.toLowerCase()) ?? value
      if (kept === undefined) throw noStoredValue(i + 1)
      return `${name}:${kept}`
    })
    .join('|')
}

/** Does not repeat the text: it may be a secret whose name was forgotten. */
function noStoredValue(place: number): Refusal {
  const allowed = 'name:value|name2:value2; a name alone keeps the stored value of the same type and path'
  const text = `healthChecker.headers must be ${allowed}, but header ${place} has no stored value.`
  return new Refusal('invalid-parameter', text, { parameter: 'healthChecker.headers', allowed })
}

function namesOfHeaders(headers: string): string {
  return headerPairs(headers)
    .map(([name]) => name)
    .join('|')
}

/** The value is undefined where there is no colon. */
function headerPairs(headers: string): [name: string, value: string | undefined][] {
  return headers
    .split('|')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const colon = pair.indexOf(':')
      return colon < 0 ? [pair, undefined] : [pair.slice(0, colon), pair.slice(colon + 1)]
    })
}
