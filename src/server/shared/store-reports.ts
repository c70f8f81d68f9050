import type { Logger } from 'pino'
import type { DamagedKey } from '../../store/etcd/failures/damaged-keys.ts'
import { StoreEmpty } from '../../store/etcd/format/store-empty.ts'
import type { StoreInUseWatch } from '../../store/etcd/format/store-in-use.ts'
import type { EtcdSetup } from '../../store/etcd/open-etcd.ts'
import { logOfRefusals, othersMayKnow } from './shared-start.ts'

/** The ways out of damage. */
export const DAMAGED_ADVICE =
  '`waypost doctor --store etcd` names all. Write the thing again where that is possible, remove the key with `etcdctl del`, ' +
  'or restore a backup.'

/** The events of the store in etcd that a server logs. */
export function reportsOf(log: Logger): Partial<EtcdSetup> {
  return {
    reloading: (err) => {
      // It is logged by itself, once.
      if (err instanceof StoreEmpty) return
      log.warn({ err }, 'the changes in etcd cannot be followed: everything is loaded again')
    },
    reloaded: ({ before, after }) =>
      log.warn(
        { keysBefore: before, keysAfter: after },
        'everything was loaded again: compare the numbers of keys',
      ),
    refused: logOfRefusals(log),
    damaged: logDamaged(log),
    watched: logMissing(log),
    waitForOthers: () => othersMayKnow(log),
  }
}

/** Logs that the data are missing, and are there again. */
function logMissing(log: Pick<Logger, 'fatal' | 'error' | 'info'>): StoreInUseWatch {
  return {
    missed: ({ fact, message, advice }) => log.fatal({ fact }, `${message} ${advice}`),
    found: () => log.info('the data are in etcd again: changes are made again'),
    mended: (key) =>
      log.error({ key }, 'a key that every installation has was missing in etcd, and is written again'),
  }
}

/** Logs a key once. */
function logDamaged(log: Pick<Logger, 'error'>): (damaged: DamagedKey) => void {
  return (damaged) =>
    log.error({ ...damaged, advice: DAMAGED_ADVICE }, 'a key of etcd cannot be read, and is left out')
}
