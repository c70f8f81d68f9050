/** Reads TOML. It is loaded when a TOML text is checked or compared. */
import { parse, TomlError } from 'smol-toml'
import type { Finding } from './finding.ts'

const TWICE = 'trying to redefine'

/** The first error of a TOML text; a key that occurs twice is an error too. */
export function checkToml(text: string): Finding[] {
  try {
    parse(text, { integersAsBigInt: 'asNeeded' })
    return []
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return [findingOf(text, error)]
  }
}

/** The value of a TOML text; undefined where it cannot be read. */
export function readToml(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parse(text, { integersAsBigInt: 'asNeeded' }) }
  } catch {
    return undefined
  }
}

function findingOf(text: string, { line, column, message }: TomlError): Finding {
  const lines = text.split('\n')
  const from = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  const own = lines[line - 1] ?? ''
  const said = message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')
  const isTwice = said.startsWith(TWICE)
  const [key = ''] = /^[^=\]]*/.exec(own.replace(/^\s*\[{0,2}/, '')) ?? []
  const at = Math.min(from + (isTwice ? 0 : column - 1), text.length)
  return {
    code: isTwice ? 'duplicateKey' : 'toml',
    text: isTwice ? key.trim() : said,
    from: at,
    to: Math.max(at, Math.min(from + own.length, text.length)),
  }
}
