import { withChecksums } from '../rows/row-reader.ts'
import type { SqliteConnection } from '../database/connection.ts'
import type { NameText } from '../rows/messages.ts'
import { TABLES } from '../rows/tables.ts'

const MOST_REMEMBERED = 50_000

/** The numbers of the keys of items in all other tables. The most used numbers are kept in memory. */
export class ConfigNames {
  readonly #connection: SqliteConnection
  readonly #known = new Map<string, number>()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  /** The number of a key, if it has one. */
  find(name: NameText): number | undefined {
    const text = name.join('\u0002')
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const row = this.#connection.first(
      'SELECT id FROM config_name WHERE namespace_id = ? AND group_name = ? AND data_id = ?',
      name,
    )
    if (row === undefined) return undefined
    return this.#remember(text, Number(row[0]))
  }

  /** The number of a key; a missing one is created. The transaction is the caller's. */
  findOrMake(name: NameText): number {
    const found = this.find(name)
    if (found !== undefined) return found
    const id = this.#connection.number('SELECT coalesce(max(id), 0) + 1 FROM config_name')
    const [namespaceId, group, dataId] = name
    this.#connection.run(
      'INSERT INTO config_name (id, namespace_id, group_name, data_id, checksum) VALUES (?, ?, ?, ?, ?)',
      withChecksums(TABLES.config_name, TABLES.config_name.encode({ id, namespaceId, group, dataId })),
    )
    return this.#remember(name.join('\u0002'), id)
  }

  /** Clears the memory, after a rollback or the removal of names. */
  reset(): void {
    this.#known.clear()
  }

  #remember(text: string, id: number): number {
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear()
    this.#known.set(text, id)
    return id
  }
}
