import type { AuditResult, SignedInBy } from '../../../core/audit/audit-event.ts'
import { bytes, defineTable, flag, number, orNull, type Table, text } from './table.ts'

/** Every table of the file, in an order that respects references; `schema.ts` creates them with the same columns. */
export const TABLES = {
  /** Values of the store's own; see `meta.ts`. */
  meta: defineTable('meta', { name: text('name'), value: text('value') }, { key: ['name'] }),

  /** The number of the key of an item in the other tables. */
  config_name: defineTable(
    'config_name',
    {
      id: number('id'),
      namespaceId: text('namespace_id'),
      group: text('group_name'),
      dataId: text('data_id'),
    },
    { key: ['id'] },
  ),

  /** The versions of items, and their deletions. */
  config_revision: defineTable(
    'config_revision',
    {
      id: number('id'),
      nameId: number('name_id'),
      itemId: number('item_id'),
      op: text<'I' | 'U' | 'D'>('op'),
      /** The revision that this one replaces; null for a new item. */
      prevId: orNull(number('prev_id')),
      // These four are null for a deletion.
      md5: orNull(text('md5')),
      type: orNull(text('type')),
      appName: orNull(text('app_name')),
      encryptedDataKey: orNull(text('encrypted_data_key')),
      srcIp: text('src_ip'),
      srcUser: orNull(text('src_user')),
      atMs: number('at_ms'),
      /** JSON of a `HistoryNote`; null: there is none. */
      note: orNull(text('note')),
      /** History no longer shows it; see `schema.ts`. Cleaning changes this column alone. */
      hidden: flag('hidden'),
      /** Null for a deletion, and if it was not read. */
      content: orNull(bytes('content')),
    },
    { key: ['id'], loose: ['hidden'], isAppended: true },
  ),

  /** The fields of an item that do not belong to a version. */
  config_item: defineTable(
    'config_item',
    {
      nameId: number('name_id'),
      id: number('id'),
      /** The revision that this row was written with; see `schema.ts`. */
      revisionId: number('revision_id'),
      createdMs: number('created_ms'),
      createUser: orNull(text('create_user')),
      createIp: text('create_ip'),
      desc: orNull(text('description')),
      use: orNull(text('use')),
      effect: orNull(text('effect')),
      schema: orNull(text('schema')),
      configTags: orNull(text('config_tags')),
    },
    { key: ['nameId'] },
  ),

  /** Small records of all kinds (`RecordKind`); `value` is JSON. */
  record: defineTable(
    'record',
    { recordKind: text('kind'), id: text('id'), value: text('value') },
    { key: ['recordKind', 'id'] },
  ),

  /** Services without their instances; `selector`, `clusters` and `metadata` are JSON. */
  service: defineTable(
    'service',
    {
      serial: number('serial'),
      namespaceId: text('namespace_id'),
      groupedName: text('grouped_name'),
      protectThreshold: number('protect_threshold'),
      madeBy: text<'operator' | 'registration'>('made_by'),
      selector: text('selector'),
      clusters: text('clusters'),
      metadata: text('metadata'),
      savedMs: number('saved_ms'),
    },
    { key: ['serial'] },
  ),

  /** Instances; `record` is the text of `instance-text.ts`. */
  instance: defineTable(
    'instance',
    {
      serial: number('serial'),
      serviceSerial: number('service_serial'),
      healthy: flag('healthy'),
      record: text('record'),
    },
    { key: ['serial'], rowsAtOnce: 50 },
  ),

  /** Events of the audit. */
  audit: defineTable(
    'audit',
    {
      id: number('id'),
      atMs: number('at_ms'),
      username: text('username'),
      by: text<SignedInBy>('signed_in_by'),
      ip: text('ip'),
      operation: text('operation'),
      item: text('item'),
      result: text<AuditResult>('result'),
      code: text('code'),
      detail: text('detail'),
      count: number('count'),
    },
    { key: ['id'], rowsAtOnce: 50 },
  ),
} as const

/** The name of a table. */
export type TableName = keyof typeof TABLES

/** A row of a table, with named fields. */
export type RowOf<T extends TableName> = (typeof TABLES)[T] extends Table<infer R> ? R : never

/** All names of tables, in the order of `TABLES`. */
export const TABLE_NAMES = Object.keys(TABLES) as TableName[]

/** A row of `meta`. */
export type MetaRow = RowOf<'meta'>
/** A row of `config_name`. */
export type NameRow = RowOf<'config_name'>
/** A row of `config_revision`. */
export type RevisionRow = RowOf<'config_revision'>
/** A row of `config_item`. */
export type ItemRow = RowOf<'config_item'>
/** A row of `service`. */
export type ServiceRow = RowOf<'service'>
/** A row of `instance`. */
export type InstanceRow = RowOf<'instance'>
/** A row of `record`. */
export type RecordRow = RowOf<'record'>
