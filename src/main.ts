#!/usr/bin/env node
import { start } from './command/start.ts'
import { packageVersion } from './command/version.ts'
import { startServer } from './start-server.ts'

/** Loaded when they are asked for, so that a start does not wait for them. */
const TOOLS = new Map([
  ['backup', async () => (await import('./tools/backup.ts')).backup],
  ['restore', async () => (await import('./tools/restore.ts')).restore],
  ['doctor', async () => (await import('./tools/doctor.ts')).doctor],
])

process.exit(await run(process.argv.slice(2)))

/** Runs one command line; resolves with the exit code. */
async function run([command = '', ...args]: readonly string[]): Promise<number> {
  if (command === 'help' || [command, ...args].some(asksForHelp))
    return print((await import('./command/help.ts')).helpText(packageVersion()))
  if (command === '--version' || command === 'version') return print(`${packageVersion()}\n`)
  if (command === 'start') return start(args, startServer)
  if (command === 'export') return (await import('./command/export-configs.ts')).exportConfigs(args)
  if (command === 'import') return (await import('./command/import-configs.ts')).importConfigs(args)
  const tool = TOOLS.get(command)
  if (tool !== undefined) return (await import('./tools/run-tool.ts')).runTool(await tool(), args)
  const problem = command === '' ? 'Say which command to run' : `Unknown command "${command}"`
  process.stderr.write(
    `waypost: ${problem}: backup, restore, doctor, export, import, start, help or version.\n`,
  )
  return 2
}

function asksForHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
