import type { Logger } from 'pino'
import { GoneHistory } from '../jobs/gone-history.ts'
import { HistoryCleaner } from '../jobs/history-cleaner.ts'
import { MemoryCare } from '../jobs/memory-care.ts'
import { SWEEP_MS } from '../jobs/naming-care.ts'
import { Timers } from '../jobs/timers.ts'
import { FIGURES_MS } from '../metrics/figure-history.ts'
import type { Observability } from './process/observability.ts'
import type { KeyPair } from '../protocols/sockets/secure-layer.ts'
import type { Settings } from '../settings/settings.ts'
import { monotonicMs, wallMs } from './process/clocks.ts'
import type { ClientConnections } from './doors/connections.ts'
import { type Certificates, LOOK_EVERY_MS } from './process/certificates.ts'
import { LIVE_TICK_MS } from './doors/live.ts'
import type { JoinedParts } from './joined-parts.ts'
import { HEARTBEAT_MS } from './process/installation.ts'
import type { SignIn } from './sign-in/sign-in.ts'

/** Clients read lists every ten seconds by default: a client that has not for one or two of these is forgotten. */
const READERS_MS = 60_000

/** The joined parts, and the parts that are opened after them. */
interface JobParts extends JoinedParts {
  readonly signIn: Pick<SignIn, 'tidy'>
  readonly certificates: Certificates | undefined
  readonly useKeyPair: (pair: KeyPair) => void
  readonly connections: Pick<ClientConnections, 'tick'>
  readonly log: Pick<Logger, 'warn'>
}

/** Starts all regular jobs. `stop` of the result ends them. */
export function startRegularJobs(parts: JobParts, settings: Settings): { stop(): void } {
  const { engine, care, installation, polls, pushing, publishing, probing, members, watch, signIn, audit } =
    parts
  const timers = new Timers((error, job) => watch.caught('job', error, { job }), watch.pulse)
  const cleaner = historyCleaner(parts, settings)
  cleaner.begin().catch((error: unknown) => watch.caught('job', error, { job: 'history' }))
  timers.every(SWEEP_MS, 'health sweep', () => care.sweep())
  timers.every(SWEEP_MS, 'instances of connections', () => publishing.connectionInstances.tick())
  timers.every(1_000, 'empty services', () => care.expireServices())
  timers.every(settings.expiredMetadataIntervalMs, 'remembered metadata', () => care.forgetMetadata())
  timers.every(100, 'write behind', () => engine.tick())
  timers.every(100, 'held polls', () => polls.tick(monotonicMs()))
  timers.every(100, 'connections', () => parts.connections.tick())
  timers.every(LIVE_TICK_MS, 'live events', () => parts.live.tick())
  timers.every(100, 'probes', () => probing.prober.tick())
  const ifElected = async (work: () => Promise<void>): Promise<void> => {
    if (installation.isElected()) await work()
  }
  timers.every(1_000, 'history', () => ifElected(() => cleaner.tick()))
  timers.every(1_000, 'pushes', () => {
    pushing.pushes.tick(monotonicMs())
    pushing.socket.tick(monotonicMs())
    pushing.streams.tick()
  })
  timers.every(READERS_MS, 'readers of lists', () => pushing.readers.turn())
  timers.every(10_000, 'sessions and keys', () => ifElected(() => signIn.tidy()))
  timers.every(200, 'audit', () => audit.flush())
  timers.every(60_000, 'old events of the audit', () => ifElected(() => audit.cleaner.clean()))
  timers.every(500, 'members', refreshing(parts))
  timers.every(HEARTBEAT_MS, 'leadership', () => members.heartbeat())
  timers.every(500, 'standing', () => installation.look())
  timers.every(60_000, 'comparison with the store', () => installation.compare())
  timers.every(60_000, 'left-overs in the store', () => ifElected(() => installation.clean()))
  const memory = new MemoryCare({ ...parts, isElected: () => installation.isElected(), monotonicMs })
  timers.every(1_000, 'memory', () => memory.tick())
  watchItself(timers, watch)
  timers.every(LOOK_EVERY_MS, 'certificates', () => parts.certificates?.look(parts.useKeyPair))
  return {
    stop() {
      timers.stop()
      cleaner.stop()
    },
  }
}

function watchItself(timers: Timers, watch: Observability): void {
  timers.every(1_000, 'watch', () => watch.tick())
  timers.every(FIGURES_MS, 'figures', () => watch.measure())
}

function historyCleaner(parts: JobParts, settings: Settings): HistoryCleaner {
  const { store } = parts
  const gone = new GoneHistory(parts)
  return new HistoryCleaner({
    store,
    wallMs,
    monotonicMs,
    retentionMs: settings.historyRetentionMs,
    intervalMs: settings.historyCleanIntervalMs,
    keep: settings.historyKeep,
    forgetBefore: (beforeMs) => gone.forgetBefore(beforeMs),
  })
}

/** Looks at the servers and the machine again, as often as the switch says. */
function refreshing({ state, members, machine }: JobParts): () => void {
  let nextMs = 0
  return () => {
    const nowMs = monotonicMs()
    if (nowMs < nextMs) return
    nextMs = nowMs + state.switches.serverStatusSynchronizationPeriodMillis
    machine.sample()
    members.refresh()
  }
}
