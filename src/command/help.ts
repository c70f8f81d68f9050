import type { Command } from 'commander'
import { EXIT_MEANINGS } from './command-line.ts'
import { painted } from './terminal-text.ts'

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
  return painted(text, 'bold')
}

function exampleText([line, meaning]: Example): string {
  return meaning === '' ? `  $ ${line}\n` : `  $ ${line}\n      ${meaning}\n`
}
