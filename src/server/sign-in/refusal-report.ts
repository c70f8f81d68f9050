import { type AuditTrail, NO_USER } from '../../core/audit/audit-event.ts'
import { auditedItem } from '../../core/audit/audited-item.ts'
import { auditedCode, whoWasRefused } from '../../operations/operation-audit.ts'
import type { Action, Resource } from '../../operations/guard.ts'
import type { Caller } from '../../operations/authorisation.ts'

const MINUTE_MS = 60_000
/** The most different refusals that are logged within a minute. */
const MOST_LOGGED = 1_000
/** A refusal is logged once in this many minutes, so that each minute has room for other refusals. */
const REPEATED_AFTER = 10

/** Gets the refusals of the dry run. */
export interface ReportLog {
  warn(facts: object, text: string): void
}

/** Where refusals go. */
export interface ReportParts {
  readonly log: ReportLog
  readonly trail: Pick<AuditTrail, 'record'>
  readonly nowMs: () => number
}

/**
 * Logs and records the refusals that callers would get, if the server refused anything: the same once in ten minutes, within bounds.
 */
export class RefusalReport {
  readonly #log: ReportLog
  readonly #trail: Pick<AuditTrail, 'record'>
  readonly #nowMs: () => number
  readonly #logged = new Set<string>()
  #minuteMs = -Infinity
  #minutes = 0
  #loggedInMinute = 0

  constructor({ log, trail, nowMs }: ReportParts) {
    this.#log = log
    this.#trail = trail
    this.#nowMs = nowMs
  }

  readonly add = (caller: Caller, action: Action, resource: Resource): void => {
    const { identity, ip } = caller
    this.#beginMinute()
    const who = whoWasRefused(caller)
    const user = who.username === NO_USER ? '' : who.username
    const code = identity.kind === 'not-signed-in' ? auditedCode(who, identity.code) : ''
    const facts = { user, ip, action, resource: auditedItem([resource]) }
    const key = JSON.stringify({ ...facts, code })
    if (this.#logged.has(key) || this.#loggedInMinute >= MOST_LOGGED) return
    this.#logged.add(key)
    this.#loggedInMinute++
    const operation = operationOf(action, resource)
    const outcome = { result: 'would-be-refused', code, detail: '' } as const
    this.#trail.record({ ...who, ip, operation, item: facts.resource, ...outcome })
    this.#log.warn(facts, 'this would be refused if authentication were on')
  }

  #beginMinute(): void {
    const nowMs = this.#nowMs()
    if (nowMs < this.#minuteMs + MINUTE_MS) return
    this.#minuteMs = nowMs
    this.#loggedInMinute = 0
    if (this.#minutes++ % REPEATED_AFTER === 0) this.#logged.clear()
  }
}

/** The operation, as the audit names reads. */
function operationOf(action: Action, { kind }: Resource): string {
  return `${action} ${OF_KIND[kind] ?? kind}`
}

const OF_KIND: Readonly<Partial<Record<Resource['kind'], string>>> = {
  'some-configs': 'config',
  service: 'naming',
  'some-services': 'naming',
  'some-namespaces': 'namespace',
}
