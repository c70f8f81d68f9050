import { type CommandResult, EXIT } from '../command-line.ts'
import { table } from '../terminal-text.ts'

/** The result of a command that has changed something: a sentence, and its facts as fields. */
export function done(text: string, fields: object = {}): CommandResult {
  return { code: EXIT.done, text: `${text}\n`, json: { done: text, ...fields } }
}

/** A column of a list: its heading, and its text for an item. */
export type Column<T> = readonly [heading: string, textOf: (item: T) => string | number | boolean | null]

/** The result of a command that lists items. `nameOf`: the text for `--output name`. */
export function listed<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  nameOf?: (item: T) => string,
): CommandResult {
  const headings = columns.map(([heading]) => heading)
  const rows = items.map((item) => columns.map(([, textOf]) => String(textOf(item) ?? '')))
  const names = nameOf === undefined ? {} : { names: items.map(nameOf) }
  return { code: EXIT.done, painted: table(headings, rows), json: items, ...names }
}

/** The result of a command that shows one thing: a line for each field. */
export function shown(item: object, lines: readonly (readonly [string, unknown])[]): CommandResult {
  const width = Math.max(...lines.map(([name]) => name.length))
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  const text = lines.map(([name, value]) => `${name.padEnd(width)}  ${textOf(value)}\n`).join('')
  return { code: EXIT.done, text, json: item }
}

/** A time as people and programs read it. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
