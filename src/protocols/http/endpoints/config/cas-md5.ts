import type { HeaderNote, HttpCaller } from '../../routing/route.ts'
import { headerText } from './header-text.ts'

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
