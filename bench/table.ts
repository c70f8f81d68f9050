import type { Figures } from './scenario.ts'

/** The figures of one target in each round of a scenario. */
export interface TargetFigures {
  readonly target: string
  readonly rounds: readonly Figures[]
}

/** The median; of an even count, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** The median of each figure over the rounds. */
export function medians(rounds: readonly Figures[]): Figures {
  const names = [...new Set(rounds.flatMap((figures) => Object.keys(figures)))]
  return Object.fromEntries(
    names.map((name) => [
      name,
      median(rounds.map((figures) => figures[name]).filter((value) => value !== undefined)),
    ]),
  )
}

/** A Markdown table: a line for each target. */
export function tableOf(rows: readonly TargetFigures[]): string {
  const all = rows.map(({ target, rounds }) => ({ target, figures: medians(rounds) }))
  const names = [...new Set(all.flatMap(({ figures }) => Object.keys(figures)))]
  const cells = all.map(({ target, figures }) => [target, ...names.map((name) => numberText(figures[name]))])
  return aligned([['', ...names], ...cells])
}

/** A Markdown table of our figures divided by those of each other server. */
export function ratiosOf(rows: readonly TargetFigures[], names: readonly string[]): string | undefined {
  const own = rows.find(({ target }) => target === 'ours')
  const others = rows.filter((row) => row !== own)
  if (own === undefined || others.length === 0) return undefined
  const figures = medians(own.rounds)
  const lines = others.map(({ target, rounds }) => {
    const against = medians(rounds)
    const ratios = names.map((name) => {
      const [a, b] = [figures[name], against[name]]
      return a === undefined || !b ? '' : (a / b).toFixed(2)
    })
    return [`ours / ${target}`, ...ratios]
  })
  const kept = names.map((_, at) => lines.some((line) => line[at + 1] !== ''))
  if (!kept.includes(true)) return undefined
  const pick = (line: readonly string[]): string[] => line.filter((_, at) => at === 0 || kept[at - 1])
  return aligned([['', ...names], ...lines].map(pick))
}

/** A Markdown table of our figures at each size of a series: a line for each figure, with its growth. */
export function seriesTable(
  members: readonly { scenario: string; rows: readonly TargetFigures[] }[],
): string {
  const figures = members.map(({ rows }) =>
    medians(rows.find(({ target }) => target === 'ours')?.rounds ?? []),
  )
  const names = [...new Set(figures.flatMap((each) => Object.keys(each)))]
  const lines = names.map((name) => {
    const values = figures.map((each) => each[name])
    const [first, last] = [values[0], values.at(-1)]
    const growth = first && last !== undefined ? (last / first).toFixed(2) : ''
    return [name, ...values.map(numberText), growth]
  })
  return aligned([['', ...members.map(({ scenario }) => scenario), 'last / first'], ...lines])
}

/** A Markdown table of these cells. */
export function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, at) => Math.max(3, ...lines.map((line) => line[at]!.length)))
  const text = lines.map((line) => `| ${line.map((cell, at) => pad(cell, at, widths[at]!)).join(' | ')} |`)
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [text[0], rule, ...text.slice(1)].join('\n')
}

function pad(cell: string, at: number, width: number): string {
  return at === 0 ? cell.padEnd(width) : cell.padStart(width)
}

function numberText(value: number | undefined): string {
  if (value === undefined) return ''
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en')
  if (Math.abs(value) >= 100) return value.toFixed(0)
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}
