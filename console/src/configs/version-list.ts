import { readConfig, readRecord, type ConfigName, type HistoryRecord } from '../server/configs.ts'

/** One version of an item: what it was after a change. */
export interface Version {
  /** The id of the record of its change. */
  readonly id: string
  readonly op: 'I' | 'U' | 'D'
  readonly user: string | null
  readonly ip: string | null
  readonly atMs: number
  /** Where its text is: the current item, a record of the history, or nowhere, because the change deleted the item. */
  readonly text:
    | { readonly kind: 'current' }
    | { readonly kind: 'record'; readonly id: string }
    | { readonly kind: 'none' }
}

/**
 * Versions from the records of a history, both newest first. A record holds the text *before* its change, so the text of a
 * version is in the record of the change after it.
 */
export function versionsOf(records: readonly HistoryRecord[]): Version[] {
  return records.map((record, index) => {
    const op = record.opType.trim() as Version['op']
    const newer = records[index - 1]
    return {
      id: record.id,
      op,
      user: record.srcUser,
      ip: record.srcIp,
      atMs: Date.parse(record.createdTime.replace(/\+0000$/, 'Z')),
      text: textOf(op, newer),
    }
  })
}

function textOf(op: Version['op'], newer: HistoryRecord | undefined): Version['text'] {
  if (op === 'D') return { kind: 'none' }
  return newer === undefined ? { kind: 'current' } : { kind: 'record', id: newer.id }
}

/** The text of a version; empty where the change deleted the item. */
export async function readVersion(name: ConfigName, { text }: Version): Promise<string> {
  switch (text.kind) {
    case 'current':
      return (await readConfig(name)).content
    case 'record':
      return (await readRecord(name, text.id)).content ?? ''
    case 'none':
      return ''
  }
}
