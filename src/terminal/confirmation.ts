import { createInterface } from 'node:readline/promises'
import { UsageError } from '../command/command-line.ts'
import { printableMessage } from '../command/terminal-text.ts'

/** Asks on the terminal whether to do something. With `--yes` nobody is asked; without a terminal it is required. */
export async function confirmed(
  question: string,
  { yes = false }: { readonly yes?: boolean },
): Promise<boolean> {
  if (yes) return true
  requireTerminal({ yes })
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await asking.question(`${printableMessage(question)} [y/N] `)
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    asking.close()
  }
}

/** Throws UsageError where nobody can be asked, and `--yes` is not given. */
export function requireTerminal({ yes = false }: { readonly yes?: boolean }): void {
  if (!yes && !process.stdin.isTTY) throw new UsageError('Without a terminal, --yes is required.')
}
