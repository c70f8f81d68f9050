import {
  type ArchivedConfig,
  archiveFiles,
  type ArchiveItem,
  checkContents,
  type ConfigArchive,
  folderText,
  isMissing,
  nothingInZip,
  readArchive,
  type Unrecognized,
} from '../../archive/config-archive.ts'
import { entryName, READ_AS } from '../../archive/entry-names.ts'
import { openZip } from '../../archive/zip-reader.ts'
import { zipChunks } from '../../archive/zip-writer.ts'
import { bytesOf } from '../configs/item.ts'
import { requireSizes } from '../content-limit.ts'
import { type NamespaceFlags, targetOf } from '../session-of-flags.ts'
import { type CommandResult, DiffersError, EXIT, messageOf } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import {
  type AheadItem,
  type ImportAnswer,
  isWaypost,
  type NamedItem,
  TransferClient,
  type UnknownType,
} from './transfer-client.ts'

/** The file may be large: it is sent in parts, and the server limits each part. */
const LIMITS = { maxEntries: 65_534, maxEntryBytes: 64 * 1024 * 1024, maxTotalBytes: Infinity }

/** The most bytes of one request: small enough to show progress, and for the limits of any server. */
const MAX_ITEMS = 500
const MAX_BYTES = 16 * 1024 * 1024

/** The most names of a kind that are printed. */
const MAX_SHOWN = 20

/** The flags of `waypost import`. */
export interface ImportFlags extends NamespaceFlags {
  readonly from: string
  readonly policy: string
  readonly dryRun?: boolean
}

/**
 * `waypost import`: publishes the items of a zip in a namespace. Exit code 1 also if an item exists and the policy is
 * abort, or if something is left out that looks like an item.
 */
export async function importConfigs(flags: ImportFlags, progress: Progress): Promise<CommandResult> {
  const archive = await checkedArchive(flags.from)
  if (archive.items.length === 0) throw new DiffersError(nothingInZip(archive.unrecognized))
  const isDryRun = flags.dryRun === true
  const client = await clientFor(flags, archive)
  const { namespace } = client
  const policy = flags.policy.toUpperCase()
  const query = { namespace, policy, ...(isDryRun && { dryRun: 'true' }) }
  const sum = await sendAll(archive, (zip) => client.upload(query, zip), progress)
  if (sum.published + sum.skipped.length + sum.failed.length === 0)
    throw new DiffersError(nothingInZip(sum.unrecognized.map(({ name }) => ({ name }))))
  const { folder } = archive
  const report = reportOf(sum, { isDryRun, policy })
  const text = (folder === undefined ? '' : `${folderText(folder)}\n`) + report
  const missing = sum.unrecognized.filter(isMissing).map(({ name }) => name)
  const unrecognized = sum.unrecognized.map(({ name }) => name)
  return {
    code: sum.failed.length + missing.length > 0 ? EXIT.differs : EXIT.done,
    text,
    json: { ...sum, unrecognized, missing, folder: folder ?? '' },
  }
}

/** Waypost says more under its own path, such as the right that is missing. Others would ignore `dryRun`, and import. */
async function clientFor(flags: ImportFlags, { items }: ConfigArchive): Promise<TransferClient> {
  const target = targetOf(flags)
  if (await isWaypost(target)) {
    const sizes = items.map(({ metadata, entry }) => ({ ...metadata, bytes: entry.bytes }))
    await requireSizes(target, sizes)
    return new TransferClient(flags, '/svc/v1')
  }
  if (flags.dryRun === true)
    throw new Error(`${target.url} is no Waypost server: a dry run would import there, so nothing was sent`)
  return new TransferClient(flags, '/nacos/v1')
}

/** Unpacks everything once, so that nothing of a damaged file is sent. Throws DiffersError for a file that is absent or damaged. */
async function checkedArchive(file: string): Promise<ConfigArchive> {
  const zip = await zipOf(file)
  try {
    const archive = await readArchive(await openZip(zip, LIMITS))
    await checkContents(archive.items)
    return archive
  } catch (cause) {
    throw new DiffersError(`Nothing of ${file} was imported: ${messageOf(cause)}`, { cause })
  }
}

async function zipOf(file: string): Promise<Buffer> {
  try {
    return await bytesOf(file)
  } catch (error) {
    const { code } = (error as Error).cause as NodeJS.ErrnoException
    if (code === 'EISDIR')
      throw new DiffersError(
        `${file} is a directory, and not a file. \`config apply\` publishes a directory.`,
      )
    throw code === 'ENOENT' ? new DiffersError((error as Error).message, { cause: error }) : error
  }
}

interface Sum {
  published: number
  readonly skipped: NamedItem[]
  readonly failed: NamedItem[]
  /** Names that are not imported. Other servers give no reason. */
  readonly unrecognized: { readonly name: string; readonly reason: Unrecognized['reason'] | undefined }[]
  /** Items whose files have their names in another form of Unicode. */
  readonly readAs: NamedItem[]
  readonly unknownTypes: UnknownType[]
  /** Each item that a dry run would publish. */
  readonly ahead: AheadItem[]
}

