import { type PlanLine, type PlanNote, type PlanSource, isThing, NOTE_KINDS } from '../plan/plan.ts'
import { type CommandResult, EXIT, UsageError } from '../command/command-line.ts'
import type { Progress } from '../command/progress.ts'
import { printableWord } from '../command/terminal-text.ts'
import { administratorsIn, type HistoryBound, type PlanReading, isForPeople } from './reading.ts'
import { linesGoingBack, type TargetKind } from './back/what-goes-back.ts'
import { BothSources } from './both/both-sources.ts'
import { NoServerBeside } from './both/server-beside.ts'
import { KnownLines } from './known-lines.ts'
import { passwordFrom } from './move-passwords.ts'
import { type KnownServer, dialectOf, openServers, rateOf } from './old/detect-server.ts'
import { readOverHttp } from './old/read-over-http.ts'
import { PlanWriter } from './plan-file.ts'
import { grouped, TimeLeft } from './time-left.ts'
import { type Waiting, waitingOn } from './waiting.ts'

/** The flags of a plan. */
export interface PlanFlags {
  readonly from: readonly string[]
  readonly username?: string
  readonly rate: string
  readonly history: string
  readonly since?: string
  readonly ephemeral?: boolean
  readonly administrators?: string
  readonly mysqlPublicKey?: string
  readonly mysqlTls?: string
  readonly mysqlTimeZone?: string
  /** The plan is for a server of this kind, which takes less. */
  readonly target?: TargetKind
}

/** The most notes of a kind that are printed; the plan has all. */
const MOST_SHOWN = 20

/**
 * `waypost move --from … --plan FILE`: reads the sources into a file. The exit code is 1 if something could not be read
 * or is in conflict; data that this way never brings does not count.
 */
export async function makePlan(flags: PlanFlags, file: string, progress: Progress): Promise<CommandResult> {
  const known = await KnownLines.of(flags.since)
  const waiting = waitingOn(progress)
  const reading = { ...readingOf(flags, progress), earlier: known, waiting }
  const writer = await PlanWriter.begin(file)
  try {
    const plan = new PlanInMaking(writer, known, flags.target)
    const beginMs = Date.now()
    const aheadMs = await readSources(flags, reading, plan)
    await writer.end({ madeMs: beginMs, sources: plan.sources }, aheadMs)
    return plan.result(file)
  } catch (error) {
    await writer.abandon()
    throw error
  }
}

