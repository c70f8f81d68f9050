import { Painted, printableMessage } from './terminal-text.ts'

/** Writes to standard error: a text is escaped, because it may come from a server. Nothing else writes messages there. */
export function tell(text: string | Painted): void {
  process.stderr.write(text instanceof Painted ? text.toString() : printableMessage(text))
}
