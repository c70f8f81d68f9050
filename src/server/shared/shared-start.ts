import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { MESSAGES } from '../../cluster/peer-question.ts'
import { packageVersion } from '../../command/version.ts'
import type { MemberFacts } from '../../core/cluster/members/member-records.ts'
import { isOfStore } from '../../core/refusal.ts'
import { isLoopback } from '../../core/text/ip-address.ts'
import { advertisedHost, advertisedPort } from '../process/server-address.ts'
import type { Settings } from '../../settings/settings.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { apartText, membersApart } from '@waypost/etcd-client/one-cluster'
import { LAYOUTS } from '../../store/etcd/format/layout.ts'
import { NotExaminable } from '../../store/local-file.ts'
import { PlaceTaken } from '../../store/etcd/failures/place-taken.ts'
import { ALARM_ADVICE, hasAlarm } from '../../store/etcd/space/space.ts'
import type { OpenEtcd } from '../../store/etcd/open-etcd.ts'
import { monotonicMs } from '../process/clocks.ts'
import { memoryLimitsOf } from '../process/memory-limits.ts'
import { answering } from './etcd-limits.ts'
import type { EtcdPlace } from './etcd-place.ts'

/** The peer port is this much above the port. */
const PEER_PORT_OFFSET = 2_000
/** How long a start waits for etcd, and how often it tries. */
const REACH_MS = 60_000
const RETRY_MS = 500
/** How long a first start waits for servers that miss data there. */
const OTHERS_MS = 3_000
/** How often a start looks whether etcd is one cluster: more than an election takes. */
const APART_LOOKS = 10
/** How often a start that waits for space logs it. */
const ALARM_MS = 60_000
/** How often the same refusal of etcd is logged, and for how many refusals that is remembered. */
const REFUSED_MS = 60_000
const MOST_REFUSALS = 20

/** The facts of this process; who must sign in is known later. */
export function ownFacts(settings: Settings, { secretsKeys }: Pick<EtcdPlace, 'secretsKeys'>): OwnFacts {
  const { port, peerPort, site } = settings
  return {
    ip: advertisedHost(settings),
    port: advertisedPort(settings, port),
    peerPort: peerPort === 0 ? port + PEER_PORT_OFFSET : peerPort,
    site,
    version: packageVersion(),
    process: randomUUID(),
    versions: { layouts: LAYOUTS, messages: MESSAGES },
    memory: memoryLimitsOf(settings),
    ...(secretsKeys.length > 0 && { secretsKeys: secretsKeys.map(({ id }) => id) }),
  }
}

type OwnFacts = Omit<MemberFacts, 'auth'>

/** Does a part of the start again while etcd cannot be reached in time: it may be later than the servers, or very busy. */
export async function withPatience<T>(
  part: () => Promise<T>,
  {
    log,
    sleep = (ms) => systemClock.sleep(ms),
  }: { log: Pick<Logger, 'warn'>; sleep?: (ms: number) => Promise<void> },
): Promise<T> {
  const untilMs = monotonicMs() + REACH_MS
  for (let isLogged = false; ; isLogged = true) {
    try {
      return await part()
    } catch (error) {
      if (!isAway(error)) throw error
      if (monotonicMs() > untilMs)
        throw new Error(`etcd cannot be reached: ${error.message}`, { cause: error })
      if (!isLogged) log.warn({ err: error }, 'etcd cannot be reached: the start waits for it')
      await sleep(RETRY_MS)
    }
  }
}

/** A place that another process has taken stays taken. */
function isAway(error: unknown): error is Error {
  if (error instanceof EtcdError) return error.kind === 'unavailable'
  return isOfStore(error) && !(error.cause instanceof PlaceTaken)
}

/** Waits until servers that run would have said that they miss data here: they find out within about two seconds. */
export async function othersMayKnow(log: Pick<Logger, 'info'>): Promise<void> {
  log.info(
    'etcd has no data under this prefix, and is young: the first start waits for servers that may know more',
  )
  await systemClock.sleep(OTHERS_MS)
}

/** Throws an Error if the members of etcd are not one cluster, also after the time of an election. */
export async function oneCluster(etcd: OpenEtcd): Promise<void> {
  for (let looks = 1; ; looks++) {
    const apart = membersApart(await answering(etcd))
    if (apart === undefined) return
    if (looks === APART_LOOKS) throw new NotExaminable(apartText(apart))
    await systemClock.sleep(RETRY_MS)
  }
}

/** Waits while etcd has its alarm for a full quota, until an operator lifts it: without a lease no server can join. */
export async function withoutAlarm(etcd: OpenEtcd, log: Logger): Promise<void> {
  for (let loggedMs = -Infinity; (await answering(etcd)).some(hasAlarm);) {
    if (monotonicMs() - loggedMs >= ALARM_MS) {
      loggedMs = monotonicMs()
      log.error(
        { advice: ALARM_ADVICE },
        'etcd is full and takes no data: the start waits until its alarm NOSPACE is lifted',
      )
    }
    await systemClock.sleep(RETRY_MS)
  }
}

/** Logs once a minute why etcd does not let this server in: it asks all the time. */
export function logOfRefusals(log: Logger): (error: EtcdError) => void {
  const loggedMs = new Map<string, number>()
  return (error) => {
    const nowMs = monotonicMs()
    if (nowMs < (loggedMs.get(error.message) ?? -REFUSED_MS) + REFUSED_MS) return
    if (loggedMs.size >= MOST_REFUSALS) loggedMs.clear()
    loggedMs.set(error.message, nowMs)
    log.error({ err: error }, 'etcd does not let this server in')
  }
}

/**
 * Warns if other machines can reach etcd without TLS. The peer port always has TLS. Warns also if servers on other machines
 * may use that etcd, and cannot reach this server.
 */
export function warnOfNetworks(settings: Settings, log: Logger): void {
  const { etcdEndpoints } = settings
  const isHere = (host: string): boolean => isLoopback(host) || host.toLowerCase() === 'localhost'
  const name = advertisedHost(settings)
  if (isHere(name) && !etcdEndpoints.every((endpoint) => isHere(new URL(endpoint).hostname)))
    log.warn(
      { 'advertise-host': name },
      'other machines use the same etcd, but none of them can reach this server by its name: set advertise-host',
    )
  const open = etcdEndpoints.filter((endpoint) => {
    const { protocol, hostname } = new URL(endpoint)
    return protocol === 'http:' && !isLoopback(hostname)
  })
  if (open.length > 0)
    log.warn(
      { endpoints: open },
      'etcd is reached without TLS: its network must be private (docs/cluster.md)',
    )
}
