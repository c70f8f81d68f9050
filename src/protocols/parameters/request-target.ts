/** The path of the request target, also where a proxy's form of it names the host. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, '')
}

/** What follows the question mark, undecoded; undefined where there is none. */
export function queryOf(url: string): string | undefined {
  const mark = url.indexOf('?')
  return mark < 0 ? undefined : url.slice(mark + 1)
}
