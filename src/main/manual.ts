import type { Argument, Command, Option } from 'commander'
import { EXIT_MEANINGS, examplesOf } from '../command/command-line.ts'
import { makeProgram } from './program.ts'
import { packageVersion } from '../command/version.ts'

/** The manual page: made from the description of the commands. */
export function manualPage(): string {
  const unused = () => Promise.reject(new Error('no command runs here'))
  const program = makeProgram({
    startServer: unused,
    directoryTools: unused,
    storeCopies: unused,
    storedAccounts: unused,
  })
  return `.\\" Made by \`npm run build\` from the commands in src: change it there.
.TH WAYPOST 1 "" "Waypost ${packageVersion()}" "Waypost"
.SH NAME
waypost \\- server for configuration, service discovery and namespaces, and its client
.SH SYNOPSIS
.B waypost
.I command
.RI [ options ]
.SH DESCRIPTION
${escaped(program.description())}
.B waypost help
.I command
prints the part of this page about a command.
.SH COMMANDS
${leavesOf(program).map(commandText).join('')}.SH EXIT STATUS
${EXIT_MEANINGS.map(([code, meaning]) => tagged(String(code), meaning)).join('')}.B waypost start
exits with 0 after a signal, 1 if it could not start or stop, 2 for wrong settings and 70 after a fault of the program.
.SH ENVIRONMENT
${ENVIRONMENT.map(([name, meaning]) => tagged(name, meaning)).join('')}.SH FILES
${tagged('~/.config/waypost/client.json', 'Contexts and tokens, for its owner alone.')}.SH SEE ALSO
The guides of the package: docs/terminal.md, docs/operations.md, docs/settings.md.
`
}

const ENVIRONMENT = [
  ['WAYPOST_SERVER, WAYPOST_CONTEXT', 'The server of commands that name none.'],
  ['WAYPOST_NAMESPACE', 'The namespace of commands that name none.'],
  ['WAYPOST_PASSWORD', 'The password of the user who signs in.'],
  [
    'WAYPOST_FROM_PASSWORD, WAYPOST_MYSQL_PASSWORD',
    'For move: the passwords of the old server and of its database.',
  ],
  ['WAYPOST_ACCESS_TOKEN', 'A token, instead of a user and a password.'],
  ['WAYPOST_CLIENT_FILE', 'Where contexts and tokens are.'],
  ['WAYPOST_SETTINGS', 'A file of settings for start. Each setting also has a variable of its own.'],
  ['VISUAL, EDITOR', 'The editor of config edit.'],
  ['NO_COLOR', 'No colours on terminals.'],
] as const

function leavesOf(command: Command, words: readonly string[] = ['waypost']): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]]
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]))
}

function commandText([name, command]: [string, Command]): string {
  const words = command.registeredArguments.map(argumentText).join(' ')
  const options = command.options.filter(({ hidden }) => !hidden)
  return [
    `.SS ${escaped(`${name} ${words}`.trim())}\n${escaped(command.description())}\n`,
    ...command.registeredArguments.map((one) => tagged(one.name(), one.description)),
    ...options.map((one) => tagged(one.flags, optionText(one))),
    ...examplesOf(command).map(([line, meaning]) => exampleText(line, meaning)),
  ].join('')
}

function argumentText(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? name : `[${name}]`
}

function optionText({ description, argChoices }: Option): string {
  return argChoices === undefined ? description : `${description}: ${argChoices.join(', ')}`
}

function exampleText(line: string, meaning: string): string {
  const about = meaning === '' ? '' : `${escaped(`# ${meaning}`)}\n`
  return `.PP\n.EX\n${about}$ ${escaped(line)}\n.EE\n`
}

function tagged(name: string, meaning: string): string {
  return `.TP\n.B ${escaped(name)}\n${escaped(meaning)}\n`
}

/** A text with troff's special characters escaped: escapes, hyphens (else minus signs), and requests at line starts. */
function escaped(text: string): string {
  const plain = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq')
  return /^[.']/.test(plain) ? `\\&${plain}` : plain
}
