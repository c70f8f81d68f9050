/** The facts of a request that a cookie depends on. */
interface Requested {
  /** Whether the browser speaks TLS, with this server or with a trusted proxy. */
  readonly isSecure: boolean
  readonly headers: { readonly cookie?: string | undefined }
}

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict'

/** With TLS, the prefix keeps pages of other names of the same domain from setting it. */
function nameFor(isSecure: boolean): string {
  return isSecure ? '__Host-waypost-session' : 'waypost-session'
}

/** The header `Set-Cookie` that gives a browser the id of its session. The browser forgets it when it is closed. */
export function sessionCookie({ isSecure }: Pick<Requested, 'isSecure'>, browserId: string): string {
  return `${nameFor(isSecure)}=${browserId}; ${ATTRIBUTES}${isSecure ? '; Secure' : ''}`
}

/** The header `Set-Cookie` that removes it. */
export function endedCookie({ isSecure }: Pick<Requested, 'isSecure'>): string {
  return `${nameFor(isSecure)}=; Max-Age=0; ${ATTRIBUTES}${isSecure ? '; Secure' : ''}`
}

/**
 * The ids of sessions in the header `Cookie`, in its order. Without TLS there may be several: another host of the domain, or
 * another program on this host, can set cookies of this name too. With TLS, only the cookie with the prefix counts.
 */
export function sessionsIn({ isSecure, headers }: Requested): string[] {
  const start = `${nameFor(isSecure)}=`
  const cookies = (headers.cookie ?? '').split(';').map((one) => one.trim())
  const ids = cookies.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length))
  return ids.filter((id) => /^[\w-]{43}$/.test(id))
}
