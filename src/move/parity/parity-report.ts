import type { PlanNote } from '../../plan/plan.ts'
import { type CommandResult, EXIT } from '../../command/command-line.ts'
import { printableWord } from '../../command/terminal-text.ts'
import type { KnownServer } from '../old/detect-server.ts'
import { grouped } from '../time-left.ts'
import type { Difference } from './differences.ts'
import { type BothSides, type Concern, KNOWN_DIFFERENCES } from './known-differences.ts'

/** The comparison of one kind. */
export interface ParityRow {
  readonly kind: string
  readonly old: number
  readonly new: number
  readonly differences: readonly Difference[]
}

/** All that a comparison found. */
export interface Findings {
  readonly sides: BothSides
  readonly rows: readonly ParityRow[]
  /** Requests that a server did not answer. */
  readonly failed: readonly PlanNote[]
  readonly notCompared: readonly PlanNote[]
}

/** The most lines of a kind that are printed; `--output json` has all. */
const MOST_SHOWN = 20

/** The output, and the exit code: 1 for differences, otherwise 2 for missing answers. */
export function parityResult({ sides, rows, failed, notCompared }: Findings): CommandResult {
  const differences = rows.flatMap((row) => row.differences)
  const concerns = KNOWN_DIFFERENCES.map(({ text, concerns: of }) => ({ text, concern: of(sides) }))
  const servers = { old: shown(sides.old.first), new: shown(sides.new.first) }
  const code = differences.length > 0 ? EXIT.differs : failed.length > 0 ? EXIT.notFoundOut : EXIT.done
  const counts = rows.map((row) => ({
    kind: row.kind,
    old: row.old,
    new: row.new,
    differences: row.differences.length,
  }))
  const lines = [
    `old: ${servers.old.text}`,
    `new: ${servers.new.text}`,
    ...tableOf(counts),
    ...rows.flatMap((row) => limited(row.differences.map(differenceText), row.kind)),
    ...limited(
      failed.map((note) => noteText('not found out', note)),
      'lines that were not found out',
    ),
    ...limited(
      notCompared.map((note) => noteText('not compared', note)),
      'things that were not compared',
    ),
    ...concernLines(concerns),
    verdict(differences.length, failed.length),
  ]
  const json = {
    result: code === EXIT.done ? 'equal' : code === EXIT.differs ? 'differs' : 'not found out',
    old: servers.old.json,
    new: servers.new.json,
    counts,
    differences,
    notFoundOut: failed,
    notCompared,
    concerns: concerns.map(({ text, concern }) =>
      typeof concern === 'string' ? { text, concerns: concern } : { text, concerns: 'yes', ...concern },
    ),
  }
  const names = differences.map(({ kind, name }) => `${kind} ${name}`)
  return { code, text: `${lines.join('\n')}\n`, json, names: [...new Set(names)] }
}

function shown({ server, kind, version }: KnownServer) {
  const text = `${server.url} (${[kind, version ?? ''].join(' ').trim()})`
  return { text, json: { url: server.url, kind, version } }
}

function tableOf(
  counts: readonly { kind: string; old: number; new: number; differences: number }[],
): string[] {
  const columns = (words: readonly string[]): string => words.map((word) => word.padStart(10)).join('')
  return [
    `${columns(['old', 'new', 'differ'])}`,
    ...counts.map(
      ({ kind, old, new: other, differences }) =>
        `${columns([grouped(old), grouped(other), grouped(differences)])}  ${kind}`,
    ),
  ]
}

function differenceText({ kind, name, only, field, old = '', new: other = '' }: Difference): string {
  const thing = `${kind} ${printableWord(name)}`
  if (only !== undefined) return `only ${only}: ${thing}`
  return `differs: ${thing}: ${field}: ${short(old)} (old), ${short(other)} (new)`
}

/** A text may be long, and may come from anybody. */
function short(text: string): string {
  return printableWord(JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text))
}

function noteText(what: string, { about, name, reason }: PlanNote): string {
  return `${what}: ${about} ${printableWord(name)}: ${printableWord(reason)}`
}

function limited(lines: readonly string[], what: string): string[] {
  const rest = lines.length - MOST_SHOWN
  if (rest <= 0) return [...lines]
  return [...lines.slice(0, MOST_SHOWN), `… and ${grouped(rest)} more: ${what} (--output json has all)`]
}

function concernLines(concerns: readonly { readonly text: string; readonly concern: Concern }[]): string[] {
  const lines = concerns.flatMap(({ text, concern }) =>
    typeof concern === 'string'
      ? []
      : [`concerns you: ${text}${text.endsWith('.') ? '' : '.'} Here: ${concern.because}.`],
  )
  const perhaps = concerns.filter(({ concern }) => concern === 'perhaps').map(({ text }) => text)
  return [...lines, ...perhaps.map((text) => `may concern your clients and tools: ${text}`)]
}

function verdict(differences: number, failed: number): string {
  if (differences > 0) return `${grouped(differences)} differences`
  if (failed > 0) return `no difference was found, but ${grouped(failed)} things could not be found out`
  return 'equal'
}
