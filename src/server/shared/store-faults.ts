import type { Logger } from 'pino'
import type { StoreFault } from '../../metrics/readiness.ts'

/** The dependencies of {@link StoreFaults}. */
export interface StoreFaultsParts {
  /** The prefixes of other installations above and below the own one. Rejects if etcd cannot be reached. */
  readonly nestedPrefixes: () => Promise<readonly string[]>
  readonly log: Pick<Logger, 'warn'>
  readonly monotonicMs: () => number
}

/** What an operator must mend in etcd. The servers work meanwhile. */
export class StoreFaults {
  readonly #parts: StoreFaultsParts
  #nested: readonly string[] = []
  #nestedSinceMs = 0

  constructor(parts: StoreFaultsParts) {
    this.#parts = parts
  }

  /** Looks for other installations. Call it at the start and each hour; if etcd is away, the next call finds them. */
  async look(): Promise<void> {
    const { nestedPrefixes, log, monotonicMs } = this.#parts
    const found = await nestedPrefixes().catch(() => this.#nested)
    if (found.length > 0 && found.join() !== this.#nested.join()) {
      this.#nestedSinceMs = monotonicMs()
      log.warn({ prefixes: found }, 'another installation has a prefix above or below this one (docs/cluster.md)')
    }
    this.#nested = found
  }

  get current(): StoreFault[] {
    if (this.#nested.length === 0) return []
    const forMs = Math.round(this.#parts.monotonicMs() - this.#nestedSinceMs)
    return [{ code: 'prefix-nested', reason: nestedText(this.#nested), forMs }]
  }
}

function nestedText(prefixes: readonly string[]): string {
  return (
    `Other installations have a prefix above or below the one of this server: ${prefixes.join(', ')}. ` +
    'Copy one of them to a prefix beside the other with `waypost copy-store`.'
  )
}
