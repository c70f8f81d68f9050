import type { Logger } from 'pino'
import { Follower } from '../core/engine/follower.ts'
import type { State } from '../core/engine/state.ts'
import { withSeenNames } from '../core/engine/with-seen-names.ts'
import { withinMemory } from '../core/engine/within-memory.ts'
import { ClientMemory } from '../core/memory/client-memory.ts'
import { MemoryBudget } from '../core/memory/memory-budget.ts'
import { HealthClock } from '../core/naming/liveness/health-clock.ts'
import { Liveness } from '../core/naming/liveness/liveness.ts'
import { Timeline, type TimelineParts } from '../core/naming/timeline/timeline.ts'
import { DAMAGED_ITEM, UNREADABLE } from '../core/config/state/damaged-item.ts'
import { seenBy, viewedMd5 } from '../core/config/state/config-view.ts'
import { knownToRules } from '../core/clients/client-views.ts'
import { Stamps, type Now } from '../core/decisions/stamps.ts'
import { reportFaultsTo } from '../core/unexpected.ts'
import { Feed } from '../feed/feed.ts'
import { SWEEP_MS } from '../jobs/naming-care.ts'
import { MachineLoad } from '../machine/machine-load.ts'
import { Observability } from './process/observability.ts'
import { InstanceListAnswers } from '../protocols/answers/instance-list.ts'
import type { Settings } from '../settings/settings.ts'
import { configPatterns } from '../subscribers/config-patterns.ts'
import { ConfigWatchers } from '../subscribers/config-watchers.ts'
import { servicePatterns } from '../subscribers/service-patterns.ts'
import { type Live, openLive } from './doors/live.ts'
import { openPushing } from './doors/pushing.ts'
import { openAudit } from './process/audit.ts'
import { openCare } from './process/caring.ts'
import { loop, monotonicMs, wallMs } from './process/clocks.ts'
import type { EngineParts, Installation } from './process/installation.ts'
import { clientMemoryBytes, memoryLimitsOf, waitingContentBytes } from './process/memory-limits.ts'
import { requireMemory } from './process/stored-memory.ts'
import { type Probing, startProbing } from './process/probing.ts'
import type { UnexpectedEnd } from './process/unexpected-end.ts'

/** The settings and the log, which every part gets. */
interface Start {
  readonly settings: Settings
  readonly log: Logger
}

/** The connected parts of a server: its state, the engine that changes it, and all subscribers of its changes. */
export type JoinedParts = Awaited<ReturnType<typeof joinParts>>

/** Creates and connects the parts. Changes flow one way: engine, state, feed, subscribers. */
export async function joinParts(installation: Installation, end: UnexpectedEnd, { settings, log }: Start) {
  const { store, snapshot, lastRefAheadMs } = installation
  const healthClock = new HealthClock(monotonicMs(), SWEEP_MS)
  const stamps = new Stamps()
  const clock = (): Now => clockAt(wallMs(), healthClock, stamps)
  const watch = new Observability({ ...measured(installation), log, settings, monotonicMs })
  reportFaultsTo({ caught: watch.caught, fatal: end.failState })
  const feed = new Feed({ defer: loop.soon })
  const liveness = new Liveness(installation.process)
  const timeline = openTimeline(() => probing)
  const following = { clock, stamps, feed, presence: liveness, lastRefAheadMs, observer: timeline }
  const follower = Follower.load(snapshot, following, settings)
  const { state, revision } = follower
  const live = openLive({ installation, revision, watch }, settings)
  const audit = openAudit({ store, clock, report: watch.report, onWritten: live.onAudit }, settings, log)
  const opening = { installation, follower, stamps, clock, watch, live, trail: audit.trail }
  const { engine, budget, clientMemory: memory } = openEngine(opening, settings)
  const watchers = openWatchers({ state, live, memory }, settings)
  const lists = new InstanceListAnswers(state, loop)
  const pushing = await openPushing({ state, lists, memory }, settings, log)
  const caring = { installation, state, liveness, engine, healthClock, clock, watch, timeline }
  const { publishing, care } = openCare(caring, log)
  const probing = startProbing({ state, engine, clock, judges: care.judges }, settings, log)
  for (const part of [...Object.values(watchers), pushing.serviceWatch, probing.watch])
    feed.subscribe((change) => part.onChange(change))
  feed.subscribe(watch.changes.onChange)
  feed.subscribe(live.streams.onChange)
  return {
    installation,
    state,
    liveness,
    timeline,
    lists,
    engine,
    budget,
    store,
    healthClock,
    clock,
    ...watchers,
    live,
    pushing,
    publishing,
    probing,
    care,
    members: await installation.membersOf({ state, engine, watch }),
    machine: new MachineLoad(),
    watch,
    audit,
  }
}

interface EngineOpening extends Omit<EngineParts, 'onReload'> {
  readonly installation: Installation
  readonly live: Live
}

/** The engine, and the limits of memory: within `budget` it decides. Throws SettingsError if the loaded data are beyond them. */
function openEngine({ installation, live, ...parts }: EngineOpening, settings: Settings) {
  const { state } = parts.follower
  const limits = memoryLimitsOf(settings)
  requireMemory(state.memory.total, limits)
  const budget = new MemoryBudget(state.memory, limits, waitingContentBytes())
  const clientMemory = new ClientMemory(clientMemoryBytes())
  parts.watch.memory.observe({ account: state.memory, budget, clients: clientMemory })
  const onReload = () => live.streams.reloaded()
  const engine = parts.watch.withinRoom(installation.engineOn({ ...parts, onReload }))
  return {
    budget,
    clientMemory,
    engine: withSeenNames(withinMemory(engine, { state, budget, clock: parts.clock })),
  }
}

/** The measurements of an installation. */
function measured(installation: Installation) {
  const { store, cutOff, lagging, storeFaults } = installation
  return {
    store,
    cutOff,
    lagging,
    storeFaults,
    measureRoom: (isUrgent: boolean) => installation.measureRoom(isUrgent),
    storeBytes: () => installation.storeBytes(),
  }
}

interface PollParts {
  readonly state: State
  readonly live: Live
  readonly memory: ClientMemory
}

/** The watchers of items, and of patterns. */
function openWatchers(parts: PollParts, settings: Settings) {
  const { memory } = parts
  return {
    polls: openPolls(parts, settings),
    configPatterns: configPatterns(loop, memory),
    servicePatterns: servicePatterns(loop, memory),
  }
}

function openPolls({ state, live, memory }: PollParts, settings: Settings): ConfigWatchers {
  return new ConfigWatchers({
    md5Of: (key, who) =>
      state.record(DAMAGED_ITEM, key.text) === undefined ? viewedMd5(state, key, who) : UNREADABLE,
    seenBy: (key, who) => ({ ...seenBy(state, key, who), ...knownToRules(who) }),
    loop,
    maxHeld: settings.maxHeldPolls,
    maxHeldOfAddress: settings.maxHeldPollsPerAddress,
    onWatched: live.streams.onWatched,
    memory,
  })
}

/** Records events of instances. `probing` exists before the first probe. */
function openTimeline(probing: () => Probing): Timeline {
  const probeText: TimelineParts['probeText'] = (key, address) => probing().lastOf(key, address)?.text ?? ''
  return new Timeline({ startMs: wallMs(), probeText })
}

function clockAt(wallMs: number, healthClock: HealthClock, stamps: Stamps): Now {
  return { wallMs, healthMs: healthClock.at(monotonicMs()), stamp: stamps.next(wallMs) }
}
