/** Reads TOML. It is loaded when a TOML text is read. */
import { parse, TomlError } from 'smol-toml'
import type { Finding } from './finding.ts'
import { newerFormsIn } from './toml-newer-forms.ts'
import { TomlKeys } from './toml-keys.ts'
import type { Reading } from './tree.ts'

const TWICE = 'trying to redefine'

/** Reads a TOML text. A package judges it and gives the first error; the places are found here. */
export function readToml(text: string): Reading {
  const { longTables, ...keys } = new TomlKeys(text).read()
  const findings = findingsIn(text)
  // The package takes TOML 1.1, which readers of applications refuse.
  return { ...keys, findings: findings.length > 0 ? findings : newerFormsIn(text, keys.roots, longTables) }
}

/** The first error of a TOML text; a key that occurs twice is an error too. */
function findingsIn(text: string): Finding[] {
  try {
    // The package refuses this key, which is as long as the other one, and readers of applications take it.
    parse(text.replaceAll('__proto__', '__prot0__'), { integersAsBigInt: 'asNeeded' })
    return []
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return [findingOf(text, error)]
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
