#!/usr/bin/env node
import { helpText } from './command/help.ts'
import { start } from './command/start.ts'
import { packageVersion } from './command/version.ts'
import { startServer } from './server.ts'

process.exit(await run(process.argv.slice(2)))

/** Runs one command line; resolves with the exit code. */
async function run([command = '', ...args]: readonly string[]): Promise<number> {
  if (command === 'help' || [command, ...args].some(asksForHelp)) return print(helpText(packageVersion()))
  if (command === '--version' || command === 'version') return print(`${packageVersion()}\n`)
  if (command === 'start') return start(args, startServer)
  const problem = command === '' ? 'Say which command to run' : `Unknown command "${command}"`
  process.stderr.write(`waypost: ${problem}: start, help or version.\n`)
  return 2
}

function asksForHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
