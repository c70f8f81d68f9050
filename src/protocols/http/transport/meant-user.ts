import type { Identity } from '../../../core/access/identity.ts'
import { Refusal } from '../../../core/refusal.ts'
import { queryOf } from '../../parameters/request-target.ts'
import type { HttpCaller } from '../routing/route.ts'

/** The header by which a page says for which user a request is meant, percent-encoded. */
const HEADER = 'waypost-user'
/** The parameter in its place where a browser sets no headers: streams of events, links. */
const PARAMETER = 'forUser'

/** The user for whom a page means a request; undefined where it does not say so. */
export function meantUser({ headers }: Pick<HttpCaller, 'headers'>, url: string): string | undefined {
  const named = headers[HEADER]
  if (typeof named === 'string') return decoded(named)
  if (!url.includes(PARAMETER)) return undefined
  return new URLSearchParams(queryOf(url)).get(PARAMETER) ?? undefined
}

/** The identity, if it is the user who is meant. Throws Refusal `other-user`: all pages of a browser have one cookie. */
export function onlyMeant(identity: Identity, meant: string): Identity {
  if (identity.kind !== 'user' || identity.username === meant) return identity
  const message = `This request is meant for ${meant}. The browser is signed in as another user.`
  throw new Refusal('other-user', message)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
