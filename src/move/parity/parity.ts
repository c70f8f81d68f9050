import { THING_KINDS, type PlanItem, type PlanNote, type PlanThing } from '../../plan/plan.ts'
import { type CommandResult, UsageError } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import { passwordFrom } from '../move-passwords.ts'
import { type KnownServer, openServers, rateOf } from '../old/detect-server.ts'
import type { OldService } from '../old/dialect.ts'
import type { OldAccount } from '../old/old-server.ts'
import { TimeLeft } from '../time-left.ts'
import { type Waiting, waitingOn } from '../waiting.ts'
import { differencesOf } from './differences.ts'
import type { BothSides } from './known-differences.ts'
import { parityResult, type ParityRow } from './parity-report.ts'
import { readSide, settledHealth } from './read-side.ts'
import { replayConfigReads, replayOpenRead, replayInstanceLists } from './replay/client-reads.ts'
import { type ListenedItem, replayListener } from './replay/listener.ts'
import { type BothServers, isGeneration3, type Replayed } from './replay/replayed.ts'
import { type BothAccounts, replaySignIn, signsIn } from './replay/sign-in.ts'

/** A kind of things that are compared: nobody compares histories. */
type ComparedKind = Exclude<PlanThing['kind'], 'history'>

/** The compared kinds, in the order of a report. */
const KINDS = THING_KINDS.filter((kind) => kind !== 'history')

/** The kinds of `--skip`: words separated by commas. Throws UsageError for another word. */
function skippedKinds(text = ''): ReadonlySet<ComparedKind> {
  const words = text.split(',').filter((word) => word !== '')
  const unknown = words.find((word) => !isKind(word))
  if (unknown !== undefined)
    throw new UsageError(`--skip takes ${KINDS.join(', ')}, but has ${JSON.stringify(unknown)}`)
  return new Set(words.filter(isKind))
}

function isKind(word: string): word is ComparedKind {
  return (KINDS as readonly string[]).includes(word)
}

/** The kinds that a server does not show: otherwise only the other server would seem to have them. */
function hiddenKinds(notCompared: readonly PlanNote[]): ReadonlySet<ComparedKind> {
  const abouts = notCompared.filter(({ kind }) => kind === 'cannot-come').map(({ about }) => about)
  return new Set([
    ...(abouts.includes('user') ? (['user', 'role', 'permission'] as const) : []),
    ...(abouts.includes('switch') ? (['switch'] as const) : []),
  ])
}

/** The flags of a comparison. */
export interface ParityFlags {
  readonly old: readonly string[]
  readonly new: readonly string[]
  /** The account that signs in on both. */
  readonly username?: string
  /** The account that reads the new server; by default the same. If the name is equal, it signs in with its own password. */
  readonly newUsername?: string
  readonly rate: string
  readonly ephemeral?: boolean
  readonly skip?: string
  /** Seconds. */
  readonly settle: string
}

/** The options of a comparison. */
interface ParityRun {
  readonly skipped: ReadonlySet<ComparedKind>
  readonly ephemeral: boolean
  readonly settleMs: number
  readonly accounts: BothAccounts | undefined
  readonly show: (step: string, done: number, total: number) => void
}

/** `waypost parity --old … --new …`: compares all that both servers give, and replays reads on both. Neither is changed. */
export async function parity(flags: ParityFlags, progress: Progress): Promise<CommandResult> {
  const skipped = skippedKinds(flags.skip)
  const settleMs = millisecondsOf(flags.settle)
  const { old, new: other, accounts } = await open(flags, waitingOn(progress))
  const ephemeral = flags.ephemeral === true
  const left = { old: new TimeLeft(), new: new TimeLeft(), both: new TimeLeft() }
  const shown = (which: keyof typeof left) => (step: string, done: number, total: number) =>
    progress.show(`waypost: ${left[which].text(step, done, total)}`)
  const allGrays = [...old, ...other].every(({ kind }) => kind === 'waypost')
  const [oldSide, newSide] = await Promise.all([
    readSide('old', old, { ephemeral, allGrays, show: shown('old') }),
    readSide('new', other, { ephemeral, allGrays, show: shown('new') }),
  ])
  const sides = { old: oldSide, new: newSide }
  const comparison = { skipped, ephemeral, settleMs, accounts, show: shown('both') }
  const rows = await compareThings(sides, comparison)
  const replays = await replayReads(sides, comparison)
  return parityResult({
    sides,
    rows: [...rows, ...replays.map(rowOf)],
    failed: [
      ...oldSide.failed.map((note) => ofServer(note, 'old')),
      ...newSide.failed.map((note) => ofServer(note, 'new')),
      ...replays.flatMap(({ failed }) => failed),
    ],
    notCompared: [
      ...oldSide.notCompared.map((note) => ofServer(note, 'old')),
      ...newSide.notCompared.map((note) => ofServer(note, 'new')),
    ],
  })
}

