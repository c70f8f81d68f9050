import { isThing, nameOf } from '../../plan/plan.ts'
import { type CommandResult, EXIT, messageOf } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import { type ApplyFlags, type Sum, textOfSum } from '../apply-plan.ts'
import { type KnownServer, openServers, rateOf } from '../old/detect-server.ts'
import { LineCounts, otherCountsText } from '../line-counts.ts'
import { readPlan } from '../plan-file.ts'
import { grouped, TimeLeft } from '../time-left.ts'
import { waitingOn } from '../waiting.ts'
import { OldWriter } from './old-writer.ts'
import { goingThing, type TargetKind, type GoingThing } from './what-goes-back.ts'
import { passwordFrom } from '../move-passwords.ts'
import { createHash } from 'node:crypto'
import { type ComparedThing, comparedThing } from '../parity/compared-fields.ts'

/** A server that a plan is written to by its own interface. */
export interface BackTarget extends KnownServer {
  readonly kind: TargetKind
}

/** The flags of an apply to another kind of server. */
export interface BackFlags extends Pick<ApplyFlags, 'overwrite'> {
  /** The plans by which was moved from that server. */
  readonly base?: readonly string[]
}

/** How many lines of an outcome are remembered, for `--output json`. */
const MOST_KEPT = 10_000

/** `waypost move --apply FILE --to …` of a server of another kind: writes the things it accepts. May be repeated. */
export async function writeBack(
  { overwrite, base = [] }: BackFlags,
  [file, target]: readonly [file: string, target: BackTarget],
  progress: Progress,
): Promise<CommandResult> {
  const left = new TimeLeft()
  const show = (step: string, done: number, total: number): void =>
    progress.show(`waypost: ${left.text(step, done, total)}`)
  const { total, notTaken, otherCounts } = await checkedPlan(file, target, show)
  const known = await KnownBefore.of(base, target.kind)
  const writer = new OldWriter(target, (before) => overwrite === true || known.has(before))
  const sum: Sum = { taken: 0, unchanged: 0, kept: 0, refused: 0, lines: [] }
  let done = 0
  for await (const { number, line } of readPlan(file)) {
    const thing = isThing(line) ? goingThing(line, target.kind) : undefined
    if (thing === undefined) continue
    const { outcome, reason } = await writer.write(thing).catch((error: unknown) => {
      const before = `${grouped(done)} of ${grouped(total)} lines were written; the same command continues`
      throw new Error(`${messageOf(error)} (${before})`, { cause: error })
    })
    sum[outcome]++
    if ((outcome === 'kept' || outcome === 'refused') && sum.lines.length < MOST_KEPT)
      sum.lines.push({ line: number, outcome, reason, kind: thing.kind, name: nameOf(thing) })
    show('lines written', ++done, total)
  }
  return {
    code: sum.refused > 0 ? EXIT.differs : EXIT.done,
    text: `${textOfSum(target.server.url, sum)}${leftText(notTaken)}${otherCountsText(otherCounts)}`,
    json: { server: target.server.url, ...sum, left: notTaken, otherCounts },
  }
}

interface CheckedPlan {
  /** The lines that are written. */
  readonly total: number
  /** How many lines of a kind stay in the plan. */
  readonly notTaken: Record<string, number>
  readonly otherCounts: ReturnType<LineCounts['others']>
}

/** Nothing of a damaged plan is written. A plan that was not made for this server has lines that it does not take. */
async function checkedPlan(
  file: string,
  target: BackTarget,
  show: (step: string, done: number, total: number) => void,
): Promise<CheckedPlan> {
  const notTaken: Record<string, number> = {}
  const counts = new LineCounts()
  let total = 0
  for await (const { number, line } of readPlan(file)) {
    show('lines checked', number, 0)
    counts.add(line)
    if (!isThing(line)) continue
    if (goingThing(line, target.kind) !== undefined) total++
    else notTaken[line.kind] = (notTaken[line.kind] ?? 0) + 1
  }
  return { total, notTaken, otherCounts: counts.others() }
}

function leftText(notTaken: Readonly<Record<string, number>>): string {
  return Object.entries(notTaken)
    .map(
      ([kind, count]) =>
        `${grouped(count)} lines of kind ${kind} stay in the plan: the server does not take them\n`,
    )
    .join('')
}

/** How the server of `--to` is asked. */
interface TargetFlags {
  readonly to?: string
  readonly rate: string
}

/** The server of `--to` if it is of another kind, whose interface gets the plan. Undefined for a Waypost or a context. */
export async function backTargetOf(
  { to, rate }: TargetFlags,
  username: string | undefined,
  progress: Progress,
): Promise<BackTarget | undefined> {
  if (to === undefined) return undefined
  const asked = { perSecond: rateOf(rate), waiting: waitingOn(progress) }
  const [found] = await openServers([to], asked)
  const { kind, server } = found!
  if (kind === 'waypost') return undefined
  if (username === undefined) return { ...found!, kind }
  const account = { username, password: await passwordFrom('WAYPOST_PASSWORD', username) }
  const [signedIn] = await openServers([server.url], { ...asked, account })
  return { ...signedIn!, kind }
}

/** The things on a server when it was moved from, as digests: nobody there has changed a thing with the same digest. */
class KnownBefore {
  readonly #kind: TargetKind
  readonly #digests = new Map<string, string>()

  private constructor(kind: TargetKind) {
    this.#kind = kind
  }

  /** Reads the plans of the move to here. For a thing in several plans the last plan counts. */
  static async of(files: readonly string[], kind: TargetKind): Promise<KnownBefore> {
    const known = new KnownBefore(kind)
    for (const file of files)
      for await (const { line } of readPlan(file)) {
        const thing = isThing(line) ? comparedThing(line, kind) : undefined
        if (thing !== undefined) known.#digests.set(keyOf(thing), digestOf(thing))
      }
    return known
  }

  /** Whether a thing of the server is as it was then. */
  has(thing: GoingThing): boolean {
    const compared = comparedThing(thing, this.#kind)
    return compared !== undefined && this.#digests.get(keyOf(compared)) === digestOf(compared)
  }
}

function keyOf({ kind, name }: ComparedThing): string {
  return `${kind} ${name}`
}

/** Leaves out the health, which probes find, and `ephemeral` of a service, which is known only while it has instances. */
function digestOf({ kind, fields }: ComparedThing): string {
  const { healthy: _health, ephemeral, ...rest } = fields
  const kept = kind === 'service' ? rest : { ...rest, ephemeral }
  return createHash('sha1').update(JSON.stringify(kept)).digest('base64')
}
