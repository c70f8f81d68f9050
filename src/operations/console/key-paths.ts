import { isSecretKey, judged, type Secrecy } from '../../formats/secret-keys.ts'

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
  readonly name: string
  /** Whether the wanted text is in the path up to this key. */
  readonly isWanted: boolean
  /** The end of that path: as much as may be the beginning of the wanted text. */
  readonly end: string
  readonly secrecy: Secrecy
  /** The secret key that it is, or is below; else empty. */
  readonly secret: string
}

/** The result for a line. */
export interface KeyLine {
  /** Whether the line has a key whose path has the wanted text. */
  readonly isWanted: boolean
  /**
   * The key of a line without a key, such as a line of a long value. For a line with a key, the secret key that it is below, or the
   * secret name beside its value; else empty.
   */
  readonly under: string
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
  /** The last line with a key: its value may continue. */
  #last: Parent | undefined
  /** The last value of a `name`, and its indentation. */
  #named = { indent: 0, text: '' }

  /** @param wanted In lower case; the empty text is in every path. */
  constructor(wanted: string) {
    this.#wanted = wanted
  }

  /** Reads the next line: its beginning is enough. */
  read(line: string): KeyLine {
    const head = line.slice(0, HEAD_LENGTH)
    const at = separatorIn(head)
    const indent = INDENT.exec(head)?.[0].length ?? 0
    const name = at < 0 ? undefined : nameIn(head.slice(indent, at))
    if (name === undefined) return { isWanted: false, under: this.#above(line) }
    while (this.#parents.length > 0 && this.#parents.at(-1)!.indent >= indent) this.#parents.pop()
    const key = this.#keyBelow(this.#parents.at(-1), { indent, name })
    this.#last = key
    if (hasOthersBelow(head.slice(at + 1))) this.#parents.push(key)
    const under = this.#secretBeside(key, head.slice(at + 1)) || (key.secret === name ? '' : key.secret)
    return { isWanted: key.isWanted, under }
  }

  #keyBelow(parent: Parent | undefined, { indent, name }: Pick<Parent, 'indent' | 'name'>): Parent {
    const path = (parent === undefined ? '' : `${parent.end}.`) + name.toLowerCase()
    const isWanted = parent?.isWanted === true || path.includes(this.#wanted)
    const secrecy = judged(name, parent?.secrecy ?? 'none')
    const secret = secrecy === 'none' ? '' : isSecretKey(name) ? name : (parent?.secret ?? '')
    const end = path.slice(Math.max(0, path.length - this.#wanted.length))
    return { indent, name, isWanted, end, secrecy, secret }
  }

  /** The secret name beside a value: `name: DB_PASSWORD` in the lines before `value: x`. */
  #secretBeside({ indent, name }: Parent, rest: string): string {
    if (/^(?:name|key)$/i.test(name)) this.#named = { indent, text: rest.replaceAll(/["',]/g, '').trim() }
    const isValue = /^value$/i.test(name) && this.#named.indent === indent
    return isValue && isSecretKey(this.#named.text) ? this.#named.text : ''
  }

  #above(line: string): string {
    const indent = line.length - line.trimStart().length
    // The entries of a list may be as far in as its key.
    const isEntry = /^\s*- /.test(line.slice(0, HEAD_LENGTH))
    const found =
      this.#last !== undefined && this.#last.indent < indent
        ? this.#last
        : this.#parents.findLast((parent) => parent.indent < indent + (isEntry ? 1 : 0))
    return found === undefined ? '' : found.secret || found.name
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
