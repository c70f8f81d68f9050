/**
 * No regular expression that sees what clients send may run away. Each one of src is tried with long texts that are
 * made to mislead it: runs of the characters it speaks of, which end in something that it does not want.
 */
import { createContext, Script } from 'node:vm'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import { apiDocument } from '../../src/server/doors/api-document.ts'
import { sourceFiles } from '../support/sources.ts'

/** Where texts of clients, of those who are probed, and of import files go through. */
const SEEN_BY_CLIENTS = ['protocols', 'core', 'subscribers', 'probes', 'feed', 'archive', 'http2']

const LENGTH = 20_000
/** With this number of characters a linear walk takes well under a millisecond, a quadratic one seconds. */
const LIMIT_MS = 100

interface Found {
  readonly source: string
  readonly flags: string
  readonly where: string
  readonly longest: number
}

/** Every literal, with its file and line. */
function literals(): Found[] {
  const files = sourceFiles().filter(({ file }) => SEEN_BY_CLIENTS.includes(file.split('/')[1]!))
  return files.flatMap(({ file, code }) => literalsOf(file, code))
}

function literalsOf(file: string, code: string): Found[] {
  const found: Found[] = []
  new Visitor({
    Literal: (node) => {
      if (!('regex' in node) || !node.regex) return
      const { pattern, flags } = node.regex
      const where = `${file}:${code.slice(0, node.start).split('\n').length}`
      found.push({ source: pattern, flags, where, longest: LENGTH })
    },
  }).visit(parseSync(file, code).program)
  return found
}

/** The patterns of parameters, judged after their length. */
function patternsOfParameters(): Found[] {
  const found = new Map<string, Found>()
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { pattern, maxLength } = value as { pattern?: unknown; maxLength?: number }
    if (typeof pattern === 'string')
      found.set(pattern, {
        source: pattern,
        flags: 'u',
        where: 'a parameter',
        longest: Math.min(maxLength ?? LENGTH, LENGTH),
      })
    for (const inner of Object.values(value)) walk(inner)
  }
  walk(JSON.parse(apiDocument()))
  return [...found.values()]
}

/** The parts of a pattern: its own characters, the classes' usual ones, and its longest words. */
function pumpsOf(source: string): string[] {
  const words = source
    .replace(/\\[a-zA-Z](\{[^}]*\})?|[()[\]{}|^$+*?]/g, ' ')
    .split(' ')
    .filter((word) => word !== '')
  const single = [...new Set(Array.from(`${source}a0A _-./:=,;%"\\\t\n\r\u0000\u4e00é`))]
  const pairs = ['a ', ' a', '0.', 'a,', 'a:', 'a=', '\\"', '%2', '<a', '--', '\r\n', 'a\n', ' \n']
  return [...new Set([...single, ...words, ...pairs])].filter((pump) => pump !== '')
}

/** Text before and after a run. The start prevents an anchor from matching all of it. */
const FRAMES = [
  ['', '\u0001'],
  ['', '!'],
  ['!', '\u0001'],
  ['a', 'a!'],
] as const

// Patterns can be interrupted in there.
const place = createContext({ text: '', pattern: /x/ })
const replacing = new Script('text.replace(pattern, "").length')

/** The longest that any of the texts takes, and which it was; stops at the first that takes too long. */
function worstOf({ source, flags, longest }: Found): { ms: number; text: string } {
  let worst = { ms: 0, text: '' }
  const pattern = new RegExp(source, flags.replace('y', ''))
  for (const pump of pumpsOf(source)) {
    const body = pump.repeat(Math.floor(longest / pump.length))
    for (const [start, end] of FRAMES) {
      const ms = timeOf(pattern, start + body + end)
      if (ms > worst.ms)
        worst = { ms, text: [start, pump, end].map((part) => JSON.stringify(part)).join(' ') }
      if (ms > LIMIT_MS) return worst
    }
  }
  return worst
}

function timeOf(pattern: RegExp, text: string): number {
  const once = (): number => {
    const began = performance.now()
    try {
      Object.assign(place, { text, pattern })
      replacing.runInContext(place, { timeout: 4 * LIMIT_MS })
    } catch {
      return 4 * LIMIT_MS
    }
    return performance.now() - began
  }
  const ms = once()
  // A pause of the machine is no fault of the pattern.
  return ms > LIMIT_MS ? Math.min(ms, once(), once()) : ms
}

const all = [...literals(), ...patternsOfParameters()]

test('they are found', () => {
  expect(all.length).toBeGreaterThan(30)
  expect(literalsOf('a.ts', 'const a = /x+/g').map(({ source }) => source)).toEqual(['x+'])
})

test('a pattern that runs away would be found', () => {
  const where = 'here'
  for (const source of ['(a+)+$', ' +$', '(a|a)*$', '(.*),(.*),(.*)!'])
    expect(worstOf({ source, flags: '', where, longest: LENGTH }).ms, source).toBeGreaterThan(LIMIT_MS)
})

test.each(all.map((found) => [`/${found.source}/${found.flags}`, found] as const))(
  '%s',
  (_, found) => {
    const { ms, text } = worstOf(found)
    expect(ms, `${found.where}: ${text} of ${found.longest} characters took ${ms} ms`).toBeLessThan(LIMIT_MS)
  },
  60_000,
)
