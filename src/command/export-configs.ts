import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readArchive, readContent } from '../archive/config-archive.ts'
import { openZip } from '../archive/zip-reader.ts'
import { ProgressLine } from './progress-line.ts'
import { namespacesOf, openExport } from './transfer-client.ts'
import { exitCodeOf, readFlags, required, serverUrl, TransferError, UsageError } from './transfer-flags.ts'

/** Everything fits: what the server sends is its own, and is only read to check it. */
const NO_LIMITS = { maxEntries: Infinity, maxEntryBytes: Infinity, maxTotalBytes: Infinity }

const OPTIONS = {
  url: { type: 'string' },
  namespace: { type: 'string' },
  'all-namespaces': { type: 'boolean' },
  group: { type: 'string' },
  'data-id': { type: 'string' },
  to: { type: 'string' },
} as const

/** `waypost export`: writes the configurations of a namespace into a zip file. Resolves with the exit code. */
export function exportConfigs(args: readonly string[]): Promise<number> {
  return exitCodeOf(async () => {
    const flags = readFlags(args, OPTIONS)
    const url = serverUrl(flags.url)
    const names = { group: flags.group ?? '', dataId: flags['data-id'] ?? '' }
    if (flags['all-namespaces'] !== true) {
      const to = required('to', flags.to, 'the zip file to write')
      await exportTo(to, url, { ...names, tenant: flags.namespace ?? '' })
      return 0
    }
    if (flags.namespace !== undefined)
      throw new UsageError('--namespace and --all-namespaces exclude each other')
    const directory = required('to', flags.to, 'the directory to write a zip file for each namespace into')
    await mkdir(directory, { recursive: true })
    for (const tenant of await namespacesOf(url))
      await exportTo(join(directory, `${fileName(tenant)}.zip`), url, { ...names, tenant })
    return 0
  })
}

/** What a server calls a namespace becomes a file name only where it can be nothing else. */
function fileName(tenant: string): string {
  if (tenant === '') return 'public'
  if (!/^[\w-]{1,128}$/.test(tenant))
    throw new TransferError(
      `the namespace ${JSON.stringify(tenant)} cannot name a file: export it with --namespace`,
    )
  return tenant
}

/** The file appears under its name once it is whole and checked. */
async function exportTo(
  file: string,
  url: string,
  query: { readonly tenant: string; readonly group: string; readonly dataId: string },
): Promise<void> {
  if (existsSync(file)) throw new TransferError(`${file} exists already: remove it, or choose another name`)
  const part = `${file}.part`
  try {
    await download(part, url, query)
    const count = await checkedCount(part)
    await rename(part, file)
    process.stdout.write(`${file}: ${count} items of namespace ${query.tenant || 'public'}\n`)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

async function download(part: string, url: string, query: Readonly<Record<string, string>>): Promise<void> {
  const response = await openExport(url, query)
  const progress = new ProgressLine()
  let bytes = 0
  const counted = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      bytes += chunk.length
      progress.show(`${(bytes / 1_048_576).toFixed(1)} MiB received`)
      yield chunk
    }
  }
  await pipeline(Readable.fromWeb(response.body!), counted, createWriteStream(part))
  progress.end()
}

async function checkedCount(file: string): Promise<number> {
  const { items } = await readArchive(openZip(await readFile(file), NO_LIMITS))
  for (const { entry } of items) await readContent(entry)
  return items.length
}
