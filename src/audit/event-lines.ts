import { appendFile } from 'node:fs/promises'
import type { AuditEvent } from '../core/audit/audit-event.ts'
import { auditedItems, shortItem } from '../core/audit/audited-item.ts'

/** Where lines go; one call at a time. */
export type AppendLines = (lines: string) => Promise<void>

/** The most characters of lines that wait: while the disk does not take them. */
const MOST_WAITING = 4 * 1024 * 1024

/**
 * Writes events as lines of JSON, in order. A line that cannot be written is lost: the store has the event.
 * `report` gets the first error, and not another one before a line could be written again.
 */
export class EventLines {
  readonly #append: AppendLines
  readonly #report: (error: unknown) => void
  #waiting: string[] = []
  #waitingCharacters = 0
  #running: Promise<void> | undefined
  #isFailing = false

  constructor(append: AppendLines, report: (error: unknown) => void) {
    this.#append = append
    this.#report = report
  }

  /** Writes the line of an event soon. */
  write(event: AuditEvent): void {
    if (this.#waitingCharacters > MOST_WAITING) {
      this.#failed(new Error('lines wait too long to be written'))
      return
    }
    const line = lineOf(event)
    this.#waiting.push(line)
    this.#waitingCharacters += line.length
    this.#running ??= this.#run()
  }

  /** Resolves when all lines are written, or lost. */
  async close(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Events of one turn of the loop are written together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.join('')
      this.#waiting = []
      this.#waitingCharacters = 0
      try {
        await this.#append(lines)
        this.#isFailing = false
      } catch (error) {
        this.#failed(error)
      }
    }
    this.#running = undefined
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.#report(error)
    this.#isFailing = true
  }
}

/**
 * Appends to a file that only its owner can read. It is opened by its name each time, so that a renamed file
 * is followed by a new one without a signal.
 */
export function appendTo(path: string): AppendLines {
  return (lines) => appendFile(path, lines, { mode: 0o600 })
}

/** Appends to a stream of the process. */
export function appendToStream(stream: NodeJS.WritableStream): AppendLines {
  return (lines) =>
    new Promise((resolve, reject) => {
      stream.write(lines, (error) => (error ? reject(error) : resolve()))
    })
}

function lineOf({ id, atMs, ...entry }: AuditEvent): string {
  const { names, left, count } = auditedItems(entry.item)
  const items = count > 1 ? { items: names } : {}
  const unchanged = left.length > 0 ? { unchangedItems: left } : {}
  const event = {
    audit: id,
    time: new Date(atMs).toISOString(),
    ...entry,
    item: shortItem(entry.item),
    ...items,
    ...unchanged,
  }
  return `${JSON.stringify(event)}\n`
}
