import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { checkContents, readArchive } from '../../archive/config-archive.ts'
import { openZip } from '../../archive/zip-reader.ts'
import type { NamespaceFlags } from '../session-of-flags.ts'
import { type CommandResult, DiffersError, EXIT, messageOf, UsageError } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import { tell } from '../../command/standard-error.ts'
import { TransferClient, type TransferRoot } from './transfer-client.ts'

/** The file is only read to check it, so nothing limits its size. */
const NO_LIMITS = { maxEntries: Infinity, maxEntryBytes: Infinity, maxTotalBytes: Infinity }

/** The flags of `waypost export`. */
export interface ExportFlags extends NamespaceFlags {
  readonly allNamespaces?: boolean
  readonly group?: string
  readonly dataId?: string
  readonly to: string
}

/** `waypost export`: writes the configurations of a namespace into a zip file, or a file for each namespace. */
export async function exportConfigs(
  flags: ExportFlags,
  progress: Progress,
  root: TransferRoot,
): Promise<CommandResult> {
  const client = new TransferClient(flags, root)
  const { namespace } = client
  const names = { group: flags.group ?? '', dataId: flags.dataId ?? '' }
  if (flags.to === '-' && flags.allNamespaces !== true)
    return { code: EXIT.done, bytes: await exported(client, { ...names, tenant: namespace }, progress) }
  if (flags.allNamespaces !== true)
    return done(await exportTo(flags.to, { client, query: { ...names, tenant: namespace } }, progress))
  if (flags.namespace !== undefined)
    throw new UsageError('--namespace and --all-namespaces exclude each other')
  await mkdir(flags.to, { recursive: true })
  let text = ''
  for (const tenant of await client.namespaces()) {
    const file = join(flags.to, `${fileName(tenant)}.zip`)
    text += await exportTo(file, { client, query: { ...names, tenant } }, progress)
  }
  return done(text)
}

function done(text: string): CommandResult {
  return { code: EXIT.done, text }
}

/** The file of a namespace. Throws for an id that would be no plain file name. */
function fileName(tenant: string): string {
  if (tenant === '') return 'public'
  if (!/^[\w-]{1,128}$/.test(tenant))
    throw new Error(`the namespace ${JSON.stringify(tenant)} cannot name a file: export it with --namespace`)
  return tenant
}

interface Export {
  readonly client: TransferClient
  readonly query: { readonly tenant: string; readonly group: string; readonly dataId: string }
}

/** Exports into a file, which gets its name once it is complete and checked. Resolves with a line about it. */
async function exportTo(file: string, { client, query }: Export, progress: Progress): Promise<string> {
  if (existsSync(file)) throw new Error(`${file} exists already: remove it, or choose another name`)
  if (!existsSync(dirname(file)))
    throw new UsageError(`The directory ${dirname(file)} does not exist: make it, or choose another one`)
  const part = `${file}.part`
  try {
    const response = await client.openExport(query)
    const counted = countBytes(progress)
    await pipeline(Readable.fromWeb(response.body!), counted, createWriteStream(part))
    const count = await checkedCount(await readFile(part))
    await rename(part, file)
    return `${file}: ${count} items of namespace ${query.tenant || 'public'}\n${leftOutOf(response)}`
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** An export as one piece, checked, so that standard output gets a whole file. */
async function exported(client: TransferClient, query: Export['query'], progress: Progress): Promise<Buffer> {
  const response = await client.openExport(query)
  const chunks: Uint8Array[] = []
  for await (const chunk of countBytes(progress)(response.body!)) chunks.push(chunk)
  const zip = Buffer.concat(chunks)
  await checkedCount(zip)
  // The zip itself is on standard output.
  tell(leftOutOf(response))
  return zip
}

/** A line about gray versions that the file lacks; empty if it lacks none. */
function leftOutOf(response: Response): string {
  const count = response.headers.get('waypost-gray-left-out')
  if (count === null) return ''
  return `Without ${count} gray version${count === '1' ? '' : 's'}: such a file has formal versions only. A backup has all.\n`
}

function countBytes(progress: Progress) {
  let bytes = 0
  return async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      bytes += chunk.length
      progress.show(`${(bytes / 1_048_576).toFixed(1)} MiB received`)
      yield chunk
    }
  }
}

async function checkedCount(zip: Buffer): Promise<number> {
  try {
    const { items } = await readArchive(await openZip(zip, NO_LIMITS))
    await checkContents(items)
    return items.length
  } catch (cause) {
    throw new DiffersError(`The export of the server is damaged: ${messageOf(cause)}`, { cause })
  }
}
