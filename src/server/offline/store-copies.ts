import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import type { Copied, Salvaged, StoreCopies } from '../commands/stopped-server.ts'
import type { Settings } from '../../settings/settings.ts'
import { sha256OfFile, writeFacts } from '../../store/embedded/backup/backup-facts.ts'
import { verifyBackup } from '../../store/embedded/backup/restore.ts'
import { DirectorySource } from '../../store/embedded/copy/directory-source.ts'
import { begunIn, DirectoryTarget, forgetBegun } from '../../store/embedded/copy/directory-target.ts'
import {
  BESIDE_A_STORE,
  databasePath,
  refuseUsedDirectory,
  syncPath,
} from '../../store/embedded/database/data-directory.ts'
import { examineApart } from '../../store/embedded/doctor/examiner-process.ts'
import { FORMAT } from '../../store/embedded/database/format.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { type EtcdPlace, EtcdSource } from '../../store/etcd/copy/etcd-source.ts'
import { EtcdTarget } from '../../store/etcd/copy/etcd-target.ts'
import { examineEtcd } from '../../store/etcd/copy/examine-etcd.ts'
import { confirmEmpty } from '../../store/etcd/format/confirm-empty.ts'
import { Keys } from '../../store/etcd/keys/keys.ts'
import { openEtcd } from '../../store/etcd/open-etcd.ts'
import { DamagedStore, type Examination, NotExaminable, type OnProgress } from '../../store/local-file.ts'
import { saysDamaged } from '../../store/embedded/database/store-errors.ts'
import {
  copyParts,
  countOf,
  forAnother,
  forBackup,
  type CopyFilter,
  refuseDifference,
  type StoredSource,
  type StoredTarget,
  sumsOf,
} from '../../store/stored-data.ts'
import { etcdPlaceOf, unreadableRecord } from '../shared/etcd-place.ts'

/** Copies between the stores, their backups, and the doctor of etcd. */
export const storeCopies: StoreCopies = {
  async copy(from, to, onProgress) {
    if ('directory' in from && 'etcd' in to)
      return withEtcd(to.etcd, (etcd) => intoEtcd(from.directory, etcd, { leaveOut: forAnother, onProgress }))
    if ('etcd' in from && 'directory' in to)
      return withEtcd(from.etcd, (etcd) => intoDirectory(etcd, to.directory, onProgress))
    throw new NotExaminable('One of --from and --to is `etcd`, and the other one is a directory.')
  },

  async salvage(from, to, onProgress) {
    if ('directory' in from) {
      if ('directory' in to) return salvageDirectory(from.directory, to.directory, onProgress)
      const sound = mkdtempSync(join(tmpdir(), 'waypost-salvage-'))
      try {
        const { leftOut } = await salvageDirectory(from.directory, sound, onProgress)
        const into = (etcd: EtcdPlace) => intoEtcd(sound, etcd, { leaveOut: forAnother, onProgress })
        return { counts: (await withEtcd(to.etcd, into)).counts, leftOut }
      } finally {
        rmSync(sound, { recursive: true, force: true })
      }
    }
    if ('directory' in to) return withEtcd(from.etcd, (etcd) => salvageEtcd(etcd, to.directory, onProgress))
    throw new NotExaminable('One of --from and --to is a directory.')
  },

  restore: (backup, settings, onProgress) =>
    withEtcd(settings, (etcd) => intoEtcd(backup, etcd, { leaveOut: forBackup, onProgress })),

  backup: (settings, options, onProgress) =>
    withEtcd(settings, async (etcd) => {
      const { to, ...named } = options
      refuseUsedDirectory(to)
      const createdMs = Date.now()
      const draft = join(dirname(to), `.making-${basename(to)}`)
      rmSync(draft, { recursive: true, force: true })
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
      try {
        const source = await EtcdSource.open(etcd)
        await fillDirectory(source, draft, { leaveOut: forBackup, onProgress })
        const path = databasePath(draft)
        const sha256 = sha256OfFile(path, 'verifying', onProgress)
        const { revision } = source
        const facts = { format: FORMAT, ...named, revision, createdMs, size: statSync(path).size, sha256 }
        writeFacts(draft, facts)
        syncPath(draft)
        renameSync(draft, to)
        syncPath(dirname(to))
        return { path: to, ...facts }
      } finally {
        rmSync(draft, { recursive: true, force: true })
      }
    }),

  confirmEmpty: (settings) =>
    withEtcd(settings, async ({ client, keys, place }) => {
      await client.checkVersions()
      return { place, ...(await confirmEmpty(client, keys)) }
    }),

  examine: (settings, onProgress) =>
    withEtcd(settings, async (etcd) => (await examineEtcd(etcd, onProgress)).examination),
}

