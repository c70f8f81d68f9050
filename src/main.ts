#!/usr/bin/env node
import type { Subcommand } from './command/command-line.ts'
import { start } from './command/start.ts'
import { packageVersion } from './command/version.ts'
import { startServer } from './start-server.ts'

/** Loaded on demand, so that a start does not wait for them. */
const COMMANDS = new Map<string, () => Promise<Subcommand>>([
  ['backup', async () => (await import('./command/backup.ts')).backup],
  ['restore', async () => (await import('./command/restore.ts')).restore],
  ['doctor', async () => (await import('./command/doctor.ts')).doctor],
  ['export', async () => (await import('./command/export-configs.ts')).exportConfigs],
  ['import', async () => (await import('./command/import-configs.ts')).importConfigs],
])

process.exit(await run(process.argv.slice(2)))

/** Runs one command line; resolves with the exit code. */
async function run([name = '', ...args]: readonly string[]): Promise<number> {
  if (name === 'start' && !args.some(isHelp)) return start(args, startServer)
  if (name === 'help' || [name, ...args].some(isHelp)) return print(await helpText())
  if (name === '--version' || name === 'version') return print(`${packageVersion()}\n`)
  const load = COMMANDS.get(name)
  if (load !== undefined) return (await import('./command/command-line.ts')).runCommand(await load(), args)
  const problem = name === '' ? 'No command is given' : `Unknown command "${name}"`
  const names = [...COMMANDS.keys(), 'start, help or version'].join(', ')
  process.stderr.write(`waypost: ${problem}. The commands are ${names}.\n`)
  return 2
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
