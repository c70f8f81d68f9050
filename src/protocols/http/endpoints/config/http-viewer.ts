import type { Viewer } from '../../../../core/config/state/config-view.ts'
import type { HttpCaller } from '../../routing/route.ts'
import { headerText } from './header-text.ts'

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
