/** Only this much of a line is read: a key is near the beginning. */
const HEAD_LENGTH = 512
/** The white space and the dash of a list before a key. */
const INDENT = /^\s*(?:- +)?/
/** A key does not begin like this, once its quote is taken off. */
const NO_KEY = /^[\s"'#{}[\],]/
/** A key does not contain this. */
const NOT_IN_KEY = /["'#]/

/** A key that has others below it. */
interface Parent {
  readonly indent: number
  /** Whether the wanted text is in the path up to this key. */
  readonly isWanted: boolean
  /** The end of that path: as much as may be the beginning of the wanted text. */
  readonly end: string
}

/**
 * Reads lines and says which ones begin with a key whose path, such as `server.port`, has a text in it, in any case.
 * The path comes from the indentation of the lines before. That reads YAML and JSON as people write them, properties,
 * and TOML without its sections. It is for finding, not for parsing.
 *
 * The time for a line depends on its length and the length of the wanted text, not on its depth: paths are not joined.
 */
export class KeyPaths {
  readonly #wanted: string
  readonly #parents: Parent[] = []

  /** @param wanted In lower case; the empty text is in every path. */
  constructor(wanted: string) {
    this.#wanted = wanted
  }

  /** Reads the next line: its beginning is enough. Whether it has a key whose path has the wanted text. */
  hasWanted(line: string): boolean {
    const head = line.slice(0, HEAD_LENGTH)
    const at = separatorIn(head)
    const indent = INDENT.exec(head)?.[0].length ?? 0
    const name = at < 0 ? undefined : nameIn(head.slice(indent, at))
    if (name === undefined) return false
    while (this.#parents.length > 0 && this.#parents.at(-1)!.indent >= indent) this.#parents.pop()
    const key = this.#keyBelow(this.#parents.at(-1), { indent, name })
    if (hasOthersBelow(head.slice(at + 1))) this.#parents.push(key)
    return key.isWanted
  }

  #keyBelow(parent: Parent | undefined, { indent, name }: { indent: number; name: string }): Parent {
    const path = (parent === undefined ? '' : `${parent.end}.`) + name.toLowerCase()
    const isWanted = parent?.isWanted === true || path.includes(this.#wanted)
    return { indent, isWanted, end: path.slice(Math.max(0, path.length - this.#wanted.length)) }
  }
}

/** The place of the first `:` or `=`, or -1. */
function separatorIn(head: string): number {
  const [colon, equals] = [head.indexOf(':'), head.indexOf('=')]
  return colon < 0 || equals < 0 ? Math.max(colon, equals) : Math.min(colon, equals)
}

/** The key in the text between the indentation and the separator, without its quotes. */
function nameIn(text: string): string | undefined {
  const closed = text.trimEnd().replace(/["']$/, '')
  const name = closed.replace(/^["']/, '')
  return name === '' || NO_KEY.test(name) || NOT_IN_KEY.test(name) ? undefined : name
}

/** Whether other keys may follow below: behind the key is nothing, a bracket, or a mark of YAML. */
function hasOthersBelow(rest: string): boolean {
  const value = rest.trim()
  return value === '' || value === '{' || value === '[' || '&!#|>'.includes(value.charAt(0))
}
