/*
 * Scalars of YAML as metadata files hold them: plain, 'single' or "double" quoted, folded over lines as common
 * emitters fold what is longer than a line. Reading is linear in the length of the text.
 */

/** A scalar and where the text goes on behind it; `null` for an absent value. */
export interface Scalar {
  readonly value: string | null
  readonly end: number
}

/** Reads the scalar that begins at `at`; lines that belong to a plain one are indented by more than `indent`. */
export function readScalar(text: string, at: number, indent: number): Scalar {
  if (text[at] === "'") return readQuoted(text, at, singleQuoted)
  if (text[at] === '"') return readQuoted(text, at, doubleQuoted)
  return readPlain(text, at, indent)
}

/** A text as a scalar on one line, quoted where it might be read as something else. */
export function writeScalar(value: string | null): string {
  if (value === null) return 'null'
  return PLAIN.test(value) && !RESERVED.has(value.toLowerCase())
    ? value
    : escapeUnprintable(JSON.stringify(value))
}

/** JSON with escapes for all that a reader of YAML might take for a line break or refuse. */
export function escapeUnprintable(json: string): string {
  return json.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    const code = character.codePointAt(0)!.toString(16)
    return code.length > 4 ? surrogates(character) : `\\u${code.padStart(4, '0')}`
  })
}

const PLAIN = /^[A-Za-z_][\w.-]*$/
const RESERVED = new Set(['null', 'true', 'false', 'yes', 'no', 'on', 'off', 'y', 'n'])

function surrogates(character: string): string {
  return [0, 1].map((unit) => `\\u${character.charCodeAt(unit).toString(16)}`).join('')
}

/** Plain text, up to a comment; following lines that are indented more belong to it. */
function readPlain(text: string, at: number, indent: number): Scalar {
  let end = lineEnd(text, at)
  let value = plainLine(text.slice(at, end))
  if (/^[[{|>&*!%@`]/.test(value) && value !== '[]') throw new SyntaxError(`unexpected ${value.slice(0, 1)}`)
  for (;;) {
    const next = end + 1
    const stop = lineEnd(text, next)
    const line = text.slice(next, stop)
    const depth = line.search(/[^ ]/)
    if (next > text.length || depth <= indent || line[depth] === '#' || value === '') break
    value += ` ${plainLine(line)}`
    end = stop
  }
  return { value: value === '' || value === '~' || value === 'null' ? null : value, end }
}

function plainLine(line: string): string {
  const comment = line.indexOf(' #')
  return (line[0] === '#' ? '' : comment < 0 ? line : line.slice(0, comment)).trim()
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** What stands at a place of a quoted text: a piece of the value, its end, or a fold. */
type Piece = { readonly text: string; readonly next: number } | 'end' | 'fold'

function readQuoted(text: string, start: number, pieceAt: (text: string, at: number) => Piece): Scalar {
  const pieces: string[] = []
  let at = start + 1
  while (at < text.length) {
    const piece = pieceAt(text, at)
    if (piece === 'end') return { value: pieces.join(''), end: endOfValue(text, at + 1) }
    if (piece === 'fold') {
      const next = skip(text, at, ' \t\r\n')
      const lines = text.slice(at, next).split('\n').length - 1
      pieces.push(lines === 1 ? ' ' : '\n'.repeat(lines - 1))
      at = next
    } else {
      pieces.push(piece.text)
      at = piece.next
    }
  }
  throw new SyntaxError('a quoted text does not end')
}

function singleQuoted(text: string, at: number): Piece {
  const character = text[at]!
  if (isFold(text, at)) return 'fold'
  if (character !== "'") return run(text, at)
  return text[at + 1] === "'" ? { text: "'", next: at + 2 } : 'end'
}

const ESCAPES = new Map([
  ...named('0abt\tnvfre', '\0\u0007\b\t\t\n\v\f\r\u001b'),
  ...named(' "/\\N_LP', ' "/\\\u0085\u00a0\u2028\u2029'),
])

function named(names: string, meanings: string): [string, string][] {
  return Array.from(names, (name, index) => [name, meanings[index]!])
}

const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

function doubleQuoted(text: string, at: number): Piece {
  const character = text[at]!
  if (character === '"') return 'end'
  if (isFold(text, at)) return 'fold'
  if (character !== '\\') return run(text, at)
  const name = text[at + 1] ?? ''
  if (name === '\n') return { text: '', next: skip(text, at + 2, ' \t') }
  const digits = Object.hasOwn(HEX_DIGITS, name) ? HEX_DIGITS[name]! : 0
  if (digits > 0)
    return { text: hexCharacter(text.slice(at + 2, at + 2 + digits), digits), next: at + 2 + digits }
  const meaning = ESCAPES.get(name)
  if (meaning === undefined) throw new SyntaxError('an unknown escape')
  return { text: meaning, next: at + 2 }
}

/** What can be taken together because nothing in it has a meaning; one character otherwise. */
function run(text: string, at: number): Piece {
  ORDINARY.lastIndex = at
  const piece = ORDINARY.exec(text)?.[0] ?? text[at]!
  return { text: piece, next: at + piece.length }
}

const ORDINARY = /[^'"\\\s]+/y

function hexCharacter(hex: string, digits: number): string {
  const code = hex.length === digits && /^[0-9A-Fa-f]+$/.test(hex) ? Number.parseInt(hex, 16) : Infinity
  if (code > 0x10ffff) throw new SyntaxError('an escape that stands for no character')
  return String.fromCodePoint(code)
}

/** Whether a line ends here, but for blanks that then do not count. Only the first of a run of blanks looks ahead. */
function isFold(text: string, at: number): boolean {
  if (text[at] === '\n') return true
  if (!BLANKS.includes(text[at]!) || (BLANKS.includes(text[at - 1] ?? 'x') && !isEscaped(text, at - 1)))
    return false
  return text[skip(text, at, BLANKS)] === '\n'
}

const BLANKS = ' \t\r'

/** Whether a backslash stands before the character; good enough to tell an escaped blank from a plain one. */
function isEscaped(text: string, at: number): boolean {
  return text[at - 1] === '\\'
}

function skip(text: string, at: number, characters: string): number {
  let next = at
  while (next < text.length && characters.includes(text[next]!)) next++
  return next
}

/** Behind a quoted text nothing may follow on its line but a comment. */
function endOfValue(text: string, at: number): number {
  const end = lineEnd(text, at)
  const rest = text.slice(at, end).trim()
  if (rest !== '' && !rest.startsWith('#')) throw new SyntaxError('text behind a quoted text')
  return end
}
