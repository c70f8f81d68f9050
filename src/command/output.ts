import { Option } from 'commander'
import { printable } from './terminal-text.ts'

/** The formats of `--output`. */
export const FORMATS = { table: 'table', json: 'json', yaml: 'yaml', name: 'name' } as const

/** One of {@link FORMATS}. */
export type Format = keyof typeof FORMATS

/** The option of commands that print data. `name` needs a command that names things. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print the answer').choices(Object.values(FORMATS))
}

/** The output of a command, in each of its formats. */
export interface Printed {
  /** For people. Control characters are escaped when it is printed. */
  readonly text?: string
  /** Like `text`, but safe to print: it may have colours. */
  readonly painted?: string
  /** For programs: the value for `--output json` and `yaml`. */
  readonly json?: unknown
  /** The names for `--output name`, one a line. */
  readonly names?: readonly string[]
  /** Printed as they are, and nothing else, without a format. */
  readonly bytes?: Uint8Array
}

/** A result as text, or as the bytes that it has. */
export async function formatted(
  { text = '', painted, json, names, bytes }: Printed,
  format: Format | undefined,
): Promise<string | Uint8Array> {
  switch (format) {
    case 'json':
      return `${JSON.stringify(json ?? null)}\n`
    case 'yaml':
      return (await import('yaml')).stringify(json ?? null)
    case 'name':
      return (names ?? []).map((name) => `${printable(name).replaceAll('\n', '\\x0a')}\n`).join('')
    case 'table':
    case undefined:
      if (bytes !== undefined && format === undefined) return bytes
      return painted ?? printable(text)
  }
}
