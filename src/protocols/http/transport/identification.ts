import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '../../../core/access/identity.ts'
import type { Refusal } from '../../../core/refusal.ts'
import { findFields, type FoundValue, TOO_LONG } from '../../parameters/form-search.ts'
import { queryOf } from '../../parameters/request-target.ts'
import type { HttpCaller, Route } from '../routing/route.ts'
import { isOfBrowser } from './browser-signs.ts'

/** The credentials in a request, besides the cookie of a browser and a certificate. */
export interface Credentials {
  /** From `Authorization: Bearer`, else the header `accessToken`, else the parameter `accessToken`. */
  readonly token: string | undefined
  /** The parameters `username` and `password`, as one client library sends them with every request. */
  readonly pair: { readonly username: string; readonly password: string } | undefined
}

/** Finds out who sends requests. */
export interface Identification {
  /** At once where that is remembered. Throws, or rejects with, a Refusal where too many try to sign in. */
  identify(credentials: Credentials, caller: HttpCaller): Identity | Promise<Identity>
  /** The user of a token that was verified before; undefined for others. */
  known(token: string): Identity | undefined
  /** Whether a caller of this identity may use routes that are not open to everybody. */
  counts(identity: Identity): boolean
  /** The refusal of a caller who may not, before the operation is known. The audit has it. */
  refuse(caller: HttpCaller, permission: Route['permission']): Refusal
}

/** The parts of a request that are searched for credentials. */
export interface Searched {
  readonly headers: IncomingHttpHeaders
  readonly url: string
  /** The body, where it is a form and has arrived. */
  readonly form: Buffer | undefined
  readonly maxParameters: number
}

/** Whether a route is open to everybody, without credentials. */
export function isOpen({ permission }: Pick<Route, 'permission'>): boolean {
  return permission.resource === 'public'
}

/** More bytes than the longest credential has, even if every byte is encoded. */
const LONGEST_CREDENTIAL = 16 * 1024

const FIELDS = ['accessToken', 'username', 'password'].map((name) => ({
  name,
  longestValue: LONGEST_CREDENTIAL,
}))

/**
 * The credentials of a request, searched in its bytes: nothing else is decoded. If there are a token and a pair, the
 * token counts. If a parameter is repeated, the first counts (query before form), as in the parameters of routes. The
 * pair is not read on routes with an own parameter `username`, which names somebody else, and on routes that are open
 * to everybody. A pair from a browser is ignored: a page of another site could put it into an address, so that failures
 * count against its visitor.
 */
export function credentialsOf(searched: Searched, route: Pick<Route, 'params' | 'permission'>): Credentials {
  const [accessToken, username, password] = found(searched)
  const takesPair = !isOpen(route) && !Object.hasOwn(route.params.properties, 'username')
  // Nobody has a token that is too long: another one that nobody has takes its place.
  const token = accessToken === TOO_LONG ? NOBODYS : accessToken || undefined
  return {
    token: tokenInHead(searched.headers) ?? token,
    pair: takesPair && !isOfBrowser(searched.headers) ? pairOf(username, password) : undefined,
  }
}

function found({ url, form, maxParameters }: Searched): readonly FoundValue[] {
  const query = queryOf(url)
  const bytes = query === undefined ? undefined : Buffer.from(query, 'latin1')
  const inQuery = bytes === undefined ? [] : findFields({ bytes, maxParameters }, FIELDS)
  const inForm = form === undefined ? [] : findFields({ bytes: form, maxParameters }, FIELDS)
  return FIELDS.map((_, index) => inQuery[index] ?? inForm[index])
}

const NOBODYS = '-'

/**
 * The token of a request, without reading its parameters: from a header, or unencoded in the target. Undefined if the
 * parameters must be read to know. If it is repeated, the first counts, as where parameters are read.
 */
export function plainTokenOf(headers: IncomingHttpHeaders, url: string): string | undefined {
  return tokenInHead(headers) ?? tokenIn(url)
}

const PARAMETER = 'accessToken'
const PLAIN_TOKEN = /^[\w.-]+$/

function tokenIn(url: string): string | undefined {
  const place = url.indexOf(PARAMETER)
  if (place < 0) return undefined
  const mark = url.indexOf('?')
  const valueAt = place + PARAMETER.length + 1
  const isField = mark >= 0 && (place === mark + 1 || url[place - 1] === '&') && url[valueAt - 1] === '='
  if (!isField || hasEncodedName(url, mark + 1, place)) return undefined
  const end = url.indexOf('&', place)
  const value = url.slice(valueAt, end < 0 ? url.length : end)
  return PLAIN_TOKEN.test(value) ? value : undefined
}

/** Whether a parameter between these places has an encoded name, which may mean `accessToken`. */
function hasEncodedName(url: string, start: number, end: number): boolean {
  for (let at = url.indexOf('%', start); at >= 0 && at < end; at = url.indexOf('%', at)) {
    const field = url.lastIndexOf('&', at) + 1
    const equals = url.indexOf('=', Math.max(field, start))
    if (equals < 0 || equals > at) return true
    // The value is encoded: continue after it.
    at = url.indexOf('&', at)
    if (at < 0) return false
  }
  return false
}

/** The Java client that manages servers of generation 3 sends the second field only. */
function tokenInHead(headers: IncomingHttpHeaders): string | undefined {
  const { accesstoken } = headers
  return (
    bearerOf(headers) ?? (typeof accesstoken === 'string' && accesstoken !== '' ? accesstoken : undefined)
  )
}

const BEARER = 'Bearer '

function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  if (authorization === undefined) return undefined
  // Nearly all clients spell it like this.
  if (authorization.startsWith(BEARER) && !authorization.includes(' ', BEARER.length))
    return authorization.slice(BEARER.length) || undefined
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

/** Nobody has a name or a password that is too long: such a pair is not even compared. */
function pairOf(username: FoundValue, password: FoundValue): Credentials['pair'] {
  if (typeof username !== 'string' || username === '' || typeof password !== 'string') return undefined
  return { username, password }
}
