import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { type AuditTrail, NO_USER } from '../../core/audit/audit-event.ts'
import { auditedItem } from '../../core/audit/audited-item.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import type { KeptRecords } from '../../core/engine/ports.ts'
import { OLD_TOKENS, type OldTokensAccepted } from '../../core/engine/remembered-values.ts'
import { within } from '../../core/records/shape.ts'
import type { Settings } from '../../settings/settings.ts'
import { type OldTokenKey, oldKeyOf } from '../../sign-in/old-token-key.ts'

/** The dependencies of opening the key of an old server. */
export interface OldTokenParts {
  readonly store: Pick<KeptRecords, 'remember' | 'recall'>
  readonly clock: () => Now
  readonly trail: AuditTrail
}

const LONGEST_MS = 7 * 86_400_000

type OldTokenSettings = Pick<Settings, 'acceptTokenSecret' | 'acceptTokenUntil'>

/**
 * The key of `accept-token-secret`; undefined without a setting, or after its time. The log and the audit record its
 * acceptance. Throws an Error for an unsafe secret, and for a time that is missing, invalid, or more than 7 days ahead.
 */
export async function openOldTokenKey(
  parts: OldTokenParts,
  { acceptTokenSecret: file, acceptTokenUntil: until }: OldTokenSettings,
  log: Logger,
): Promise<OldTokenKey | undefined> {
  if (file === '' && until === '') return undefined
  if (file === '' || until === '')
    throw new Error('accept-token-secret and accept-token-until belong together: set both, or none.')
  const { wallMs } = parts.clock()
  const untilMs = timeOf(until)
  if (untilMs <= wallMs) {
    log.warn({ until }, 'the time of accept-token-until is over: tokens of the old server do not count')
    return undefined
  }
  if (untilMs > wallMs + LONGEST_MS)
    throw new Error(`accept-token-until must be at most 7 days ahead, but is ${until}.`)
  const key = oldKeyOf(secretIn(file))
  const sinceStamp = await sinceStampOf(parts, untilMs)
  log.warn({ until }, 'tokens of the old server count, because accept-token-secret is set')
  parts.trail.record({
    username: NO_USER,
    by: 'tool',
    ip: '-',
    operation: 'accept old tokens',
    item: auditedItem([{ kind: 'access' }], `until ${until}`),
    result: 'done',
    code: '',
    detail: '',
  })
  return { key, untilMs, sinceStamp }
}

/** A larger file is no secret. */
const MOST_BYTES = 4_096

/** The secret in a file. Throws an Error for a file that has not just the value of the setting of the old server. */
function secretIn(file: string): string {
  const text = textOf(file)
  if (Buffer.byteLength(text) > MOST_BYTES || /[\r\n\u{FFFD}]|\.key\s*[=:]/u.test(text))
    throw new Error(
      `The file of accept-token-secret must have the value of the old server alone, in one line of text of at most ${MOST_BYTES} bytes.`,
    )
  return text
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`The file of accept-token-secret cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** With a time zone: servers may be in several. */
function timeOf(until: string): number {
  const [isWhole, day] =
    /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/.exec(until) ?? []
  // A day that its month does not have would become a day of the next month.
  const isDay = isWhole !== undefined && new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day!.slice(8))
  const ms = isDay ? Date.parse(until) : NaN
  if (!Number.isNaN(ms)) return ms
  throw new Error(
    `accept-token-until must be a time with its zone, such as 2026-05-31T18:00:00Z, but is ${JSON.stringify(until)}.`,
  )
}

/** Since when old tokens are accepted: another start does not make that later, until their time is over. */
async function sinceStampOf({ store, clock }: OldTokenParts, untilMs: number): Promise<number> {
  const { stamp, wallMs } = clock()
  const kept = keptIn(await store.recall(OLD_TOKENS.name))
  const sinceStamp = kept !== undefined && kept.untilMs > wallMs ? kept.sinceStamp : stamp
  const acceptance: OldTokensAccepted = { sinceStamp, untilMs: Math.max(untilMs, kept?.untilMs ?? 0) }
  await store.remember(OLD_TOKENS.name, JSON.stringify(acceptance))
  return sinceStamp
}

/** Without it tokens of users whose password was changed since would count again. */
function keptIn(text: string | undefined): OldTokensAccepted | undefined {
  if (text === undefined) return undefined
  return within(
    'The remembered value old-tokens is damaged: remove it, or leave out accept-token-secret. It',
    () => OLD_TOKENS.read(text),
  )
}
