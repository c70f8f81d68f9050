import { type Command, CommanderError } from 'commander'
import { FORMATS, type Format, formatted, jsonLine, type Printed } from './output.ts'
import { Progress } from './progress.ts'
import { tell } from './standard-error.ts'
import { inWords } from './system-errors.ts'
import { Painted, painted, printableMessage, printableText, table } from './terminal-text.ts'

/** The user gave a wrong command line, or an unusable directory. `message` gives the right form. */
export class UsageError extends Error {}

/** The answer of a command is no: something is missing, or differs from the expected. */
export class DiffersError extends Error {}

/** The exit codes of all commands. `start` has its own besides (docs/terminal.md). */
export const EXIT = { done: 0, differs: 1, notFoundOut: 2 } as const

/** The exit codes in words, for the help and the manual. */
export const EXIT_MEANINGS: readonly (readonly [number, string])[] = [
  [EXIT.done, 'done, equal, sound'],
  [EXIT.differs, 'differs, damaged, absent, or changed by somebody else meanwhile'],
  [EXIT.notFoundOut, 'could not be done or found out: wrong command line, refused, no answer'],
]

/** The result of a command, with its output. */
export interface CommandResult extends Printed {
  readonly code: number
}

/** The work of a command: it gets the flags, and the words that are no flags. */
export type CommandWork<F> = (
  flags: F,
  progress: Progress,
  words: readonly string[],
) => Promise<CommandResult> | CommandResult

/** The exit code of the command; a process runs one command. */
let exitCode: number = EXIT.done

/**
 * Makes an action of commander from work. It prints the result in the format that the user wants, or the error. The exit
 * code is the code of the result, 1 for a DiffersError, and 2 for any other error.
 */
export function action<F extends object>(work: CommandWork<F>): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command
    const progress = new Progress()
    const format = formatOf(command)
    process.stdout.off('error', endWithReader).on('error', endWithReader)
    try {
      refuseEmptyValues(command)
      // `--json` is `--output json`.
      const output = format === undefined ? {} : { output: format }
      const flags = { ...command.optsWithGlobals<F>(), ...output }
      const result = await work(flags, progress, command.args)
      progress.end()
      await print(await formatted(result, format))
      exitCode = result.code
    } catch (error) {
      progress.end()
      await printError(error, format)
      exitCode = error instanceof DiffersError ? EXIT.differs : EXIT.notFoundOut
    }
  }
}

/** A reader such as `head` may leave before everything is printed: that is no fault. */
function endWithReader({ code }: NodeJS.ErrnoException): void {
  process.exit(code === 'EPIPE' ? EXIT.done : EXIT.notFoundOut)
}

/** Like `action`, for work that prints by itself and resolves with the exit code. */
export function plainAction<F extends object>(
  work: (flags: F, command: Command) => Promise<number>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command
    exitCode = await work(command.opts<F>(), command)
  }
}

/** The default command: `npx waypost` in an empty directory starts a server. */
const WITHOUT_WORDS = ['start']

/** Runs a command line. Resolves with the exit code; 2 if commander has refused the line. */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  exitCode = EXIT.done
  try {
    if (args.length === 0)
      tell('This starts a server, as `waypost start` does. `waypost help` lists the commands.\n')
    await program.parseAsync(args.length === 0 ? WITHOUT_WORDS : args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? EXIT.done : EXIT.notFoundOut
  }
}

/**
 * Prints bytes as they are, and a text escaped. Resolves when it is written: the end of the process would lose text that a
 * pipe has not taken yet.
 */
export async function print(text: string | Uint8Array | Painted): Promise<void> {
  const safe = text instanceof Painted ? text.toString() : text
  const written = typeof text === 'string' ? printableText(text) : safe
  await new Promise((resolve) => process.stdout.write(written, resolve))
}

/** The text to print for an error. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // fetch only says that it failed; the reason is in the cause.
  if (error.cause instanceof Error && error.message === 'fetch failed')
    return `${error.message}: ${error.cause.message || (error.cause as NodeJS.ErrnoException).code}`
  if (error.message === 'terminated') return 'The server ended the connection within its answer.'
  return inWords(error.message)
}

function formatOf(command: Command): Format | undefined {
  const { output, json } = command.opts<{ output?: Format; json?: boolean }>()
  return output ?? (json === true ? FORMATS.json : undefined)
}

/** The id of the default namespace is empty. */
function refuseEmptyValues(command: Command): void {
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName())
    if (value === '' && option.long !== '--namespace')
      throw new UsageError(`${option.long} has an empty value`)
  }
}

async function printError(error: unknown, format: Format | undefined): Promise<void> {
  const message = messageOf(error)
  if (format === 'json') await print(jsonLine({ error: message }))
  tell(`waypost: ${message}\n`)
}

/** The result of a command that has changed something: a sentence, and its facts as fields. */
export function done(text: string, fields: object = {}): CommandResult {
  return { code: EXIT.done, text: `${printableMessage(text)}\n`, json: { done: text, ...fields } }
}

/** A column of a list: its heading, and its text for an item. */
type Column<T> = readonly [heading: string, textOf: (item: T) => string | number | boolean | null]

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

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const

/** A time span in its largest unit: `3d`, `12m`, `4s`. Clocks of two machines may make it negative, which is `0s`. */
export function spanText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ['s', 1_000]
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}

/** A command line, and its meaning where the line is not clear. */
export type Example = readonly [line: string, meaning: string]

const EXAMPLES = new WeakMap<Command, readonly Example[]>()

/** Adds examples to the help of a command. */
export function addExamples(command: Command, examples: readonly Example[]): void {
  EXAMPLES.set(command, examples)
  command.addHelpText('after', () => `\n${heading('Examples:')}\n${examples.map(exampleText).join('')}`)
}

/** The examples of a command, for the manual. */
export function examplesOf(command: Command): readonly Example[] {
  return EXAMPLES.get(command) ?? []
}

/** The end of the help of the program. */
export function helpEnd(): string {
  const codes = EXIT_MEANINGS.map(([code, meaning]) => `  ${code}  ${meaning}\n`)
  return `
${heading('Exit codes:')}
${codes.join('')}
\`waypost\` alone starts a server in this directory. \`waypost help COMMAND\` explains a command, with examples: \`waypost help start\` has the settings of a server.
`
}

/** A heading of the help. */
export function heading(text: string): string {
  return painted(text, 'bold').toString()
}

function exampleText([line, meaning]: Example): string {
  return meaning === '' ? `  $ ${line}\n` : `  $ ${line}\n      ${meaning}\n`
}
