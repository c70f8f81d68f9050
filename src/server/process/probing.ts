import type { Logger } from 'pino'
import type { Engine } from '../../core/engine/ports.ts'
import type { InstanceAddress } from '../../core/naming/state/instance.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { foundHealth } from '../../core/naming/commands/probe-verdict.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import type { State } from '../../core/engine/state.ts'
import type { LastProbe } from '../../operations/console/instance-views.ts'
import { probedNetworks } from '../../probes/address-guard.ts'
import { probe } from '../../probes/probe.ts'
import { Prober } from '../../probes/prober.ts'
import type { Settings } from '../../settings/settings.ts'
import { probeKey, ProbeWatch } from '../../subscribers/probe-watch.ts'
import { monotonicMs } from './clocks.ts'

/** The most health probes that run at once. Each takes a file descriptor. */
const MOST_PROBES = 64

/** The prober, and the watch that chooses its targets. */
export type Probing = ReturnType<typeof startProbing>

interface ProbingParts {
  readonly state: State
  readonly engine: Engine
  readonly clock: () => Now
  /** Whether this server judges a service; absent: this is the only server, and judges all. */
  readonly judges?: ((key: ServiceKey) => boolean) | undefined
}

/** Probes persistent instances. A new health becomes a change like any other. */
export function startProbing(parts: ProbingParts, settings: Settings, log: Logger) {
  const { state, judges } = parts
  const report = (key: string, healthy: boolean): void => {
    const instance = watch.instanceOf(key)
    if (instance === undefined) return
    if (judges === undefined) return changeBehind(parts, instance, healthy)
    changeTogether(parts, instance, healthy).then(
      (isDone) => isDone || watch.probeAgain(key),
      // The store cannot be reached, or another server has changed something.
      () => watch.probeAgain(key),
    )
  }
  const networks = probedNetworks(settings.probeNetworks)
  const prober = new Prober({
    probe: (target) => probe({ ...target, networks }),
    limit: MOST_PROBES,
    now: monotonicMs,
    random: Math.random,
    params: () => probeParams(state),
    report,
    log,
  })
  const watch: ProbeWatch = new ProbeWatch(state, prober, judges)
  return {
    prober,
    watch,
    /** The last probe of an instance, if this server probes it. */
    lastOf: (key: ServiceKey, address: InstanceAddress) => lastProbe(prober.lastOf(probeKey(key, address))),
  }
}

function lastProbe(last: ReturnType<Prober['lastOf']>): LastProbe | undefined {
  if (last === undefined) return undefined
  const { outcome, reason: text, elapsedMs, agoMs } = last
  return { isUp: outcome === 'up', text, elapsedMs, agoMs }
}

function changeBehind({ engine, clock }: ProbingParts, { entry, record }: Instance, healthy: boolean): void {
  const { address, serial } = record
  const serviceKey = entry.service.key
  const { stamp } = clock()
  engine.applyBehind([{ kind: 'instance-health-changed', serviceKey, address, serial, healthy, stamp }])
}

/** With several servers, a result of a probe counts when the store has it. */
async function changeTogether(
  { engine }: ProbingParts,
  instance: Instance,
  healthy: boolean,
): Promise<boolean> {
  return engine.execute(foundHealth(instance, healthy))
}

/** `enabled` is always true: the watch decides which services are probed. */
function probeParams({ switches }: State) {
  const { checkTimes, httpHealthParams, tcpHealthParams, mysqlHealthParams } = switches
  return { enabled: true, checkTimes, http: httpHealthParams, tcp: tcpHealthParams, mysql: mysqlHealthParams }
}
