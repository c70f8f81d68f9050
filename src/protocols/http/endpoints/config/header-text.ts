import type { HttpCaller } from '../../routing/route.ts'

/** The value of a header without the blanks around it; undefined where it is absent or empty. */
export function headerText({ headers }: Pick<HttpCaller, 'headers'>, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  const text = (Array.isArray(value) ? value[0] : value)?.trim()
  return text === '' ? undefined : text
}