function ofServer(note: PlanNote, which: string): PlanNote {
  return { ...note, about: `${note.about} (${which})` }
}

function rowOf({ kind, count, differences }: Replayed): ParityRow {
  return { kind, old: count, new: count, differences }
}

interface Opened {
  readonly old: readonly KnownServer[]
  readonly new: readonly KnownServer[]
  readonly accounts: BothAccounts | undefined
}

/** The new server is read as the same user if it signs in there, else without a user. */
async function open(
  { rate, username, newUsername, ...flags }: ParityFlags,
  waiting: Waiting,
): Promise<Opened> {
  const asked = { perSecond: rateOf(rate), waiting }
  const account = await accountOf(username, 'WAYPOST_FROM_PASSWORD')
  const reader = await accountOf(newUsername, 'WAYPOST_PASSWORD')
  const old = await openServers(flags.old, { ...asked, account })
  const unsigned = await openServers(flags.new, asked)
  const accepted = account !== undefined && (await signsIn(unsigned[0]!, account)) ? account : undefined
  const as = reader ?? accepted
  return {
    old,
    new: as === undefined ? unsigned : await openServers(flags.new, { ...asked, account: as }),
    accounts: account && { old: account, new: reader?.username === username ? reader! : account },
  }
}

async function accountOf(username: string | undefined, variable: string): Promise<OldAccount | undefined> {
  return username === undefined ? undefined : { username, password: await passwordFrom(variable, username) }
}

async function compareThings(sides: BothSides, { skipped, settleMs }: ParityRun): Promise<ParityRow[]> {
  const rows: ParityRow[] = []
  const hidden = hiddenKinds([...sides.old.notCompared, ...sides.new.notCompared])
  for (const kind of KINDS.filter((one) => !skipped.has(one) && !hidden.has(one))) {
    const [old, other] = [sides.old.things.get(kind) ?? new Map(), sides.new.things.get(kind) ?? new Map()]
    const found = differencesOf(kind, old, other)
    const services = new Map([...sides.old.services, ...sides.new.services])
    const differences =
      kind === 'instance'
        ? await settledHealth(found, serversOf(sides), { services, waitMs: settleMs })
        : found
    rows.push({ kind, old: old.size, new: other.size, differences })
  }
  return rows
}

function serversOf(sides: BothSides): BothServers {
  return { old: sides.old.first, new: sides.new.first }
}

/** Replays the reads of clients, of everything that both servers have. */
async function replayReads(sides: BothSides, comparison: ParityRun): Promise<Replayed[]> {
  const { skipped, ephemeral, accounts, show } = comparison
  const servers = serversOf(sides)
  const replays: Replayed[] = accounts === undefined ? [] : [await replaySignIn(servers, accounts)]
  if (!skipped.has('config')) replays.push(...(await replayConfigs(sides, show)))
  if (skipped.has('instance')) return replays
  const services = inBoth<OldService>(sides.old.services, sides.new.services)
  const ofServices = (done: number, total: number): void => show('lists of instances', done, total)
  const listed = { services, clusters: sides.old.clusters, ephemeral }
  return [...replays, await replayInstanceLists(servers, listed, ofServices)]
}

async function replayConfigs(sides: BothSides, show: ParityRun['show']): Promise<Replayed[]> {
  const servers = serversOf(sides)
  const items = inBoth<PlanItem>(sides.old.items, sides.new.items)
  const first = [...items][0]
  const open = first === undefined ? [] : [await replayOpenRead(servers, first)]
  const ofReads = (done: number, total: number): void => show('reads of configurations', done, total)
  const { replayed, md5s } = await replayConfigReads(servers, items, ofReads)
  const replays = [...open, replayed]
  // Clients of generation 3 listen over gRPC.
  if (isGeneration3(servers)) return replays
  const listened = listenedItems(md5s, items)
  return [
    ...replays,
    await replayListener(servers, listened, (done, total) => show('listeners', done, total)),
  ]
}

/** Leaves out items whose contents differ already: a client has the md5 of the text that it has read. */
function listenedItems(
  md5s: ReadonlyMap<string, string>,
  items: ReadonlyMap<string, PlanItem>,
): ListenedItem[] {
  return [...items].flatMap(([name, item]) => {
    const md5 = md5s.get(name)
    return md5 === undefined ? [] : [{ name, item, md5 }]
  })
}

function inBoth<T>(old: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...old].filter(([name]) => other.has(name)))
}

function millisecondsOf(seconds: string): number {
  const number = Number(seconds)
  if (number >= 0 && number <= 3_600) return number * 1_000
  throw new UsageError(`--settle must be seconds from 0 to 3600, but is ${JSON.stringify(seconds)}`)
}
