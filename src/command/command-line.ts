import { parseArgs, type ParseArgsConfig } from 'node:util'
import { Progress } from './progress.ts'

/** The user gave a wrong command line, or a directory that the command cannot use. `message` says what is right. */
export class UsageError extends Error {}

/** The options of `parseArgs`, by the names of the flags. */
type FlagTypes = NonNullable<ParseArgsConfig['options']>

/** The values of flags: a text, or true for a flag without a value. */
export type Flags<T extends FlagTypes> = ReturnType<
  typeof parseArgs<{ options: T; strict: true; allowPositionals: false }>
>['values']

/** What a command did. `text` is for people, `json` for programs; `code` is the exit code. */
export interface CommandResult {
  readonly code: number
  readonly text: string
  readonly json?: object
}

/** A command other than `start`. */
export interface Subcommand<T extends FlagTypes = FlagTypes> {
  readonly flags: T
  /** The words before the flags that the user must give, as the help calls them: `NAME`. */
  readonly words?: readonly string[]
  readonly run: (
    flags: Flags<T>,
    progress: Progress,
    words: readonly string[],
  ) => Promise<CommandResult> | CommandResult
}

/** Adds types: the flags that `run` gets are those of `flags`. */
export function command<const T extends FlagTypes>(definition: Subcommand<T>): Subcommand {
  return definition as unknown as Subcommand
}

const FAILED = 1
const USAGE = 2

/**
 * Runs a command and prints its result, as JSON if it has the flag `--json` and the user gave it. Resolves with the exit
 * code: the command's, 1 if it failed, 2 for a UsageError.
 */
export async function runCommand(
  { flags, words = [], run }: Subcommand,
  args: readonly string[],
): Promise<number> {
  const progress = new Progress()
  const asJson = 'json' in flags && args.includes('--json')
  try {
    const given = readWords(args, words)
    const { code, text, json } = await run(readFlags(args.slice(given.length), flags), progress, given)
    progress.end()
    await print(asJson ? `${JSON.stringify(json)}\n` : printable(text))
    return code
  } catch (error) {
    progress.end()
    const message = messageOf(error)
    if (asJson) await print(`${JSON.stringify({ error: message })}\n`)
    process.stderr.write(printable(`waypost: ${message}\n`))
    return error instanceof UsageError ? USAGE : FAILED
  }
}

/** The words at the beginning. Throws UsageError where one is missing. */
function readWords(args: readonly string[], names: readonly string[]): readonly string[] {
  return names.map((name, at) => {
    const word = args[at]
    if (word === undefined || word === '' || word.startsWith('-'))
      throw new UsageError(`${name} is required, before the flags`)
    return word
  })
}

/** Reads flags strictly. Throws UsageError for an unknown flag, a missing value, or an empty one. */
export function readFlags<T extends FlagTypes>(args: readonly string[], options: T): Flags<T> {
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false })
    for (const [name, value] of Object.entries(values))
      // The id of the default namespace is empty.
      if (value === '' && name !== 'namespace') throw new UsageError(`--${name} has an empty value`)
    return values
  } catch (error) {
    if (error instanceof UsageError) throw error
    const known = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(`${messageOf(error)}\nThe flags of this command are ${known.join(', ')}.`)
  }
}

/** A flag that the user must give. */
export function required(name: string, value: string | undefined, meaning: string): string {
  if (value === undefined) throw new UsageError(`--${name} is required: ${meaning}`)
  return value
}

/** Where a server listens by default. */
const DEFAULT_URL = 'http://127.0.0.1:8848'

/** The address of the server, without a slash at its end. */
export function serverUrl(value: string = DEFAULT_URL): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(`--url must be an address such as ${DEFAULT_URL}, but is ${JSON.stringify(value)}`)
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--url must be without a user and a password: give them by --username and a prompt')
  return value.replace(/\/+$/, '')
}

/** Resolves when the text is written: the end of the process would cut what a pipe has not taken yet. */
async function print(text: string): Promise<void> {
  await new Promise((resolve) => process.stdout.write(text, resolve))
}

/** Escapes control characters: names of a damaged store, a file or another server must not control a terminal. */
function printable(text: string): string {
  return text.replaceAll(
    /(?!\n)\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

/** What to print for an error. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // fetch only says that it failed; the reason is in the cause.
  return error.cause instanceof Error && error.message === 'fetch failed'
    ? `${error.message}: ${error.cause.message}`
    : error.message
}
