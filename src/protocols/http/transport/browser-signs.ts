import type { IncomingHttpHeaders } from 'node:http'

/** Headers that browsers send and pages cannot set. `Sec-Fetch-Mode` is not among them: Node's own fetch sends it alone. */
const FETCH_METADATA = ['sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user', 'sec-ch-ua', 'sec-gpc']

/** Whether a browser sent this request, as far as its head shows: with a link, a form, an image or a script of some page. */
export function isOfBrowser(headers: IncomingHttpHeaders): boolean {
  const { origin, referer, 'user-agent': agent } = headers
  if (origin !== undefined || referer !== undefined || agent?.startsWith('Mozilla/') === true) return true
  return FETCH_METADATA.some((name) => headers[name] !== undefined)
}

/**
 * Whether a browser may have sent this request: it has headers that browsers send and client libraries do not. A page
 * can replace its `User-Agent`, but not all these headers. Node's fetch sends `Accept-Language: *`.
 */
export function mayBeOfBrowser(headers: IncomingHttpHeaders): boolean {
  const { cookie, 'accept-language': languages } = headers
  const namesLanguage = languages !== undefined && languages.trim() !== '*'
  return cookie !== undefined || namesLanguage || isOfBrowser(headers)
}
