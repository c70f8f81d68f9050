import {
  type PlanConfig,
  type PlanGray,
  type PlanHistory,
  type PlanItem,
  type PlanLine,
  type PlanNamespace,
  type PlanNote,
  type PlanPermission,
  type PlanSource,
  itemName,
} from '../../plan/plan.ts'
import type { ServerBeside } from '../both/server-beside.ts'
import { contentLines, HistoryDigests, NOT_UTF8 } from '../checks/content-lines.ts'
import { isText } from '../no-text.ts'
import { missedNote, type PlanReading } from '../reading.ts'
import { Database, type DatabaseParts, type DatabaseRow } from './connection.ts'
import { GRAY_COLUMNS, GRAY_TABLES, type GrayRule, jsonOf, Tables } from './tables.ts'
import { TimeZone } from './time-zone.ts'

/** A database that is ready to be read. */
export interface OpenDatabase {
  readonly source: PlanSource
  /** The lines of the database, and the lines that a server beside it adds. */
  read(reading: PlanReading, server: ServerBeside): AsyncGenerator<PlanLine>
}

/** Opens the database of a server. */
export async function openDatabase(address: string, parts: DatabaseParts): Promise<OpenDatabase> {
  const { flags } = parts
  const zone = TimeZone.of(flags.mysqlTimeZone ?? 'UTC')
  const database = await Database.open(address, parts)
  const tables = await Tables.of(database)
  const [{ v = null } = {}] = await database.rows('SELECT VERSION() AS v')
  return {
    source: { url: database.url, kind: 'mysql', version: v },
    async *read(reading, server) {
      try {
        yield* new DatabaseReading({ database, tables, zone, reading, server }).lines()
      } finally {
        database.close()
      }
    },
  }
}

interface ReadingParts {
  readonly database: Database
  readonly tables: Tables
  readonly zone: TimeZone
  readonly reading: PlanReading
  readonly server: ServerBeside
}

const ITEM = ['data_id', 'group_id', 'tenant_id']
const CONTENT = ['content', 'md5', 'app_name', 'encrypted_data_key', 'gmt_modified', 'src_user', 'src_ip']
const NOTES = ['gmt_create', 'c_desc', 'c_use', 'effect', 'type', 'c_schema']

/** The number of items that show whether a server belongs to the database. */
const OLDEST = 1_000

/** Reads the tables of a server, whatever columns its version has. */
class DatabaseReading {
  readonly #database: Database
  readonly #tables: Tables
  readonly #zone: TimeZone
  readonly #reading: PlanReading
  readonly #server: ServerBeside
  readonly #items = new Set<string>()

  constructor({ database, tables, zone, reading, server }: ReadingParts) {
    this.#database = database
    this.#tables = tables
    this.#zone = zone
    this.#reading = reading
    this.#server = server
  }

  async *lines(): AsyncGenerator<PlanLine> {
    yield remark(
      'config',
      'times',
      `they are read as of the time zone ${this.#zone.name} (--mysql-time-zone)`,
    )
    yield* this.#collations()
    yield* this.#server.begin({ spaces: await this.#spaces(), oldest: await this.#oldest() })
    await this.#database.renewSnapshot()
    yield* this.#server.namespaces(await this.#namespaces())
    yield* this.#access()
    if (this.#reading.history.isWanted) yield* this.#history()
    yield* this.#configs()
    yield* this.#server.items()
    yield* this.#grays()
    yield* this.#leftOut()
  }

  *#collations(): Generator<PlanLine> {
    const collation = this.#tables.collationOf('config_info', 'data_id')
    if (!/_(?:bin|cs|as_cs)$/.test(collation) && collation !== '')
      yield remark(
        'config',
        'all items',
        `the column data_id compares names without case (${collation}): there clients may have found an item by a name in another case; here they do not`,
      )
    const ofContent = this.#tables.collationOf('config_info', 'content')
    if (ofContent !== '' && !ofContent.startsWith('utf8'))
      yield remark(
        'config',
        'all items',
        `contents are stored as ${ofContent.split('_')[0]}; the database converts them`,
      )
  }

