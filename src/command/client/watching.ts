import { type CommandResult, EXIT, print } from '../command-line.ts'
import { FORMATS } from '../output.ts'
import { printableWord } from '../terminal-text.ts'
import type { ClientFlags } from './server-options.ts'
import type { SvcClient } from './svc-client.ts'

/** The flags of commands that watch. */
export interface WatchFlags extends ClientFlags {
  readonly json?: boolean
  readonly once?: boolean
}

/** Prints a change: one line of words, one line of JSON, or one document of YAML. */
export async function printLine(
  change: object,
  words: readonly string[],
  { output, json }: WatchFlags,
): Promise<void> {
  if (json === true || output === FORMATS.json) return print(`${JSON.stringify(change)}\n`)
  if (output === FORMATS.yaml) return print(`---\n${(await import('yaml')).stringify(change)}`)
  return print(`${words.join('  ')}\n`)
}

/**
 * Watches until SIGINT or SIGTERM, which is no failure: the output until then is whole. A second signal ends the process
 * at once.
 */
export async function untilInterrupted(watch: () => Promise<CommandResult>): Promise<CommandResult> {
  const interrupted = new Promise<CommandResult>((resolve) => {
    const end = (): void => {
      // A terminal has shown ^C on this line.
      if (process.stderr.isTTY) process.stderr.write('\n')
      resolve({ code: EXIT.done })
    }
    process.once('SIGINT', end).once('SIGTERM', end)
  })
  return Promise.race([watch(), interrupted])
}

/** Reports on standard error that no change is missed from now on. */
export function sayWatching({ session, namespace }: SvcClient): void {
  process.stderr.write(`watching ${printableWord(namespace || 'public')} on ${session.url}; Ctrl-C ends it\n`)
}
