import type { Logger } from 'pino'
import type { Engine } from '../core/engine.ts'
import type { Now } from '../core/ports.ts'
import type { State } from '../core/state.ts'
import { Prober } from '../probes/prober.ts'
import type { Settings } from '../settings/settings.ts'
import { ProbeWatch } from '../subscribers/probe-watch.ts'
import { monotonicMs } from './clocks.ts'

/** The prober, and the watch that chooses its targets. */
export interface Probing {
  readonly prober: Prober
  readonly watch: ProbeWatch
}

/** Probes persistent instances. A new health becomes a change like any other. */
export function startProbing(
  parts: { state: State; engine: Engine; clock: () => Now },
  settings: Settings,
  log: Logger,
): Probing {
  const { state, engine, clock } = parts
  const report = (key: string, healthy: boolean): void => {
    const instance = watch.instanceOf(key)
    if (instance === undefined) return
    const { address, serial } = instance.record
    const serviceKey = instance.entry.service.key
    const { stamp } = clock()
    engine.applyBehind([{ kind: 'instance-health-changed', serviceKey, address, serial, healthy, stamp }])
  }
  const prober = new Prober({
    limit: settings.probeConcurrency,
    now: monotonicMs,
    random: Math.random,
    params: () => probeParams(state),
    report,
    log,
  })
  const watch: ProbeWatch = new ProbeWatch(state, prober)
  return { prober, watch }
}

/** `enabled` is always true: the watch decides which services are probed. */
function probeParams({ switches }: State) {
  const { checkTimes, httpHealthParams, tcpHealthParams, mysqlHealthParams } = switches
  return { enabled: true, checkTimes, http: httpHealthParams, tcp: tcpHealthParams, mysql: mysqlHealthParams }
}
