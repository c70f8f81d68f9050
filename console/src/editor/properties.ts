/** A line of a properties text, with its place. */
export interface Property {
  readonly key: string
  readonly value: string
  readonly from: number
  readonly to: number
}

/** The properties in a text, in order. A line that ends with a backslash goes on in the next one. */
export function propertiesIn(text: string): Property[] {
  const found: Property[] = []
  const lines = text.split('\n')
  let at = 0
  for (let index = 0; index < lines.length; index++) {
    const from = at
    let line = lines[index]!
    at += line.length + 1
    if (/^\s*(?:[#!]|$)/.test(line)) continue
    while (/(?:^|[^\\])(?:\\\\)*\\\r?$/.test(line) && index + 1 < lines.length) {
      const next = lines[++index]!
      at += next.length + 1
      line = line.replace(/\\\r?$/, '') + next.trimStart()
    }
    const [, key = '', value = ''] =
      /^\s*((?:\\.|[^\\:=\s])*)(?:\s*[:=]\s*|\s+|$)(.*)$/.exec(line.replace(/\r$/, '')) ?? []
    found.push({ key: unescaped(key), value: unescaped(value), from, to: from + lines[index]!.length })
  }
  return found
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f' }

function unescaped(text: string): string {
  return text.replace(/\\(?:u([\da-fA-F]{4})|(.))/g, (_, code: string | undefined, character: string) =>
    code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
