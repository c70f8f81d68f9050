import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '../../../core/access/identity.ts'
import type { FormValues } from '../../parameters/form-values.ts'
import type { HttpCaller, Route } from '../routing/route.ts'

/** What a request carries to show who sends it, besides the cookie of a browser. */
export interface Credentials {
  /** That of the header `Authorization: Bearer`, or else of the parameter `accessToken`. */
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
}

/**
 * The credentials of a request. Where there are both, the token counts. A route that has
 * a parameter `username` of its own means somebody else by it, and one that is open to everybody needs no password.
 */
export function credentialsOf(
  headers: IncomingHttpHeaders,
  values: FormValues,
  { params, permission }: Pick<Route, 'params' | 'permission'>,
): Credentials {
  const takesPair = permission.resource !== 'public' && !Object.hasOwn(params.properties, 'username')
  return {
    token: bearerOf(headers) ?? (values.get('accessToken') || undefined),
    pair: takesPair ? pairOf(values) : undefined,
  }
}

/**
 * The token of a request that is answered without reading its parameters: that of the header, or one that stands in the
 * target word for word. Undefined where the parameters must be read to know. Of several, the first counts, as where they are read.
 */
export function plainTokenOf(headers: IncomingHttpHeaders, url: string): string | undefined {
  return bearerOf(headers) ?? PLAIN_TOKEN.exec(/[?&]accessToken=([^&]*)/.exec(url)?.[1] ?? '')?.[0]
}

const PLAIN_TOKEN = /^[\w.-]+$/

const BEARER = 'Bearer '

function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  if (authorization === undefined) return undefined
  // Nearly all clients spell it like this.
  if (authorization.startsWith(BEARER) && !authorization.includes(' ', BEARER.length))
    return authorization.slice(BEARER.length) || undefined
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

function pairOf(values: FormValues): Credentials['pair'] {
  const username = values.get('username')
  const password = values.get('password')
  if (username === undefined || username === '' || password === undefined) return undefined
  return { username, password }
}
