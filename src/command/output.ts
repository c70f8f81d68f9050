import { Option } from 'commander'
import { type Painted, printable, printableText } from './terminal-text.ts'

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
  /** Like `text`, with colours. */
  readonly painted?: Painted
  /** For programs: the value for `--output json` and `yaml`. */
  readonly json?: unknown
  /** The names for `--output name`, one a line. */
  readonly names?: readonly string[]
  /** Without a format, they are printed as they are, and nothing else; on a terminal they are escaped. */
  readonly bytes?: Uint8Array
}

/** A result as text, or as the bytes that it has. */
export async function formatted(
  { text = '', painted, json, names, bytes }: Printed,
  format: Format | undefined,
): Promise<string | Uint8Array | Painted> {
  switch (format) {
    case 'json':
      return jsonLine(json ?? null)
    case 'yaml':
      return yamlText(json ?? null)
    case 'name':
      return (names ?? []).map((name) => `${printable(name).replaceAll('\n', '\\x0a')}\n`).join('')
    case 'table':
    case undefined:
      if (bytes !== undefined && format === undefined)
        return process.stdout.isTTY ? printableText(Buffer.from(bytes).toString()) : bytes
      return painted ?? printable(text)
  }
}

/** A value as a line of JSON. JSON itself escapes no control characters from U+007F on. */
export function jsonLine(value: unknown): string {
  return `${withoutHighControls(JSON.stringify(value))}\n`
}

/** A value as YAML, which quotes texts with control characters, and escapes the first 32 only. */
export async function yamlText(value: unknown): Promise<string> {
  return withoutHighControls((await import('yaml')).stringify(value))
}

function withoutHighControls(quoted: string): string {
  return quoted.replaceAll(/[\u007f-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)
}
