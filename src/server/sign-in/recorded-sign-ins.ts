import { nothing, unawaited } from '../../core/unexpected.ts'
import type { User } from '../../core/access/access-records.ts'
import type { AuditEntry, AuditTrail } from '../../core/audit/audit-event.ts'
import type { RecordView } from '../../core/records/record-tables.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Permission, Caller } from '../../operations/authorisation.ts'
import { auditedCode, isMereQuestion, type Who, whoWasRefused } from '../../operations/operation-audit.ts'
import { whoSignsIn } from '../../operations/access/sign-in.ts'
import type { PasswordSignIn } from '../../sign-in/password-sign-in.ts'

type Check = PasswordSignIn['check']

/** The same check, which records the outcome. A pair that was checked before is no new sign-in. */
export function recordedCheck(check: Check, trail: AuditTrail, records: RecordView): Check {
  return (attempt) => {
    const who = whoSignsIn(records, attempt.username)
    const record = (code: string): void =>
      trail.record(entryOf(who, attempt.ip, auditedCode(who, code)), {
        mayRepeat: true,
      })
    try {
      const checked = check(attempt)
      if (checked instanceof Promise) unawaited('request', nothing, recordLater(checked, record))
      return checked
    } catch (error) {
      record(codeOf(error))
      throw error
    }
  }
}

/** Records that a request was refused before it was read, so that its item is not known. */
export function refusedUnread(
  trail: AuditTrail,
  { caller, permission, code }: { caller: Caller; permission: Permission; code: string },
): void {
  const { action, resource, operation = `${action} ${resource}` } = permission
  if (isMereQuestion(permission, code)) return
  const who = whoWasRefused(caller)
  const refused = { item: '', result: 'refused', code: auditedCode(who, code), detail: '' } as const
  trail.record({ ...who, ip: caller.ip, operation, ...refused })
}

async function recordLater(
  checked: Promise<User | undefined>,
  record: (code: string) => void,
): Promise<void> {
  try {
    record((await checked) === undefined ? 'unknown-user' : '')
  } catch (error) {
    record(codeOf(error))
  }
}

function entryOf(who: Who, ip: string, code: string): AuditEntry {
  const result = code === '' ? 'done' : 'refused'
  return { ...who, ip, operation: 'sign in', item: '', result, code, detail: '' }
}

function codeOf(error: unknown): string {
  return error instanceof Refusal ? error.code : 'internal'
}
