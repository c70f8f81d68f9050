import type { Logger } from 'pino'
import type { EtcdFiles } from './etcd-limits.ts'
import { DAMAGED_ADVICE } from './store-reports.ts'
import type { StoreFault } from '../../metrics/readiness.ts'
import type { EtcdStore } from '../../store/etcd/etcd-store.ts'
import { apartText } from '@waypost/etcd-client/one-cluster'
import { CORRUPT_RAISED } from '../../store/etcd/space/space.ts'
import type { DamagedKey } from '../../store/etcd/failures/damaged-keys.ts'

const MOST_NAMED = 5

/** The faults that are logged here, when they are first seen. */
const LOGGED: Partial<Record<StoreFault['code'], string>> = {
  'etcd-apart': 'the endpoints of etcd are not one cluster',
  'etcd-corrupt': 'etcd has raised its alarm CORRUPT and refuses every write',
}

/** The dependencies of {@link StoreFaults}. */
export interface StoreFaultsParts {
  readonly store: Pick<EtcdStore, 'nestedPrefixes' | 'damaged' | 'missing'>
  readonly files: Pick<EtcdFiles, 'apart' | 'isCorrupt'>
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly monotonicMs: () => number
}

/** The faults in etcd that an operator must mend. The servers work meanwhile. */
export class StoreFaults {
  readonly #parts: StoreFaultsParts
  #nested: readonly string[] = []
  /** Since when each fault is there. */
  readonly #sinceMs = new Map<StoreFault['code'], number>()

  constructor(parts: StoreFaultsParts) {
    this.#parts = parts
    void this.look()
  }

  /** Looks for other installations, as it does at the start. Call it each hour; if etcd is away, the next call finds them. */
  async look(): Promise<void> {
    const { store, log } = this.#parts
    const found = await store.nestedPrefixes().catch(() => this.#nested)
    if (found.length > 0 && found.join() !== this.#nested.join())
      log.warn(
        { prefixes: found },
        'another installation has a prefix above or below this one (docs/cluster.md)',
      )
    this.#nested = found
  }

  get current(): StoreFault[] {
    const nowMs = this.#parts.monotonicMs()
    const found = this.#found()
    for (const code of this.#sinceMs.keys()) if (!found.has(code)) this.#sinceMs.delete(code)
    return Array.from(found, ([code, reason]) => {
      const isNew = !this.#sinceMs.has(code)
      if (isNew) this.#sinceMs.set(code, nowMs)
      const title = LOGGED[code]
      if (isNew && title !== undefined) this.#parts.log.error({ reason }, title)
      return { code, reason, forMs: Math.round(nowMs - this.#sinceMs.get(code)!) }
    })
  }

  #found(): Map<StoreFault['code'], string> {
    const { store, files } = this.#parts
    const { damaged: keys, missing } = store
    const found = new Map<StoreFault['code'], string>()
    if (missing !== undefined) found.set('store-empty', `${missing.message} ${missing.advice}`)
    if (files.isCorrupt) found.set('etcd-corrupt', CORRUPT_RAISED)
    if (files.apart !== undefined) found.set('etcd-apart', apartText(files.apart))
    if (this.#nested.length > 0) found.set('prefix-nested', nestedText(this.#nested))
    if (keys.length > 0) found.set('damaged', damagedText(keys))
    return found
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
