import { readFile } from 'node:fs/promises'
import {
  type ArchivedConfig,
  archiveFiles,
  type ArchiveItem,
  type ConfigArchive,
  readArchive,
  readContent,
} from '../archive/config-archive.ts'
import { openZip } from '../archive/zip-reader.ts'
import { zipChunks } from '../archive/zip-writer.ts'
import { ProgressLine } from './progress-line.ts'
import { type ImportAnswer, mustKnowDryRun, type NamedItem, uploadZip } from './transfer-client.ts'
import { exitCodeOf, readFlags, required, serverUrl, UsageError } from './transfer-flags.ts'

/** A file of one's own may be large: it is sent in parts, and each is limited by the server. */
const LIMITS = { maxEntries: 65_534, maxEntryBytes: 64 * 1024 * 1024, maxTotalBytes: Infinity }

/** So much is sent at a time: little enough to show progress, and for the limits of any server. */
const MOST_ITEMS = 500
const MOST_BYTES = 16 * 1024 * 1024

const POLICIES = ['abort', 'skip', 'overwrite']

/** How many names of a kind are printed. */
const MOST_SHOWN = 20

const OPTIONS = {
  url: { type: 'string' },
  namespace: { type: 'string' },
  from: { type: 'string' },
  policy: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const

/**
 * `waypost import`: publishes the items of a zip file in a namespace. Resolves with the exit code: 1 also where an
 * item was there already and the policy is abort.
 */
export function importConfigs(args: readonly string[]): Promise<number> {
  return exitCodeOf(async () => {
    const flags = readFlags(args, OPTIONS)
    const url = serverUrl(flags.url)
    const policy = flags.policy ?? 'abort'
    if (!POLICIES.includes(policy)) throw new UsageError(`--policy must be one of ${POLICIES.join(', ')}`)
    const archive = await checkedArchive(required('from', flags.from, 'the zip file to read'))
    const isDryRun = flags['dry-run'] === true
    if (isDryRun) await mustKnowDryRun(url)
    const query = {
      namespace: flags.namespace ?? '',
      policy: policy.toUpperCase(),
      ...(isDryRun && { dryRun: 'true' }),
    }
    const sum = await sendAll(archive, (zip) => uploadZip(url, query, zip))
    report(sum, isDryRun)
    return sum.failed.length > 0 ? 1 : 0
  })
}

/** Everything is unpacked once, so that nothing is sent of a file that is damaged. */
async function checkedArchive(file: string): Promise<ConfigArchive> {
  const archive = await readArchive(openZip(await readFile(file), LIMITS))
  for (const { entry } of archive.items) await readContent(entry)
  return archive
}

interface Sum {
  published: number
  readonly skipped: NamedItem[]
  readonly failed: NamedItem[]
  readonly unrecognized: string[]
}

async function sendAll(
  { items, unrecognized, version }: ConfigArchive,
  send: (zip: readonly Buffer[]) => Promise<ImportAnswer>,
): Promise<Sum> {
  const sum: Sum = {
    published: 0,
    skipped: [],
    failed: [],
    unrecognized: unrecognized.map(({ name }) => name),
  }
  const progress = new ProgressLine()
  let done = 0
  for (const part of partsOf(items)) {
    progress.show(`${done} of ${items.length} items`)
    const contents = await Promise.all(part.map(unpacked))
    const zip: Buffer[] = []
    for await (const chunk of zipChunks(archiveFiles(contents, version))) zip.push(chunk)
    add(sum, await sendOrTell(send, zip, done))
    done += part.length
    if (sum.failed.length > 0) break
  }
  progress.end()
  sum.skipped.push(...items.slice(done).map(({ metadata }) => metadata))
  return sum
}

/** An error in the middle says how far the import has come. */
async function sendOrTell(
  send: (zip: readonly Buffer[]) => Promise<ImportAnswer>,
  zip: readonly Buffer[],
  done: number,
): Promise<ImportAnswer> {
  try {
    return await send(zip)
  } catch (error) {
    const before = `the first ${done} items were handled, the next ones were not`
    throw done === 0 ? error : new Error(`${(error as Error).message} (${before})`, { cause: error })
  }
}

function* partsOf(items: readonly ArchiveItem[]): Generator<ArchiveItem[]> {
  let part: ArchiveItem[] = []
  let bytes = 0
  for (const item of items) {
    if (part.length === MOST_ITEMS || (part.length > 0 && bytes + item.entry.bytes > MOST_BYTES)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += item.entry.bytes
  }
  if (part.length > 0) yield part
}

async function unpacked({ metadata, entry }: ArchiveItem): Promise<ArchivedConfig> {
  return { metadata, content: await entry.read(), modifiedMs: 0 }
}

function add(
  sum: Sum,
  { succCount = 0, skipData = [], failData = [], unrecognizedData = [] }: ImportAnswer,
): void {
  sum.published += succCount
  sum.skipped.push(...skipData)
  sum.failed.push(...failData)
  sum.unrecognized.push(...unrecognizedData.map(({ itemName }) => itemName))
}

function report({ published, skipped, failed, unrecognized }: Sum, isDryRun: boolean): void {
  const verb = isDryRun ? 'would be imported' : 'imported'
  const lines = [`${published} items ${verb}, ${skipped.length} skipped, ${failed.length} in conflict`]
  const nameOf = ({ group, dataId }: NamedItem): string => `${group}/${dataId}`
  lines.push(...listed('is there already, nothing behind it was imported', failed.map(nameOf)))
  lines.push(...listed('skipped', skipped.map(nameOf)))
  lines.push(...listed('not recognised', unrecognized))
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Names come from a file or another server: nothing in them may reach a terminal as it is. */
function listed(what: string, names: readonly string[]): string[] {
  const shown = names
    .slice(0, MOST_SHOWN)
    .map((name) => `  ${what}: ${name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')}`)
  return names.length > MOST_SHOWN ? [...shown, `  … and ${names.length - MOST_SHOWN} more`] : shown
}
