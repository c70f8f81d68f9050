import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { type AuditTrail, NO_USER } from '../core/audit/audit-event.ts'
import { auditedItem } from '../core/audit/audited-item.ts'
import type { Now } from '../core/decisions/stamps.ts'
import type { KeptRecords } from '../core/engine/ports.ts'
import type { Settings } from '../settings/settings.ts'
import { type OldTokenKey, oldKeyOf } from '../sign-in/old-token-key.ts'

/** What the key of an old server is opened with. */
export interface OldTokenParts {
  readonly store: Pick<KeptRecords, 'remember' | 'recall'>
  readonly clock: () => Now
  readonly trail: AuditTrail
}

const LONGEST_MS = 7 * 86_400_000

/** The name of what the store keeps: nothing of the key. */
const KEPT = 'old-tokens'

interface Acceptance {
  readonly sinceStamp: number
  readonly untilMs: number
}

type OldTokenSettings = Pick<Settings, 'acceptTokenSecret' | 'acceptTokenUntil'>

/**
 * The key of `accept-token-secret`; undefined where there is none, or its time is over. The log and the audit say that it is accepted.
 * Throws an Error for a secret that is not safe, and for a time that is missing, no time, or more than 7 days ahead.
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
  const key = oldKeyOf(readFileSync(file, 'utf8').trim())
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

/** With a time zone: servers may be in several. */
function timeOf(until: string): number {
  const isWhole = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(until)
  const ms = isWhole ? Date.parse(until) : NaN
  if (!Number.isNaN(ms)) return ms
  throw new Error(
    `accept-token-until must be a time with its zone, such as 2026-05-31T18:00:00Z, but is ${JSON.stringify(until)}.`,
  )
}

/** Since when old tokens are accepted: another start does not make that later, until their time is over. */
async function sinceStampOf({ store, clock }: OldTokenParts, untilMs: number): Promise<number> {
  const { stamp, wallMs } = clock()
  const kept = JSON.parse((await store.recall(KEPT)) ?? '{}') as Partial<Acceptance>
  const sinceStamp = (kept.untilMs ?? 0) > wallMs ? (kept.sinceStamp ?? stamp) : stamp
  const acceptance: Acceptance = { sinceStamp, untilMs: Math.max(untilMs, kept.untilMs ?? 0) }
  await store.remember(KEPT, JSON.stringify(acceptance))
  return sinceStamp
}
