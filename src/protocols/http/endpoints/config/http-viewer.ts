import type { Viewer } from '../../../../core/config/state/viewer.ts'
import type { HttpCaller, HeaderNote } from '../../routing/route.ts'

/** The value of a header without the blanks around it; undefined where it is absent or empty. */
export function headerText({ headers }: Pick<HttpCaller, 'headers'>, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  const text = (Array.isArray(value) ? value[0] : value)?.trim()
  return text === '' ? undefined : text
}

/** The header by which a client of HTTP says its tag with everything that it reads. */
export const TAG_HEADER = 'Vipserver-Tag'

/** The client of a request, as gray versions tell clients apart. `tag`: the request asks for the version of that tag alone. */
export function httpViewer(caller: HttpCaller, tag?: string): Viewer {
  const { ip } = caller
  if (tag !== undefined) return { ip, tag, asksForTag: true }
  // Nearly all requests: nothing is made for them.
  if (caller.headers['vipserver-tag'] === undefined) return caller
  return { ip, tag: headerText(caller, TAG_HEADER) }
}

const HEADER = 'casMd5'

/** The header by which a change of an item depends on its current version. */
export const CAS_HEADER: Readonly<Record<string, HeaderNote>> = {
  [HEADER]: { description: 'The same as the parameter casMd5; it goes before that.', required: false },
}

/** The md5 that a change depends on: of the header, or of the parameter. */
export function casMd5Of(
  caller: Pick<HttpCaller, 'headers'>,
  params: { readonly casMd5?: string },
): string | undefined {
  return headerText(caller, HEADER) ?? params.casMd5
}

/** How the library of a client names itself: in User-Agent, or without one in Client-Version. */
export function agentOf({ userAgent, headers }: Pick<HttpCaller, 'userAgent' | 'headers'>): string {
  const version = headers['client-version']
  // The npm library leaves it to Node.js to name itself there.
  const isNameless = userAgent === '' || userAgent.includes('Node.js/')
  return isNameless && typeof version === 'string' ? version : userAgent
}
