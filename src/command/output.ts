import { Option } from 'commander'
import type { CommandResult } from './command-line.ts'
import { printable } from './terminal-text.ts'

/** The formats of `--output`. */
export const FORMATS = { table: 'table', json: 'json', yaml: 'yaml', name: 'name' } as const

/** One of {@link FORMATS}. */
export type Format = keyof typeof FORMATS

/** The option of commands that print data. `name` needs a command that names things. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print the answer').choices(Object.values(FORMATS))
}

/** A result as text, or as the bytes that it has. */
export async function formatted(
  { text = '', painted, json, names, bytes }: CommandResult,
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