async function sendAll(
  { items, unrecognized, version }: ConfigArchive,
  send: (zip: readonly Buffer[]) => Promise<ImportAnswer>,
  progress: Progress,
): Promise<Sum> {
  const sum: Sum = {
    published: 0,
    skipped: [],
    failed: [],
    ahead: [],
    unknownTypes: [],
    unrecognized: [...unrecognized],
    readAs: items
      .filter(({ isReadAs }) => isReadAs)
      .map(({ metadata: { group, dataId } }) => ({ group, dataId })),
  }
  let done = 0
  for (const part of partsOf(items)) {
    progress.show(`${done} of ${items.length} items`)
    const contents = await Promise.all(part.map(unpacked))
    const zip: Buffer[] = []
    for await (const chunk of zipChunks(archiveFiles(contents, version))) zip.push(chunk)
    add(sum, await sendPart(send, zip, done), part)
    done += part.length
    if (sum.failed.length > 0) break
  }
  sum.skipped.push(...items.slice(done).map(({ metadata }) => metadata))
  return sum
}

/** Sends a part. An error after the first part names the number of handled items. */
async function sendPart(
  send: (zip: readonly Buffer[]) => Promise<ImportAnswer>,
  zip: readonly Buffer[],
  done: number,
): Promise<ImportAnswer> {
  try {
    return await send(zip)
  } catch (error) {
    const before = `the first ${done} items were handled, the next ones were not`
    throw done === 0 ? error : new Error(`${messageOf(error)} (${before})`, { cause: error })
  }
}

function* partsOf(items: readonly ArchiveItem[]): Generator<ArchiveItem[]> {
  let part: ArchiveItem[] = []
  let bytes = 0
  for (const item of items) {
    if (part.length === MAX_ITEMS || (part.length > 0 && bytes + item.entry.bytes > MAX_BYTES)) {
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

function add(sum: Sum, answer: ImportAnswer, part: readonly ArchiveItem[]): void {
  const { succCount = 0, succData = [], skipData = [], failData = [] } = answer
  const { unrecognizedData = [], unknownTypeData = [] } = answer
  // The names as the user's file has them.
  const nameOf = new Map(part.map(({ metadata, entry }) => [entryName(metadata), entry.name]))
  sum.published += succCount
  sum.ahead.push(...succData.filter(({ change }) => change !== undefined))
  sum.skipped.push(...skipData)
  sum.failed.push(...failData)
  sum.unknownTypes.push(...unknownTypeData)
  for (const { itemName } of unrecognizedData)
    sum.unrecognized.push({ name: nameOf.get(itemName) ?? itemName, reason: undefined })
}

/** Under `abort` the items after the first existing one are not tried; the others were left alone. */
function reportOf(
  { published, skipped, failed, unrecognized, readAs, unknownTypes, ahead }: Sum,
  { isDryRun, policy }: { isDryRun: boolean; policy: string },
): string {
  const verb = isDryRun ? 'would be imported' : 'imported'
  const isStopped = policy === 'ABORT' && failed.length > 0
  const left = isStopped ? 'not tried' : 'skipped'
  const lines = [`${published} items ${verb}, ${skipped.length} ${left}, ${failed.length} in conflict`]
  lines.push(...aheadLines(ahead))
  lines.push(...listed('exists already, stopped there', failed.map(nameOf)))
  if (isStopped)
    lines.push('  (--policy skip leaves such items as they are, --policy overwrite replaces them)')
  lines.push(...listed(left, skipped.map(nameOf)))
  const names = (areMissed: boolean): string[] =>
    unrecognized.filter((one) => isMissing(one) === areMissed).map(withReason)
  lines.push(...listed('not recognised', names(true)))
  lines.push(...listed('left out', names(false)))
  lines.push(...listed(READ_AS, readAs.map(nameOf)))
  lines.push(...listed(UNKNOWN_TYPE, unknownTypes.map(withType)))
  return `${lines.join('\n')}\n`
}

const UNKNOWN_TYPE = 'unknown type, a new item has the type of its name'

function withType(item: UnknownType): string {
  return `${nameOf(item)} (${item.type})`
}

const REASONS: Readonly<Record<Unrecognized['reason'], string>> = {
  'bad-name': 'not named GROUP/DATA_ID, or by no name of an item',
  'not-in-metadata': 'not in the metadata',
  'no-entry': 'in the metadata, but not in the file',
  litter: 'of a system or an editor',
  'metadata-elsewhere': 'metadata that is not read',
  link: 'a link, and no file',
  'set-record': 'the record of a set',
}

function withReason({ name, reason }: Sum['unrecognized'][number]): string {
  return reason === undefined ? name : `${name} (${REASONS[reason]})`
}

function nameOf({ group, dataId }: NamedItem): string {
  return `${group}/${dataId}`
}

/** The effect of an import: how many items of each kind, and each item with the number of its clients. */
function aheadLines(ahead: readonly AheadItem[]): string[] {
  const kinds = (['new', 'changed', 'equal', 'unknown'] as const).map((kind) => {
    return [kind, ahead.filter(({ change }) => change === kind)] as const
  })
  return kinds.flatMap(([kind, items]) => listed(KINDS[kind], items.map(withListeners)))
}

const KINDS = {
  new: 'new',
  changed: 'changed',
  equal: 'equal',
  unknown: 'new or changed (you may not read it)',
} as const

function withListeners(item: AheadItem): string {
  const { watcherCount = 0 } = item
  if (watcherCount === 0) return nameOf(item)
  return `${nameOf(item)} (${watcherCount === 1 ? '1 client listens' : `${watcherCount} clients listen`})`
}

/** Names come from a file or another server: no format character may turn a terminal's text around. */
function listed(what: string, names: readonly string[]): string[] {
  const shown = names
    .slice(0, MAX_SHOWN)
    .map((name) => `  ${what}: ${name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')}`)
  return names.length > MAX_SHOWN ? [...shown, `  … and ${names.length - MAX_SHOWN} more`] : shown
}
