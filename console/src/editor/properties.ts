/** A line of a properties text, with its place. */
export interface Property {
  readonly key: string
  readonly value: string
  readonly from: number
  readonly to: number
}

/** The properties in a text, in order. A line that ends with a backslash continues in the next one. */
export function propertiesIn(text: string): Property[] {
  const found: Property[] = []
  const lines = text.split('\n')
  let at = 0
  for (let index = 0; index < lines.length; index++) {
    const from = at
    const pieces = [lines[index]!]
    at += lines[index]!.length + 1
    if (/^\s*(?:[#!]|$)/.test(lines[index]!)) continue
    while (goesOn(pieces.at(-1)!) && index + 1 < lines.length) {
      pieces.push(pieces.pop()!.slice(0, -1), lines[++index]!.trimStart())
      at += lines[index]!.length + 1
    }
    const [, key = '', value = ''] =
      /^\s*((?:\\.|[^\\:=\s])*)(?:\s*[:=]\s*|\s+|$)(.*)$/s.exec(pieces.join('')) ?? []
    found.push({ key: unescaped(key), value: unescaped(value), from, to: at - 1 })
  }
  return found
}

/** Whether a line ends with an odd number of backslashes. */
function goesOn(line: string): boolean {
  let start = line.length
  while (line[start - 1] === '\\') start--
  return (line.length - start) % 2 === 1
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f' }

function unescaped(text: string): string {
  return text.replace(/\\(?:u([\da-fA-F]{4})|(.))/gs, (_, code: string | undefined, character: string) =>
    code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
