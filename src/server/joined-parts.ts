import type { Logger } from 'pino'
import { Follower } from '../core/engine/follower.ts'
import type { State } from '../core/engine/state.ts'
import { HealthClock } from '../core/naming/liveness/health-clock.ts'
import { Liveness } from '../core/naming/liveness/liveness.ts'
import { Timeline, type TimelineParts } from '../core/naming/timeline/timeline.ts'
import { DAMAGED_ITEM } from '../core/config/state/damaged-item.ts'
import { seenBy, viewedMd5 } from '../core/config/state/config-view.ts'
import { knownToRules } from '../core/clients/client-views.ts'
import { Stamps, type Now } from '../core/decisions/stamps.ts'
import { reportFaultsTo } from '../core/unexpected.ts'
import { Feed } from '../feed/feed.ts'
import { SWEEP_MS } from '../jobs/naming-care.ts'
import { MachineLoad } from '../machine/machine-load.ts'
import { Observability } from '../observability.ts'
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
import type { Installation } from './process/installation.ts'
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
  const onReload = () => live.streams.reloaded()
  const engine = watch.withinRoom(installation.engineOn({ follower, stamps, clock, watch, onReload }))
  const polls = openPolls({ state, live }, settings)
  const patterns = { configPatterns: configPatterns(loop), servicePatterns: servicePatterns(loop) }
  const lists = new InstanceListAnswers(state, loop)
  const pushing = await openPushing({ state, lists }, settings, log)
  const { publishing, care } = openCare({ installation, state, liveness, engine, healthClock, clock, watch })
  const probing = startProbing({ state, engine, clock, judges: care.judges }, settings, log)
  for (const part of [polls, ...Object.values(patterns), pushing.serviceWatch, probing.watch])
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
    store,
    healthClock,
    clock,
    polls,
    ...patterns,
    live,
    pushing,
    publishing,
    probing,
    care,
    members: await installation.membersOf({ state, engine, watch }),
    machine: new MachineLoad(),
    watch,
    audit: openAudit({ store, clock, report: watch.report, onWritten: live.onAudit }, settings, log),
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

function openPolls({ state, live }: { state: State; live: Live }, settings: Settings): ConfigWatchers {
  return new ConfigWatchers({
    md5Of: (key, who) => viewedMd5(state, key, who),
    isDamaged: (key) => state.record(DAMAGED_ITEM, key.text) !== undefined,
    seenBy: (key, who) => ({ ...seenBy(state, key, who), ...knownToRules(who) }),
    loop,
    maxHeld: settings.maxHeldPolls,
    maxHeldOfAddress: settings.maxHeldPollsPerAddress,
    onWatched: live.streams.onWatched,
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