  /** The ids of namespaces in items. Old servers have no id for the default namespace, others `public`. */
  async #spaces(): Promise<string[]> {
    if (!this.#tables.has('config_info', 'tenant_id')) return []
    const rows = await this.#database.rows('SELECT DISTINCT tenant_id FROM config_info')
    return rows.map((row) => row['tenant_id'] ?? '')
  }

  async #oldest(): Promise<PlanItem[]> {
    const columns = this.#tables.list('config_info', ITEM)
    const rows = await this.#database.rows(`SELECT ${columns} FROM config_info ORDER BY id LIMIT ${OLDEST}`)
    return rows.map(itemOf)
  }

  async #namespaces(): Promise<PlanNamespace[]> {
    if (!this.#tables.has('tenant_info')) return []
    const columns = this.#tables.list('tenant_info', ['tenant_id', 'tenant_name', 'tenant_desc'])
    // Rows of other kinds are of other programs.
    const where = this.#tables.has('tenant_info', 'kp') ? " WHERE kp = '1'" : ''
    const rows = await this.#database.rows(`SELECT ${columns} FROM tenant_info${where} ORDER BY tenant_id`)
    return rows.flatMap((row) => {
      const id = spaceOf(row['tenant_id'])
      const [name, desc] = [row['tenant_name'] ?? id, row['tenant_desc'] ?? '']
      return id === '' ? [] : { kind: 'namespace', id, name, desc }
    })
  }

  async *#access(): AsyncGenerator<PlanLine> {
    const rows = async (table: string, columns: readonly string[]): Promise<DatabaseRow[]> =>
      this.#tables.has(table)
        ? this.#database.rows(`SELECT ${this.#tables.list(table, columns)} FROM ${table}`)
        : []
    const users = (await rows('users', ['username', 'password', 'enabled'])).map((row) => ({
      kind: 'user' as const,
      username: row['username'] ?? '',
      passwordHash: row['password'] || null,
      enabled: row['enabled'] !== '0',
    }))
    const roles = (await rows('roles', ['username', 'role'])).map((row) => ({
      kind: 'role' as const,
      username: row['username'] ?? '',
      role: row['role'] ?? '',
    }))
    const permissions = (await rows('permissions', ['role', 'resource', 'action'])).map((row) => ({
      kind: 'permission' as const,
      role: row['role'] ?? '',
      resource: row['resource'] ?? '',
      action: (row['action'] ?? '').trim() as PlanPermission['action'],
    }))
    yield* this.#server.access({ users, roles, permissions })
  }

  async *#history(): AsyncGenerator<PlanLine> {
    if (!this.#tables.has('his_config_info')) return
    const { sinceMs } = this.#reading.history
    const columns = this.#tables.list('his_config_info', [
      'nid',
      'op_type',
      'publish_type',
      'ext_info',
      ...ITEM,
      ...CONTENT,
    ])
    const where = sinceMs === -Infinity ? '' : ' WHERE gmt_modified >= ?'
    const values = sinceMs === -Infinity ? [] : [this.#zone.toText(sinceMs)]
    const total = await this.#database.count(`his_config_info${where}`, values)
    const digests = new HistoryDigests()
    let done = 0
    let grays = 0
    const sql = `SELECT ${columns} FROM his_config_info${where} ORDER BY nid`
    for await (const row of this.#database.stream(sql, values, mostOf(total))) {
      this.#reading.show('history', ++done, total)
      if ((row['publish_type'] ?? 'formal').trim() !== 'formal') {
        grays++
        continue
      }
      const line = this.#record(row)
      if (line.kind === 'history') {
        digests.add(line)
        this.#server.sawRecord(line)
      }
      yield line
    }
    yield* digests.lines()
    if (grays > 0) yield remark('history', 'all items', `${grays} records of gray versions are left out`)
  }

  #record(row: DatabaseRow): PlanHistory | PlanNote {
    const item = itemOf(row)
    const op = (row['op_type'] ?? '').trim()
    const atMs = this.#zone.toMs(row['gmt_modified'])
    const name = `${itemName(item)} ${row['nid']}`
    if (op !== 'I' && op !== 'U' && op !== 'D')
      return missedNote('history', name, `its operation is ${JSON.stringify(op)}`)
    if (atMs === null) return missedNote('history', name, 'it has no time')
    if (!isText(row['content'] ?? '')) return missedNote('history', name, NOT_UTF8)
    if (item.group === '' || item.dataId === '')
      return missedNote('history', name, 'it has no group or no data id')
    return {
      kind: 'history',
      ...item,
      ...contentOf(row),
      oldId: row['nid']!,
      op,
      type: typeIn(row['ext_info']),
      atMs,
      user: row['src_user'] || null,
      ip: row['src_ip'] || null,
    }
  }

  async *#configs(): AsyncGenerator<PlanLine> {
    const { left, notes } = await this.#doubles()
    yield* notes
    const columns = this.#tables.list('config_info', ['id', ...ITEM, ...CONTENT, ...NOTES])
    const tags = this.#tables.has('config_tags_relation')
      ? '(SELECT GROUP_CONCAT(t.tag_name ORDER BY t.nid) FROM config_tags_relation t WHERE t.id = config_info.id)'
      : 'NULL'
    const total = await this.#database.count('config_info')
    let done = 0
    const sql = `SELECT ${columns}, ${tags} AS tags FROM config_info ORDER BY id`
    for await (const row of this.#database.stream(sql, [], mostOf(total))) {
      this.#reading.show('items', ++done, total)
      if (left.has(row['id']!)) continue
      const item = itemOf(row)
      if (item.group === '' || item.dataId === '') {
        yield missedNote('config', `${itemName(item)} (id ${row['id']})`, 'it has no group or no data id')
        continue
      }
      const config = this.#config(item, row)
      if (!this.#server.takes(config)) continue
      this.#items.add(itemName(item))
      yield* contentLines(config)
    }
  }

  #config(item: PlanItem, row: DatabaseRow): PlanConfig {
    return {
      kind: 'config',
      ...item,
      ...contentOf(row),
      type: row['type'] || null,
      desc: row['c_desc'] ?? null,
      use: row['c_use'] ?? null,
      effect: row['effect'] ?? null,
      schema: row['c_schema'] ?? null,
      tags: row['tags'] ?? null,
      createdMs: this.#zone.toMs(row['gmt_create']),
      modifiedMs: this.#zone.toMs(row['gmt_modified']),
      user: row['src_user'] || null,
      ip: row['src_ip'] || null,
    }
  }

  /** Rows of the same item: an upgrade copies rows of the empty namespace to `public`. The newest is taken. */
  async #doubles(): Promise<{ left: ReadonlySet<string>; notes: PlanNote[] }> {
    const columns = this.#tables.list('config_info', ['id', 'md5', 'gmt_modified', ...ITEM], 'c')
    const space = this.#tables.has('config_info', 'tenant_id')
      ? "CASE WHEN tenant_id IS NULL OR tenant_id = 'public' THEN '' ELSE tenant_id END"
      : "''"
    const doubled = `SELECT data_id, group_id, ${space} AS space FROM config_info GROUP BY data_id, group_id, ${space} HAVING COUNT(*) > 1`
    const sql = `SELECT ${columns} FROM config_info c JOIN (${doubled}) d ON c.data_id = d.data_id AND c.group_id = d.group_id AND ${space.replaceAll('tenant_id', 'c.tenant_id')} = d.space ORDER BY c.gmt_modified DESC, c.id DESC`
    const newest = new Map<string, DatabaseRow>()
    const left = new Set<string>()
    const notes: PlanNote[] = []
    for (const row of await this.#database.rows(sql)) {
      const name = itemName(itemOf(row))
      const first = newest.get(name)
      if (first === undefined) {
        newest.set(name, row)
        continue
      }
      left.add(row['id']!)
      const isEqual = first['md5'] === row['md5']
      notes.push({
        kind: isEqual ? 'remark' : 'conflict',
        about: 'config',
        name,
        reason: isEqual
          ? 'it is there twice, with the same content'
          : `it is there twice, with other contents (rows ${first['id']} and ${row['id']}); the plan has the newer one`,
      })
    }
    return { left, notes }
  }

  async *#grays(): AsyncGenerator<PlanLine> {
    const seen = new Set<string>()
    for (const [table, nameOf] of GRAY_TABLES) {
      if (!this.#tables.has(table)) continue
      const columns = this.#tables.list(table, [...ITEM, ...CONTENT, ...GRAY_COLUMNS])
      const most = mostOf(await this.#database.count(table))
      const sql = `SELECT ${columns} FROM ${table} ORDER BY id`
      for await (const row of this.#database.stream(sql, [], most)) {
        const line = this.#gray(row, nameOf(row))
        const name = `${itemName(line)} ${line.name}`
        if (seen.has(name)) continue
        seen.add(name)
        // Servers show beta versions, and some show all.
        if (this.#server.brought(line) && line.name === 'beta') continue
        if (this.#items.has(itemName(line)) || this.#server.brought(line)) yield* contentLines(line)
        else yield cannotCome('gray', name, 'the item itself is not there any longer')
      }
    }
  }

  #gray(row: DatabaseRow, { name, rule, expression, priority }: GrayRule): PlanGray {
    const modifiedMs = this.#zone.toMs(row['gmt_modified'])
    return { kind: 'gray', ...itemOf(row), ...contentOf(row), name, rule, expression, priority, modifiedMs }
  }

  /** Notes about data that this server cannot hold. */
  async *#leftOut(): AsyncGenerator<PlanLine> {
    if (this.#tables.has('config_info_aggr')) {
      const rows = await this.#database.count('config_info_aggr')
      if (rows > 0)
        yield cannotCome('config', 'aggregates', `${rows} rows of config_info_aggr: there are none here`)
    }
    for (const table of ['tenant_capacity', 'group_capacity']) {
      if (!this.#tables.has(table, 'quota')) continue
      const rows = await this.#database.count(`${table} WHERE quota > 0 OR max_size > 0`)
      if (rows > 0) yield cannotCome('config', 'quotas', `${rows} rows of ${table}: there are none here`)
    }
  }
}

/** Tables without transactions may grow between the count and the rows. */
function mostOf(counted: number): number {
  return 2 * counted + 10_000
}

function typeIn(extInfo: string | null | undefined): string | null {
  const { type } = jsonOf(extInfo)
  return typeof type === 'string' ? type : null
}

function itemOf(row: DatabaseRow): PlanItem {
  return {
    namespace: spaceOf(row['tenant_id']),
    group: row['group_id'] ?? '',
    dataId: row['data_id'] ?? '',
  }
}

function spaceOf(tenant: string | null | undefined): string {
  return tenant === 'public' ? '' : (tenant ?? '')
}

function contentOf(row: DatabaseRow): Pick<PlanConfig, 'content' | 'md5' | 'encryptedDataKey' | 'appName'> {
  return {
    content: row['content'] ?? '',
    md5: row['md5'] || null,
    encryptedDataKey: row['encrypted_data_key'] ?? '',
    appName: row['app_name'] ?? '',
  }
}

function remark(about: string, name: string, reason: string): PlanNote {
  return { kind: 'remark', about, name, reason }
}

function cannotCome(about: string, name: string, reason: string): PlanNote {
  return { kind: 'cannot-come', about, name, reason }
}
