import type { SqliteConnection } from '../database/connection.ts'
import { hasWholeSchema } from '../database/schema-shape.ts'
import type { Findings } from '../../finding.ts'
import { isDamage } from './table-rows.ts'

const MOST_MESSAGES = 20
const MOST_PAGES = 1_000_000

/** Reports SQLite's own check of the file and its indexes; if the file has this format, compares the list of tables, too. */
export function checkStructure(
  connection: SqliteConnection,
  findings: Findings,
  isOfThisFormat: boolean,
): void {
  for (const message of messagesOf(connection)) {
    findings.damage('waypost.db', {
      problem: `SQLite says: ${message}.`,
      effect: effectOf(message),
    })
  }
  if (isOfThisFormat && !hasTables(connection))
    findings.damage('waypost.db', {
      problem: 'Its list of tables is not what Waypost writes.',
      effect: 'The server does not start.',
    })
}

function hasTables(connection: SqliteConnection): boolean {
  try {
    return hasWholeSchema(connection)
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

function messagesOf(connection: SqliteConnection): string[] {
  try {
    return messages(connection, MOST_MESSAGES)
  } catch (error) {
    if (!isDamage(error)) throw error
    return [...messagesAboutPages(connection, MOST_MESSAGES), error.message]
  }
}

/** The pages that belong to no table or index and are not free: the page that pointed to them is damaged. */
export function lostPages(connection: SqliteConnection): number[] {
  return messagesAboutPages(connection, MOST_PAGES).flatMap((message) => {
    const [, page] = /^Page (\d+):? .*never used/.exec(message) ?? []
    return page === undefined ? [] : [Number(page)]
  })
}

/** The first row has all messages about pages. SQLite may give up after it, or before it: then there are none. */
function messagesAboutPages(connection: SqliteConnection, most: number): string[] {
  try {
    return messages(connection, most, 1)
  } catch (error) {
    if (!isDamage(error)) throw error
    return []
  }
}

/** Messages are read as hexadecimal digits: the driver ends the process on a name in them that is not UTF-8. */
function messages(connection: SqliteConnection, most: number, rows = most): string[] {
  const query = `SELECT hex(integrity_check) FROM pragma_integrity_check(${most}) LIMIT ${rows}`
  const texts = connection.all(query).map(([digits]) => Buffer.from(String(digits), 'hex').toString())
  // The first line only names the database.
  return texts.flatMap((text) => text.split('\n')).filter((text) => !/^(ok|\*\*\* .*|)$/.test(text))
}

function effectOf(message: string): string {
  if (/index/i.test(message)) return 'Look-ups over the index can miss rows or fail.'
  return 'Reading what lies there fails, or gives what was not written.'
}