/** A page of history with large contents may take long on a busy machine. */
const CALL_MS = 20_000

interface HowToCopy {
  readonly leaveOut: CopyFilter
  readonly onProgress: OnProgress
}

async function intoEtcd(directory: string, etcd: EtcdPlace, how: HowToCopy): Promise<Copied> {
  const isBackup = existsSync(join(directory, 'backup.json'))
  if (isBackup) await verifyBackup(directory, how.onProgress)
  let source: DirectorySource | undefined
  try {
    source = DirectorySource.open(directory, isBackup, how.onProgress)
    const own = { ...etcd, isOwnCopy: true }
    return await fill(source, await EtcdTarget.begin(etcd, source), {
      ...how,
      reopened: () => EtcdSource.open(own),
      examined: async () => (await examineEtcd(own, how.onProgress)).examination,
    })
  } catch (error) {
    throw asDamage(directory, error)
  } finally {
    source?.close()
  }
}

/** A copy continues at the revision with which it has begun. If etcd has forgotten that, it begins again. */
async function intoDirectory(etcd: EtcdPlace, directory: string, onProgress: OnProgress): Promise<Copied> {
  const begun = begunIn(directory)
  const at = begun?.source === etcd.place ? begun.revision : undefined
  const copied = async (revision?: number) =>
    fillDirectory(await EtcdSource.open(etcd, revision), directory, { leaveOut: forAnother, onProgress })
  try {
    return await copied(at)
  } catch (error) {
    const isForgotten = at !== undefined && error instanceof EtcdError && error.kind === 'compacted'
    if (!isForgotten) throw error
    forgetBegun(directory)
    return copied()
  }
}

/** The tables of a directory by the kinds of things in a copy. */
const TABLE_OF = {
  records: 'record',
  services: 'service',
  instances: 'instance',
  items: 'config_item',
  history: 'config_revision',
  audit: 'audit',
}

/** Rows are copied as they are, in a process of its own: the driver ends it on some damage. */
async function salvageDirectory(from: string, to: string, onProgress: OnProgress): Promise<Salvaged> {
  refuseInside(from, to)
  refuseUsedDirectory(to, BESIDE_A_STORE)
  const { examination, salvaged } = await examineApart({ directory: from, salvageTo: to }, onProgress)
  const [first] = examination.findings
  if (salvaged === undefined)
    throw new DamagedStore(`${from} is damaged, ${first?.place}: ${first?.problem} ${first?.leavesOut}`)
  refuseUnsound(salvaged)
  const { rows } = salvaged
  const counts = Object.fromEntries(Object.entries(TABLE_OF).map(([of, table]) => [of, rows[table] ?? 0]))
  return { counts, leftOut: leftOutOf(examination) }
}

/** A draft there would be written into the source. */
function refuseInside(from: string, to: string): void {
  let parent = to
  while (!existsSync(parent)) parent = dirname(parent)
  if (existsSync(from) && `${realpathSync(parent)}${sep}`.startsWith(`${realpathSync(from)}${sep}`))
    throw new NotExaminable(`${to} is in ${from}, where a salvage writes nothing. Choose another directory.`)
}

