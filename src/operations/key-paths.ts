/** A key that begins a line, perhaps in quotes or behind a dash, before `:` or `=`; and what follows. */
const KEY = /^(\s*(?:- +)?)["']?([^\s"':=#{}[\],][^"':=#]*?)["']?\s*[:=](.*)/
/** What follows a key that has others below it: nothing, a bracket, or a mark of YAML. */
const OPENS = /^\s*(?:[{[]|[&!#|>].*)?\s*$/
/** A key is at the beginning of its line. */
const LOOKED_AT = 512

/** Reads a text line by line. */
export interface KeyPathReader {
  /** The path of the key that the next line begins with. */
  pathOf(line: string): string | undefined
  /** The key that a line without one belongs to, such as a line of a long value; empty where there is none. */
  above(line: string): string
}

/**
 * Gives the path of the key that a line begins with, such as `server.port`, from the indentation of the lines before.
 * That reads YAML and JSON as people write them, properties and TOML without its sections. It is for finding, not for parsing.
 */
export function keyPathReader(): KeyPathReader {
  const parents: { readonly indent: number; readonly name: string }[] = []
  const above = (line: string): string => {
    const indent = line.length - line.trimStart().length
    return parents.findLast((parent) => parent.indent < indent)?.name ?? ''
  }
  const pathOf = (line: string): string | undefined => {
    const [, before, name, rest = ''] = KEY.exec(line.slice(0, LOOKED_AT)) ?? []
    if (before === undefined || name === undefined) return undefined
    const indent = before.length
    while (parents.length > 0 && parents.at(-1)!.indent >= indent) parents.pop()
    const path = [...parents.map((each) => each.name), name].join('.')
    if (OPENS.test(rest)) parents.push({ indent, name })
    return path
  }
  return { pathOf, above }
}
