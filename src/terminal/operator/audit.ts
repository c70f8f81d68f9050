import type { AuditEvent } from '../answers.ts'
import { type CommandResult, UsageError, listed, timeText } from '../../command/command-line.ts'
import type { ClientFlags } from '../server-options.ts'
import { clientOf } from '../session-of-flags.ts'

/** The flags of `waypost audit`. */
export interface AuditFlags extends ClientFlags {
  readonly user?: string
  readonly operation?: string
  readonly item?: string
  readonly ip?: string
  readonly result?: string
  readonly since?: string
  readonly until?: string
  readonly limit: string
}

const PAGE_SIZE = 500
const MOST = 1_000_000

/** `waypost audit`. */
export async function auditOf(flags: AuditFlags): Promise<CommandResult> {
  const { operation, item, ip, result } = flags
  const limit = /^\d{1,7}$/.test(flags.limit) ? Number(flags.limit) : Number.NaN
  if (!(limit >= 1 && limit <= MOST)) throw new UsageError(`--limit must be a number from 1 to ${MOST}`)
  const search = {
    username: flags.user,
    operation,
    item,
    ip,
    result,
    from: timeOf('--since', flags.since),
    to: timeOf('--until', flags.until),
  }
  const client = clientOf(flags)
  const events: AuditEvent[] = []
  for (let before: string | undefined; events.length < limit;) {
    const pageSize = Math.min(PAGE_SIZE, limit - events.length)
    const page = await client.get<{ events: readonly AuditEvent[]; next: string | null }>('/audit', {
      ...search,
      before,
      pageSize,
    })
    events.push(...page.events)
    if (page.next === null) break
    before = page.next
  }
  return listed<AuditEvent>(
    events,
    [
      ['TIME', ({ time }) => timeText(time)],
      ['USER', ({ username }) => username],
      ['BY', ({ by }) => by],
      ['FROM', ({ ip: address }) => address],
      ['OPERATION', ({ operation: name }) => name],
      ['ITEM', itemText],
      ['RESULT', ({ result: outcome, code }) => (code === '' ? outcome : `${outcome} (${code})`)],
      ['TIMES', ({ count }) => count],
    ],
    ({ id }) => id,
  )
}

/** The names in a table, at most. The other forms of output have all names. */
const MOST_SHOWN = 3

/** The names of the items of an event, in brackets the items that were left as they were. */
function itemText({ item, items, unchangedItems, itemCount }: AuditEvent): string {
  if (itemCount <= 1 && unchangedItems.length === 0) return item
  const changed = items.slice(0, items.length - unchangedItems.length).slice(0, MOST_SHOWN)
  const left = unchangedItems.slice(0, MOST_SHOWN)
  const names = [...changed, ...left.map((name) => `(not ${name})`)]
  const rest = itemCount - names.length
  return rest > 0 ? `${names.join(', ')} and ${rest} more` : names.join(', ')
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Epoch milliseconds of a time, or of a time ago such as `2h`. */
function timeOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const atMs = count === undefined ? Date.parse(text) : Date.now() - Number(count) * UNITS[unit!]!
  if (Number.isNaN(atMs))
    throw new UsageError(`${flag} must be a time such as 2026-11-24T10:00Z, 30m, 6h or 2d`)
  return atMs
}