async function salvageEtcd(etcd: EtcdPlace, directory: string, onProgress: OnProgress): Promise<Salvaged> {
  refuseUsedDirectory(directory, BESIDE_A_STORE)
  const { examination, revision, isLeftOut } = await examineEtcd(etcd, onProgress)
  const source = await EtcdSource.open({ ...etcd, isLeftOut }, revision)
  const { counts } = await fillDirectory(source, directory, { leaveOut: forAnother, onProgress })
  return { counts, leftOut: leftOutOf(examination) }
}

function leftOutOf({ leftOut: count, findings }: Examination): Salvaged['leftOut'] {
  return { count, findings: findings.filter(({ leavesOut }) => leavesOut !== undefined) }
}

/** Nobody else uses the new directory, so it is read in place. */
function fillDirectory(source: StoredSource, directory: string, how: HowToCopy): Promise<Copied> {
  return fill(source, new DirectoryTarget(directory, source), {
    ...how,
    reopened: () => DirectorySource.open(directory, true, how.onProgress),
    examined: async () => (await examineApart({ directory, isPrivate: true }, how.onProgress)).examination,
  })
}

/** How a target is verified. */
interface Verifying {
  /** Opens the written copy for reading. */
  readonly reopened: () => StoredSource | Promise<StoredSource>
  readonly examined: () => Promise<Examination>
}

/** Writes the missing parts into the target, and releases it for servers after it was read again and found sound. */
async function fill(source: StoredSource, target: StoredTarget, how: HowToCopy & Verifying): Promise<Copied> {
  try {
    const written = await copyParts(source, target, how)
    await target.complete()
    const copy = await how.reopened()
    try {
      refuseDifference(written, await sumsOf(copy, how))
    } finally {
      await copy.close()
    }
    refuseUnsound(await how.examined())
    await target.release()
    const counts = Object.fromEntries(Object.entries(written).map(([of, { count }]) => [of, count]))
    return { counts, revision: source.revision, isContinued: countOf(target.written) > 0 }
  } finally {
    await target.close()
  }
}

function refuseUnsound({ directory, counts, findings }: Examination): void {
  const worst = findings.find(({ severity }) => severity === 'damage')
  if (worst === undefined) return
  throw new DamagedStore(
    `The copy in ${directory} is damaged, with ${counts.damage} findings; the first: ${worst.place}: ${worst.problem} ` +
      'Run `waypost doctor` on the source, remove the copy, and copy again.',
  )
}

/** The driver's own message for a damaged file has no advice. */
function asDamage(directory: string, cause: unknown): unknown {
  if (!saysDamaged(cause)) return cause
  return new DamagedStore(
    `The database in ${directory} is damaged. Run \`waypost doctor\` on the directory, or take a backup.`,
    { cause },
  )
}

function forgotten(cause: EtcdError): Error {
  return new Error(
    'etcd has forgotten the revision that was being read, because servers have it compacted after ten minutes. Stop the servers ' +
      'meanwhile, or start them with --etcd-compact off.',
    { cause },
  )
}

/** Opens etcd for a tool, which is no member. */
async function withEtcd<T>(settings: Settings, work: (etcd: EtcdPlace) => Promise<T>): Promise<T> {
  const prefix = `${settings.etcdPrefix.replace(/\/+$/, '')}/`
  const own = randomUUID()
  const failed = (): undefined => undefined
  const limits = { callMs: CALL_MS, attemptMs: CALL_MS / 2 }
  const place = { ...etcdPlaceOf(settings, process.env), member: `tool ${own}`, process: own, limits }
  const { client, sealing, secretsKey } = openEtcd({ ...place, clock: systemClock, failed })
  const etcd = { client, sealing, secretsKey, keys: new Keys(prefix), prefix }
  try {
    return await work({ ...etcd, place: `etcd, prefix ${prefix}` })
  } catch (error) {
    if (error instanceof SyntaxError) throw unreadableRecord(prefix, error)
    if (error instanceof EtcdError && error.kind === 'compacted') throw forgotten(error)
    throw error
  } finally {
    client.close()
  }
}
