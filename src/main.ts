#!/usr/bin/env node
import type { WithStoredAccounts } from './command/accounts.ts'
import type { Subcommand } from './command/command-line.ts'
import { start } from './command/start.ts'
import { packageVersion } from './command/version.ts'
import type { DirectoryTools } from './store/local-file.ts'
import { startServer } from './start-server.ts'

/** Loaded on demand, so that a start does not wait for them. */
const COMMANDS = new Map<string, () => Promise<Subcommand>>([
  ['backup', async () => (await import('./command/backup.ts')).backup(await directoryTools())],
  ['restore', async () => (await import('./command/restore.ts')).restore(await directoryTools())],
  ['doctor', async () => (await import('./command/doctor.ts')).doctor(await directoryTools())],
  ['export', async () => (await import('./command/export-configs.ts')).exportConfigs],
  ['import', async () => (await import('./command/import-configs.ts')).importConfigs],
  ['user add', async () => (await import('./command/user.ts')).addUser(await storedAccounts())],
  ['user password', async () => (await import('./command/user.ts')).setPassword(await storedAccounts())],
  ['user list', async () => (await import('./command/user.ts')).listUsers(await storedAccounts())],
  ['user remove', async () => (await import('./command/user.ts')).removeUser(await storedAccounts())],
  ['key rotate', async () => (await import('./command/user.ts')).rotateKey(await storedAccounts())],
])

process.exit(await run(process.argv.slice(2)))

/** Runs one command line; resolves with the exit code. */
async function run([name = '', ...args]: readonly string[]): Promise<number> {
  if (name === 'start' && !args.some(isHelp)) return start(args, startServer)
  if (name === 'help' || [name, ...args].some(isHelp)) return print(await helpText())
  if (name === '--version' || name === 'version') return print(`${packageVersion()}\n`)
  const [load, rest] = commandOf(name, args)
  if (load !== undefined) return (await import('./command/command-line.ts')).runCommand(await load(), rest)
  const problem =
    name === '' ? 'No command is given' : `Unknown command "${[name, args[0] ?? ''].join(' ').trim()}"`
  const names = [...COMMANDS.keys(), 'start, help or version'].join(', ')
  process.stderr.write(`waypost: ${problem}. The commands are ${names}.\n`)
  return 2
}

/** The command of one word or two, and what follows it. */
function commandOf(name: string, args: readonly string[]) {
  const ofOne = COMMANDS.get(name)
  if (ofOne !== undefined) return [ofOne, args] as const
  return [COMMANDS.get(`${name} ${args[0]}`), args.slice(1)] as const
}

async function storedAccounts(): Promise<WithStoredAccounts> {
  return (await import('./server/stored-accounts.ts')).withStoredAccounts
}

/** The commands know the second port of the store; the embedded store is joined here. */
async function directoryTools(): Promise<DirectoryTools> {
  return (await import('./store/embedded/directory-tools.ts')).embeddedDirectoryTools
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

async function helpText(): Promise<string> {
  return (await import('./command/help.ts')).helpText(packageVersion())
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
