/** Path and query of the request target, also where a proxy's form of it names the host. */
export function originFormOf(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
}

/** The path of the request target, also where a proxy's form of it names the host. */
export function pathOf(url: string): string {
  const target = originFormOf(url)
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** The text after the question mark, undecoded; undefined without a question mark. */
export function queryOf(url: string): string | undefined {
  const mark = url.indexOf('?')
  return mark < 0 ? undefined : url.slice(mark + 1)
}
