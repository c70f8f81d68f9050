import type { DeclaredValue, Range } from './tree.ts'

/** A name of an element, an attribute or an entity. */
export const NAME =
  // oxlint-disable-next-line no-misleading-character-class
  /[:A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD][:A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\-.0-9\u00B7\u0300-\u036F\u203F\u2040]*/y
const ENTITY =
  /^<!ENTITY[ \t\r\n]+(%[ \t\r\n]+)?([^\s<>&%;"']+)[ \t\r\n]+(?:("[^"]*"|'[^']*')|(?:SYSTEM|PUBLIC)[ \t\r\n][^]*)[ \t\r\n]*>$/
/** An attribute of `<!ATTLIST …>`, with the value that elements without it have. */
const DEFAULT =
  /(?<![^\s"'()|])([^\s"'()|]+)[ \t\r\n]+(?:[A-Z]+|(?:NOTATION[ \t\r\n]+)?\([^()"']*\))[ \t\r\n]+(?:#FIXED[ \t\r\n]+)?("[^"]*"|'[^']*')/g
const DECLARED = /^<!(?:ELEMENT|ATTLIST|NOTATION)[ \t\r\n]+[^ \t\r\n][^]*>$/
const PREDEFINED = ['lt', 'gt', 'amp', 'quot', 'apos']

/** A declaration of the type of a text: the declarations in it, and the entities. */
export interface Doctype {
  readonly to: number
  readonly subset: string
  /** Unknown where others may be declared in another file. */
  readonly entities: ReadonlySet<string> | 'unknown'
}

/** Reads `<!DOCTYPE …>`; a number is the place of an error. Values are added to `values` up to there. */
export function readDoctype(text: string, from: number, values: DeclaredValue[]): Doctype | number {
  const begin =
    /<!DOCTYPE[ \t\r\n]+[^\s<>[\]"'/]+(?:[ \t\r\n]+(SYSTEM|PUBLIC[ \t\r\n]+(?:"[^"]*"|'[^']*'))[ \t\r\n]+(?:"[^"]*"|'[^']*'))?[ \t\r\n]*/y
  begin.lastIndex = from
  const found = begin.exec(text)
  if (found === null) return from
  const at = from + found[0].length
  const isOpen = found[1] !== undefined
  if (text[at] === '>') return { to: at + 1, subset: '', entities: isOpen ? 'unknown' : new Set() }
  if (text[at] !== '[') return at
  return readSubset(text, { from: at + 1, isOpen, values })
}

function readSubset(
  text: string,
  { from, isOpen, values }: { from: number; isOpen: boolean; values: DeclaredValue[] },
): Doctype | number {
  const part =
    /[ \t\r\n]+|<!--(?:[^-]|-[^-])*-->|<\?[^]*?\?>|%[^\s;<>&%]+;|<![A-Z]+(?:[^"'>]|"[^"]*"|'[^']*')*>/y
  const entities = new Map<string, string>()
  let isUnknown = isOpen
  part.lastIndex = from
  let at = from
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [piece] = found
    const place = at
    at = part.lastIndex
    if (piece.startsWith('%')) isUnknown = true
    if (!/^<![A-Z]/.test(piece)) continue
    const [isEntity, isParameter, name = '', value = ''] = ENTITY.exec(piece) ?? []
    if (isEntity === undefined ? !DECLARED.test(piece) : !isName(name)) return place
    if (value !== '')
      values.push({
        name,
        kind: isParameter === undefined ? 'entity' : 'parameter',
        ...within(piece, value, place),
      })
    else if (piece.startsWith('<!ATTLIST'))
      for (const { 0: part, 1: attribute = '', 2: quoted = '', index } of piece.matchAll(DEFAULT))
        values.push({ name: attribute, kind: 'attribute', ...within(part, quoted, place + index) })
    // The first declaration counts.
    if (isEntity !== undefined && isParameter === undefined && !entities.has(name))
      entities.set(name, value.slice(1, -1))
  }
  const end = /\][ \t\r\n]*>/y
  end.lastIndex = at
  const [whole] = end.exec(text) ?? []
  if (whole === undefined) return at
  const usable = isUnknown ? ('unknown' as const) : usableOf(entities)
  return { to: at + whole.length, subset: text.slice(from, at), entities: usable }
}

/** The range inside the quotes that end a declaration, or a part of one. `at`: its place in the text. */
function within(declaration: string, quoted: string, at: number): Range {
  const from = at + declaration.lastIndexOf(quoted) + 1
  return { from, to: from + quoted.length - 2 }
}

/** Whether all of a text is a name. */
export function isName(text: string): boolean {
  NAME.lastIndex = 0
  return NAME.exec(text)?.[0] === text
}

/** The entities that neither have themselves in them nor others that are not declared. */
function usableOf(entities: ReadonlyMap<string, string>): ReadonlySet<string> {
  const usable = new Set<string>()
  const judged = new Map<string, boolean>()
  const judge = (name: string): boolean => {
    const known = judged.get(name)
    if (known !== undefined) return known
    // While it is judged: one that leads back to itself is not usable.
    judged.set(name, false)
    const value = entities.get(name)
    const isUsable =
      value !== undefined &&
      referencesIn(value).every((one) => one.isRight && (one.name === '' || judge(one.name)))
    judged.set(name, isUsable)
    if (isUsable) usable.add(name)
    return isUsable
  }
  for (const name of entities.keys()) judge(name)
  return usable
}

/** A reference in a text; `name`: of an entity that must be declared, else empty. */
export interface Reference {
  readonly at: number
  readonly name: string
  readonly isRight: boolean
}

/** The references of a text, and each `&` that is none. */
export function referencesIn(text: string): Reference[] {
  const found: Reference[] = []
  const reference = /&(?:#(\d{1,10});|#x([\da-fA-F]{1,10});|([^\s&;#<>"'%]+);)?/g
  for (const { index: at, 1: decimal, 2: hex, 3: name } of text.matchAll(reference)) {
    const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10)
    const isRight = name === undefined ? isCharacter(code) : true
    found.push({ at, name: name === undefined || PREDEFINED.includes(name) ? '' : name, isRight })
  }
  return found
}

const isCharacter = (code: number): boolean =>
  (code >= 0x20 && code <= 0xd7_ff) ||
  [9, 10, 13].includes(code) ||
  (code >= 0xe0_00 && code <= 0xff_fd) ||
  (code >= 0x1_00_00 && code <= 0x10_ff_ff)

const NO_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

/** The place of the first character that no XML has; -1 where there is none. */
export function isNoCharacter(text: string, from: number, to: number): number {
  const at = text.slice(from, to).search(NO_CHARACTER)
  return at < 0 ? -1 : from + at
}
