import { ADMINISTRATOR_ROLE, isThing, nameOf, type PlanThing } from '../plan/plan.ts'
import { ServerSession } from '../terminal/server-session.ts'
import { targetOf, tokenOf } from '../terminal/session-of-flags.ts'
import { type CommandResult, EXIT, messageOf } from '../command/command-line.ts'
import type { Progress } from '../command/progress.ts'
import { printableWord } from '../command/terminal-text.ts'
import { administratorsIn, unknownAmong } from './reading.ts'
import { HistoryOrder } from './history-order.ts'
import { type Call, type ImportAnswer, type LineOutcome, sendCall, type SentLine } from './import-calls.ts'
import { LineCounts, otherCountsText } from './line-counts.ts'
import { type NumberedLine, readPlan } from './plan-file.ts'
import { grouped, TimeLeft } from './time-left.ts'

const OPERATION = '/svc/v1/operator/import'

/** The most bytes of one call; a single line may be longer. */
const MOST_LINES = 1_000
const MOST_BYTES = 2 * 1_048_576
/** The server judges a new hash for 0.2 s, at cost 12 for up to 2 s. A whole call must be answered within its limit. */
const MOST_USERS = 20

/** The most lines of an outcome that are printed. */
const MOST_SHOWN = 20

/** The flags of an apply. */
export interface ApplyFlags {
  readonly to?: string
  readonly context?: string
  /** The user of the new server. */
  readonly username?: string
  readonly overwrite?: boolean
  readonly staleOk?: boolean
  /** The users who become administrators there, besides the users with that role in the plan; separated by commas. */
  readonly administrators?: string
}

/** A line that was kept or refused, by its number in the file. */
interface FoundOutcome extends LineOutcome {
  readonly kind: string
  readonly name: string
}

/** The outcomes of the lines of a plan. */
export interface Sum {
  taken: number
  unchanged: number
  kept: number
  refused: number
  /** The first lines of each outcome. */
  readonly lines: FoundOutcome[]
}

/** `waypost move --apply FILE --to …`: sends the plan. It may be interrupted and repeated. The exit code is 1 if something was refused. */
export async function applyPlan(flags: ApplyFlags, file: string, progress: Progress): Promise<CommandResult> {
  const target = targetOf({
    ...(flags.to !== undefined && { server: flags.to }),
    ...(flags.context !== undefined && { context: flags.context }),
  })
  const session = new ServerSession(target.url, { username: flags.username, stored: tokenOf(target) })
  const left = new TimeLeft()
  const showLines = (step: string, done: number, total: number): void =>
    progress.show(`waypost: ${left.text(step, done, total)}`)
  const isSent = sendingOf(flags)
  const named = administratorsIn(flags.administrators)
  const {
    total,
    left: notSent,
    users,
    administrators,
    otherCounts,
  } = await checkPlan(file, isSent, showLines)
  const sum: Sum = { taken: 0, unchanged: 0, kept: 0, refused: 0, lines: [] }
  const path = pathOf(flags, [...new Set([...named, ...administrators])])
  let done = 0
  for await (const { head, lines } of callsOf(file, isSent)) {
    const answer = await sendCall(session, path, { head, lines }).catch((error: unknown) => {
      const before = `${grouped(done)} of ${grouped(total)} lines were sent; the same command continues`
      throw new Error(`${messageOf(error)} (${before})`, { cause: error })
    })
    add(sum, lines, answer)
    done += lines.length
    showLines('lines sent', done, total)
  }
  const unknown = unknownAmong(named, users)
  const code = sum.refused + notSent.instance.length + unknown.length > 0 ? EXIT.differs : EXIT.done
  return {
    code,
    text: `${textOfSum(target.url, sum)}${notSentText(notSent)}${unknownText(unknown)}${otherCountsText(otherCounts)}`,
    json: { server: target.url, ...sum, left: notSent, unknownAdministrators: unknown, otherCounts },
  }
}

function pathOf({ overwrite }: ApplyFlags, administrators: readonly string[]): string {
  const query = new URLSearchParams()
  if (overwrite === true) query.set('overwrite', 'true')
  if (administrators.length > 0) query.set('administrators', administrators.join(','))
  return query.size === 0 ? OPERATION : `${OPERATION}?${query}`
}

interface CheckedPlan {
  /** The lines that are sent. */
  readonly total: number
  /** The names of things that stay in the plan, by their kind. */
  readonly left: { readonly user: string[]; readonly instance: string[] }
  /** The names of all users, also of users that stay in the plan. */
  readonly users: ReadonlySet<string>
  /** The users of `--administrators` when the plan was made. */
  readonly administrators: ReadonlySet<string>
  readonly otherCounts: ReturnType<LineCounts['others']>
}

