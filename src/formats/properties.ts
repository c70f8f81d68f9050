import { LETTERS } from './escapes.ts'
import type { Finding } from './finding.ts'
import type { Member, Range, Reading } from './tree.ts'

/** A property as it is written, in one line: without the ends of lines that continue, and the blanks in front of the next ones. */
interface Line extends Range {
  readonly text: string
  /** Where the pieces of `text` begin, in it and in the whole text. */
  readonly pieces: readonly (readonly [at: number, place: number])[]
}

/** Separators and blanks are those of `java.util.Properties`: no other white space counts. */
const PARTS = /^((?:\\.?|[^\\:= \t\f])*)([ \t\f]*[:=]?[ \t\f]*)/su
const NAME = /^[^\s"'()]+$/

/** Reads a properties text, as `java.util.Properties` does. */
export function readProperties(text: string): Reading {
  const findings: Finding[] = []
  const members: Member[] = []
  const known = new Set<string>()
  const { lines, comments } = linesIn(text)
  for (const line of lines) {
    const [whole, written] = PARTS.exec(line.text) as unknown as [string, string]
    const { name, value } = { name: unescaped(written), value: line.text.slice(whole.length) }
    const from = placeIn(line, whole.length)
    if (known.has(name)) findings.push({ code: 'lastCounts', text: name, from: line.from, to: line.to })
    known.add(name)
    findings.push(...wrongEscapesIn(line))
    const blanks = blanksAfter(value)
    if (blanks > 0) findings.push({ code: 'blankAtEnd', text: name, from: line.to - blanks, to: line.to })
    members.push({
      name,
      step: NAME.test(name) ? name : JSON.stringify(name),
      key: { from: line.from, to: placeIn(line, written.length) },
      value: { kind: 'scalar', from: Math.min(from, line.to), to: line.to, text: value },
    })
  }
  return { roots: [{ kind: 'map', isText: true, from: 0, to: text.length, members }], findings, comments }
}

/** The lines of a text with LF that have a property, and the comments. */
function linesIn(text: string): { readonly lines: readonly Line[]; readonly comments: readonly Range[] } {
  const found: Line[] = []
  const comments: Range[] = []
  const natural = text.split('\n')
  let at = 0
  for (let index = 0; index < natural.length; index++) {
    const first = natural[index]!
    const from = at + blanksBefore(first)
    const rest = first.slice(from - at)
    at += first.length + 1
    if (rest === '') continue
    if (rest.startsWith('#') || rest.startsWith('!')) {
      comments.push({ from, to: at - 1 })
      continue
    }
    const parts = [rest]
    const pieces: [number, number][] = [[0, from]]
    let length = rest.length
    // A backslash alone has nothing to continue, unless the text ends: then it is an empty key.
    if (rest === '\\' && at < text.length) continue
    while (goesOn(parts.at(-1)!)) {
      parts.push(parts.pop()!.slice(0, -1))
      length--
      const next = natural[index + 1]
      if (next === undefined) break
      index++
      const blanks = blanksBefore(next)
      pieces.push([length, at + blanks])
      parts.push(next.slice(blanks))
      length += next.length - blanks
      at += next.length + 1
    }
    const line = parts.join('')
    found.push({ text: line, from, to: Math.min(at - 1, text.length), pieces })
  }
  return { lines: found, comments }
}

const blanksBefore = (line: string): number => /^[ \t\f]*/.exec(line)![0].length

function blanksAfter(value: string): number {
  let end = value.length
  while (end > 0 && ' \t\f'.includes(value[end - 1]!)) end--
  return value.length - end
}

/** Whether a line ends with an odd number of backslashes. */
function goesOn(line: string): boolean {
  let start = line.length
  while (line[start - 1] === '\\') start--
  return (line.length - start) % 2 === 1
}

/** The place in the whole text of a place in a line. */
function placeIn({ pieces }: Line, at: number): number {
  const [start, place] = pieces.findLast(([begin]) => begin <= at)!
  return place + at - start
}

function wrongEscapesIn(line: Line): Finding[] {
  for (const { 0: escape, index } of line.text.matchAll(/\\(?:u[\da-fA-F]{4}|.)/gs)) {
    if (escape !== '\\u') continue
    const from = placeIn(line, index)
    return [{ code: 'wrongEscape', text: '', from, to: from + 2 }]
  }
  return []
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([\da-fA-F]{4})|(.))/gs, (_, code: string | undefined, character: string) =>
    code === undefined ? (LETTERS[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