/** Reads all sources into a plan. Resolves with how far the clocks of the servers are ahead of this machine, at most. */
async function readSources(
  flags: PlanFlags,
  reading: PlanReading & { readonly waiting: Waiting },
  plan: PlanInMaking,
): Promise<number | undefined> {
  const [database, ...others] = flags.from.filter(isDatabase)
  if (others.length > 0) throw new UsageError('--from takes one database only')
  const nodes = await serversOf(
    flags.from.filter((address) => !isDatabase(address)),
    flags,
    reading.waiting,
  )
  if (database !== undefined) {
    const { openDatabase } = await import('./database/read-database.ts')
    const opened = await openDatabase(database, { flags, waiting: reading.waiting })
    plan.sources.push(opened.source)
    const beside =
      nodes.length === 0 ? new NoServerBeside(reading) : new BothSources(dialectOf(nodes[0]!), reading)
    await plan.add(opened.read(reading, beside))
  }
  for (const { kind, version, server } of nodes) plan.sources.push({ kind, version, url: server.url })
  const parts = database === undefined ? 'all' : 'naming'
  if (parts === 'all' && reading.history.isWanted) await plan.noteSources()
  if (flags.target !== undefined) await plan.add(historyStays())
  if (nodes.length > 0) await plan.add(readOverHttp(nodes.map(dialectOf), { ...reading, parts }))
  const known = nodes.flatMap(({ server }) => server.clockAheadMs ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}

async function* historyStays(): AsyncGenerator<PlanLine> {
  const reason = 'no server takes records of history over HTTP; they were not read'
  yield { kind: 'cannot-come', about: 'history', name: 'all records', reason }
}

function isDatabase(address: string): boolean {
  return address.startsWith('mysql:')
}

/** A plan during its writing, and the output about it. */
class PlanInMaking {
  readonly sources: PlanSource[] = []
  readonly #writer: PlanWriter
  readonly #known: KnownLines
  readonly #target: TargetKind | undefined
  readonly #notes: PlanNote[] = []

  constructor(writer: PlanWriter, known: KnownLines, target: TargetKind | undefined) {
    this.#writer = writer
    this.#known = known
    this.#target = target
  }

  /** Adds a note if the earlier plan is of other sources. */
  async noteSources(): Promise<void> {
    await this.add(this.#known.readFrom(this.sources))
  }

  /** Writes the lines that the earlier plan lacks. */
  async add(lines: AsyncIterable<PlanLine> | Iterable<PlanLine>): Promise<void> {
    for await (const line of lines)
      for (const one of this.#target === undefined ? [line] : linesGoingBack(line, this.#target))
        await this.#addLine(one)
  }

  async #addLine(line: PlanLine): Promise<void> {
    if (line.kind === 'plan' || line.kind === 'end') return
    if (isThing(line) && this.#known.leavesOut(line)) return
    const written = await this.#writer.add(line)
    if (!isThing(written)) this.#notes.push(written)
  }

  result(file: string): CommandResult {
    const { counts } = this.#writer
    const known = this.#known.left
    const from = this.sources.map(
      ({ url, kind, version }) => `${url} (${[kind, version ?? ''].join(' ').trim()})`,
    )
    const lines = [`${file}: the plan of ${from.join(', ')}`]
    for (const [kind, count] of Object.entries(counts))
      lines.push(`  ${grouped(count).padStart(10)}  ${kind}`)
    if (known > 0) lines.push(`  ${grouped(known).padStart(10)}  as in the earlier plan, left out`)
    const [first, others] = [true, false].map((is) => this.#notes.filter((note) => isForPeople(note) === is))
    for (const kind of NOTE_KINDS)
      lines.push(...shownNotes([...first!, ...others!].filter((note) => note.kind === kind)))
    const missed = first!.length
    if (missed > 0)
      lines.push(
        `not whole: ${grouped(missed)} of these lines are about what could not be read, or is in conflict`,
      )
    const json = { file, sources: this.sources, counts, known, missed, notes: this.#notes }
    return { code: missed > 0 ? EXIT.differs : EXIT.done, text: `${lines.join('\n')}\n`, json }
  }
}

function readingOf(flags: PlanFlags, progress: Progress): Omit<PlanReading, 'earlier'> {
  const left = new TimeLeft()
  return {
    parts: 'all',
    history: boundOf(flags.target === undefined ? flags.history : 'none'),
    ephemeral: flags.ephemeral === true,
    // On the way back no user is moved.
    administrators: flags.target === undefined ? administratorsIn(flags.administrators) : 'as-there',
    show: (step, done, total) => progress.show(`waypost: ${left.text(step, done, total)}`),
  }
}

function boundOf(text: string): HistoryBound {
  if (text === 'all') return { isWanted: true, sinceMs: -Infinity }
  if (text === 'none') return { isWanted: false, sinceMs: Infinity }
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  if (days === undefined)
    throw new UsageError(`--history must be all, none, or days such as 30d, but is ${JSON.stringify(text)}`)
  return { isWanted: true, sinceMs: Date.now() - Number(days) * 86_400_000 }
}

/** The servers among the sources, signed in as the user of `--username`. */
async function serversOf(
  addresses: readonly string[],
  flags: PlanFlags,
  waiting: Waiting,
): Promise<KnownServer[]> {
  const perSecond = rateOf(flags.rate)
  const { username } = flags
  if (addresses.length === 0 || username === undefined) return openServers(addresses, { perSecond, waiting })
  const password = await passwordFrom('WAYPOST_FROM_PASSWORD', username)
  return openServers(addresses, { perSecond, waiting, account: { username, password } })
}

function shownNotes(notes: readonly PlanNote[]): string[] {
  const shown = notes
    .slice(0, MOST_SHOWN)
    .map(
      ({ kind, about, name, reason }) => `${kind}: ${about} ${printableWord(name)}: ${printableWord(reason)}`,
    )
  const rest = notes.length - shown.length
  return rest > 0 ? [...shown, `… and ${grouped(rest)} more such lines in the file`] : shown
}