/** Nothing of a damaged plan is sent: every line is read before the first is sent. */
async function checkPlan(
  file: string,
  isSent: Sending,
  show: (step: string, done: number, total: number) => void,
): Promise<CheckedPlan> {
  const left: CheckedPlan['left'] = { user: [], instance: [] }
  const users = new Set<string>()
  const administrators = new Set<string>()
  const counts = new LineCounts()
  const order = new HistoryOrder()
  let total = 0
  for await (const { number, line } of readPlan(file)) {
    show('lines checked', number, 0)
    counts.add(line)
    if (!isThing(line)) continue
    order.check(number, line)
    if (isSent(line)) total++
    else left[line.kind as keyof CheckedPlan['left']].push(nameOf(line))
    if (line.kind === 'user') users.add(line.username)
    if (line.kind === 'role' && line.role === ADMINISTRATOR_ROLE) administrators.add(line.username)
  }
  return { total, left, users, administrators, otherCounts: counts.others() }
}

/** Ephemeral instances that were read earlier than this may be gone. */
const FRESH_MS = 5 * 60_000

/** Whether a thing is sent: a user without a hash cannot be made. */
type Sending = (thing: PlanThing) => boolean

function sendingOf({ staleOk }: ApplyFlags): Sending {
  const oldestMs = staleOk === true ? 0 : Date.now() - FRESH_MS
  return (thing) => {
    if (thing.kind === 'user') return thing.passwordHash !== null
    if (thing.kind === 'instance') return !thing.ephemeral || thing.seenMs >= oldestMs
    return true
  }
}

/** The calls of a plan: each begins with its head. */
async function* callsOf(file: string, isSent: Sending): AsyncGenerator<Call> {
  let head: NumberedLine | undefined
  let lines: SentLine[] = []
  let size = 0
  let users = 0
  for await (const one of readPlan(file)) {
    head ??= one
    const { number, bytes, line } = one
    if (!isThing(line) || !isSent(line)) continue
    const isFull = lines.length === MOST_LINES || users === MOST_USERS || size + bytes.length > MOST_BYTES
    if (lines.length > 0 && isFull) {
      yield { head, lines }
      lines = []
      size = 0
      users = 0
    }
    lines.push({ number, bytes, kind: line.kind, name: nameOf(line) })
    size += bytes.length
    if (line.kind === 'user') users++
  }
  if (lines.length > 0) yield { head: head!, lines }
}

function add(sum: Sum, lines: readonly SentLine[], answer: ImportAnswer): void {
  for (const outcome of ['taken', 'unchanged', 'kept', 'refused'] as const) sum[outcome] += answer[outcome]
  for (const { line, outcome, reason } of answer.lines) {
    // The first line of a call is the head.
    const sent = lines[line - 2]
    const shown = sum.lines.filter((one) => one.outcome === outcome).length
    if (sent === undefined || outcome === 'unchanged' || shown >= MOST_KEPT) continue
    sum.lines.push({ line: sent.number, outcome, reason, kind: sent.kind, name: sent.name })
  }
}

/** How many lines of an outcome are remembered, for `--output json`. */
const MOST_KEPT = 10_000

/** The counts of each outcome, and the first lines that were kept or refused. */
export function textOfSum(url: string, { taken, unchanged, kept, refused, lines }: Sum): string {
  const counts = `${grouped(taken)} taken, ${grouped(unchanged)} unchanged, ${grouped(kept)} kept, ${grouped(refused)} refused`
  const shown = [`${url}: ${counts}`]
  for (const outcome of ['refused', 'kept']) {
    const all = lines.filter((one) => one.outcome === outcome)
    for (const { line, kind, name, reason } of all.slice(0, MOST_SHOWN))
      shown.push(`${outcome}: ${kind} ${printableWord(name)} (line ${line}): ${printableWord(reason)}`)
    if (all.length > MOST_SHOWN) shown.push(`… and more ${outcome} ones: --output json has them`)
  }
  return `${shown.join('\n')}\n`
}

function notSentText({ user, instance }: CheckedPlan['left']): string {
  const users = user.map(
    (name) =>
      `not sent: user ${printableWord(name)}: the plan has no password; make the user here, if there is none\n`,
  )
  const instances = `refused: ${grouped(instance.length)} ephemeral instances: they were read more than 5 minutes ago (read them again, or send them with --stale-ok)\n`
  return `${users.join('')}${instance.length === 0 ? '' : instances}`
}

function unknownText(names: readonly string[]): string {
  return names
    .map((name) => `no administrator: ${printableWord(name)}: the plan has no user of this name\n`)
    .join('')
}
