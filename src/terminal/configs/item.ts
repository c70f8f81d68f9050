import type { ConfigItem } from '../answers.ts'
import { readFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { UsageError } from '../../command/command-line.ts'
import { readingError } from '../../command/system-errors.ts'
import type { ClientFlags } from '../server-options.ts'
import type { Params, SvcClient } from '../session-of-flags.ts'

/** The flags of commands about one configuration item. */
export interface ItemFlags extends ClientFlags {
  readonly group?: string
}

/** The names of an item in its namespace. */
export interface ItemName {
  readonly group: string
  readonly dataId: string
}

const DEFAULT_GROUP = 'DEFAULT_GROUP'

/** A sentence where a name of an item is written with blanks around; else empty. */
export function blanksText(word: string, { group = '' }: { readonly group?: string }): string {
  const isTrimmed = [group, ...word.split('/')].some((name) => name !== name.trim())
  return isTrimmed ? ' Blanks at the ends of its name are left out.' : ''
}

/** The item that a word names: `DATA_ID`, or `GROUP/DATA_ID` as lists print it. */
export function itemOf(word: string, flags: { readonly group?: string }): ItemName {
  const group = flags.group?.trim()
  // The server trims names, so that answers show them trimmed.
  const [before, after, ...others] = word.split('/').map((name) => name.trim())
  if (after === undefined) return { group: group ?? DEFAULT_GROUP, dataId: before! }
  if (others.length > 0 || before === '' || after === '')
    throw new UsageError(`${JSON.stringify(word)} is no DATA_ID and no GROUP/DATA_ID`)
  if (group !== undefined && group !== before)
    throw new UsageError(`${JSON.stringify(word)} names another group than --group ${group}`)
  return { group: before!, dataId: after }
}

/** As lists print it. */
export function nameText({ group, dataId }: ItemName): string {
  return `${group}/${dataId}`
}

/** The parameters that name an item. */
export function itemParams(client: SvcClient, { group, dataId }: ItemName): Params {
  return { tenant: client.namespace, group, dataId }
}

/** An item with its content. Rejects with a DiffersError if it is missing. */
export function readItem(client: SvcClient, name: ItemName): Promise<ConfigItem> {
  return client.get<ConfigItem>('/cs/configs', { ...itemParams(client, name), show: 'all' })
}

/** The bytes of a file; `-` is standard input. Throws UsageError for a file that cannot be read. */
export async function bytesOf(file: string): Promise<Buffer> {
  if (file !== '-')
    return readFile(file).catch((cause: Error) => {
      throw new UsageError(readingError(file, cause), { cause })
    })
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Bytes as the text that the server stores, with their byte order mark. Throws UsageError for bytes that are not UTF-8. */
export function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    const name = file === '-' ? 'standard input' : file
    throw new UsageError(`${name} is not UTF-8: the server stores text only.`, { cause })
  }
}

/** The md5 by which servers and clients name a content. */
export function md5Of(content: string): string {
  return createHash('md5').update(content).digest('hex')
}
