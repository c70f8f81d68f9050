import type { HttpCaller } from '../routing/route.ts'

/** How the library of a client names itself: in User-Agent, or without one in Client-Version. */
export function agentOf({ userAgent, headers }: Pick<HttpCaller, 'userAgent' | 'headers'>): string {
  const version = headers['client-version']
  return userAgent === '' && typeof version === 'string' ? version : userAgent
}
