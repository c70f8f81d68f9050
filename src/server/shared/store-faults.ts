import type { Logger } from 'pino'
import type { EtcdFiles } from './etcd-limits.ts'
import { DAMAGED_ADVICE } from './store-reports.ts'
import type { StoreFault } from '../../metrics/readiness.ts'
import type { EtcdStore } from '../../store/etcd/etcd-store.ts'
import { apartText } from '@waypost/etcd-client/one-cluster'
import type { DamagedKey } from '../../store/etcd/failures/damaged-keys.ts'

const MOST_NAMED = 5
/** The dependencies of {@link StoreFaults}. */
export interface StoreFaultsParts {
  readonly store: Pick<EtcdStore, 'nestedPrefixes' | 'damaged' | 'missing'>
  readonly files: Pick<EtcdFiles, 'apart'>
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly monotonicMs: () => number
}

/** What an operator must mend in etcd. The servers work meanwhile. */
export class StoreFaults {
  readonly #parts: StoreFaultsParts
  #nested: readonly string[] = []
  #nestedSinceMs = 0
  #damagedSinceMs: number | undefined
  #missingSinceMs: number | undefined
  #apartSinceMs: number | undefined

  constructor(parts: StoreFaultsParts) {
    this.#parts = parts
    void this.look()
  }

  /** Looks for other installations, as it does at the start. Call it each hour; if etcd is away, the next call finds them. */
  async look(): Promise<void> {
    const { store, log, monotonicMs } = this.#parts
    const found = await store.nestedPrefixes().catch(() => this.#nested)
    if (found.length > 0 && found.join() !== this.#nested.join()) {
      this.#nestedSinceMs = monotonicMs()
      log.warn(
        { prefixes: found },
        'another installation has a prefix above or below this one (docs/cluster.md)',
      )
    }
    this.#nested = found
  }

  #apart(nowMs: number): readonly string[] | undefined {
    const { apart } = this.#parts.files
    if (apart !== undefined && this.#apartSinceMs === undefined)
      this.#parts.log.error({ endpoints: apart }, 'the endpoints of etcd are not one cluster')
    this.#apartSinceMs = apart && (this.#apartSinceMs ?? nowMs)
    return apart
  }

  get current(): StoreFault[] {
    const nowMs = this.#parts.monotonicMs()
    const since = (sinceMs: number): number => Math.round(nowMs - sinceMs)
    const { damaged: keys, missing } = this.#parts.store
    this.#missingSinceMs = missing && (this.#missingSinceMs ?? nowMs)
    this.#damagedSinceMs = keys.length === 0 ? undefined : (this.#damagedSinceMs ?? nowMs)
    const faults: StoreFault[] = []
    if (missing !== undefined && this.#missingSinceMs !== undefined)
      faults.push({
        code: 'store-empty',
        reason: `${missing.message} ${missing.advice}`,
        forMs: since(this.#missingSinceMs),
      })
    const apart = this.#apart(nowMs)
    if (apart !== undefined && this.#apartSinceMs !== undefined)
      faults.push({ code: 'etcd-apart', reason: apartText(apart), forMs: since(this.#apartSinceMs) })
    if (this.#nested.length > 0)
      faults.push({
        code: 'prefix-nested',
        reason: nestedText(this.#nested),
        forMs: since(this.#nestedSinceMs),
      })
    if (this.#damagedSinceMs !== undefined)
      faults.push({ code: 'damaged', reason: damagedText(keys), forMs: since(this.#damagedSinceMs) })
    return faults
  }
}

function damagedText(keys: readonly DamagedKey[]): string {
  const named = keys.slice(0, MOST_NAMED).map(({ key, problem }) => `${key} (${problem})`)
  const more = keys.length > named.length ? ` and ${keys.length - named.length} more` : ''
  return `Keys of etcd that cannot be read are left out: ${named.join(', ')}${more}. ${DAMAGED_ADVICE}`
}

function nestedText(prefixes: readonly string[]): string {
  return (
    `Other installations have a prefix above or below the one of this server: ${prefixes.join(', ')}. ` +
    'Copy one of them to a prefix beside the other with `waypost copy-store`.'
  )
}
