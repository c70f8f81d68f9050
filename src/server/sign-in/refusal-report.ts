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

/**
 * Logs the refusals that callers would get, if the server refused anything: the same once in ten minutes, within bounds.
 */
export class RefusalReport {
  readonly #log: ReportLog
  readonly #nowMs: () => number
  readonly #logged = new Set<string>()
  #minuteMs = -Infinity
  #minutes = 0
  #loggedInMinute = 0

  constructor(log: ReportLog, nowMs: () => number) {
    this.#log = log
    this.#nowMs = nowMs
  }

  readonly add = ({ identity, ip }: Caller, action: Action, resource: Resource): void => {
    this.#beginMinute()
    const user = identity.kind === 'user' ? identity.username : ''
    const facts = { user, ip, action, resource: resourceText(resource) }
    const key = JSON.stringify(facts)
    if (this.#logged.has(key) || this.#loggedInMinute >= MOST_LOGGED) return
    this.#logged.add(key)
    this.#loggedInMinute++
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

/** The resource as a permission would name it. */
function resourceText(resource: Resource): string {
  switch (resource.kind) {
    case 'config':
      return `${resource.key.namespaceId}:${resource.key.group}:config/${resource.key.dataId}`
    case 'service':
      return `${resource.key.namespaceId}:${resource.key.groupedName.replace('@@', ':naming/')}`
    case 'namespace':
    case 'some-configs':
    case 'some-services':
      return `${resource.kind} of ${resource.namespaceId ?? 'any namespace'}`
    case 'some-namespaces':
    case 'operator':
    case 'backup':
    case 'audit':
    case 'access':
    case 'metrics':
    case 'own-account':
      return resource.kind
  }
}
