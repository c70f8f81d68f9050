import { beat, type BeatSource, type Renewed, renewKnown } from '../../core/naming/liveness/beat.ts'
import { DEFAULT_CLUSTER, instanceIdOf, type Metadata } from '../../core/naming/state/instance.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { isBeating, type Liveness } from '../../core/naming/liveness/liveness.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import { keepMoved } from '../../core/naming/commands/import-naming.ts'
import { REMEMBERED_METADATA, rememberedId } from '../../core/naming/state/remembered-metadata.ts'
import { isNewIp, registerInstance } from '../../core/naming/commands/register-instance.ts'
import { Refusal } from '../../core/refusal.ts'
import { afterwards } from '../afterwards.ts'
import type { InstanceParts } from './instances.ts'
import { NEVER_RECORDED } from '../operation-audit.ts'
import { serviceResource, someServices, WRITE_SERVICE } from './services.ts'

/** A beat. One that names no cluster renews that ip and port in any. */
export interface BeatRequest extends BeatSource {
  /** The other fields of a full beat; undefined for a light one. */
  readonly full: FullBeat | undefined
  /** Whether a new ip that no host can have is refused. Otherwise the instance stays unknown. */
  readonly isStrict?: boolean
}

/** The instance in a full beat; undefined fields take their defaults. */
export interface FullBeat {
  readonly ephemeral: boolean | undefined
  readonly weight: number | undefined
  readonly metadata: Metadata | undefined
}

/** The outcome of a beat. `unknown`: there is no such instance, and the beat did not register one. */
export interface Beaten {
  readonly kind: 'renewed' | 'registered' | 'unknown'
  /** When the next beat is expected, ms. */
  readonly intervalMs: number
  /** Whether the next ones may be light. */
  readonly lightBeatEnabled: boolean
}

/** Makes the operations of beats. */
export function beatOperations(parts: Omit<InstanceParts, 'loop' | 'isAlive' | 'maxInstanceMetadataBytes'>) {
  const { guard, state, liveness, clock } = parts
  return {
    /**
     * Renews an instance. A full beat of an unknown one registers it, unless a switch (sendBeatOnly, disableAddIP) says
     * that beats only renew; a light one does not. A beat of an instance that was deregistered a moment ago changes nothing.
     */
    beat: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'beat', isRecorded: (request) => registersPersistent(state, request) },
      resources: ({ serviceKey }: BeatRequest) => [serviceResource(serviceKey)],
      run: (request): Beaten | Promise<Beaten> => {
        const result = beat(parts, request, clock())
        if (result.kind === 'renewed')
          return result.moved.length === 0 ? renewed(parts, result) : keepAll(parts, result)
        // Clients of `/nacos` would register again after any other answer.
        if (result.kind === 'left') {
          if (result.isFirst) noteLate(parts, request, result.cluster)
          return beaten(parts, 'renewed', result.intervalMs)
        }
        const { sendBeatOnly, disableAddIP } = state.switches
        // Clients of `/nacos` must get 20404 here: after a refusal, one client library beats in a tight loop.
        const isRefused = request.isStrict !== true && !isNewIp(request.ip)
        if (request.full === undefined || sendBeatOnly || disableAddIP || isRefused)
          return beaten(parts, 'unknown')
        return registerFrom(parts, request, request.full)
      },
    }),
    /** Renews the instance that this beat, known by its fingerprint, renewed before; undefined where it is not known. */
    repeat: guard.finding({
      permission: WRITE_SERVICE,
      audit: { operation: 'beat', isRecorded: NEVER_RECORDED },
      scope: () => someServices({ namespaceId: undefined }),
      find: (fingerprint: string) => liveness.find(fingerprint),
      touches: (instance) =>
        instance === undefined
          ? []
          : [{ action: 'write', resource: serviceResource(instance.entry.service.key) }],
      run: (instance): Beaten | undefined =>
        instance === undefined ? undefined : renewed(parts, renewKnown(liveness, instance, clock())),
    }),
  }
}

function noteLate(
  { timeline, clock }: BeatOperationParts,
  { serviceKey: { namespaceId, groupedName }, ip, port }: BeatRequest,
  cluster: string,
): void {
  timeline.lateBeat({ namespaceId, groupedName }, { ip, port, cluster }, clock())
}

type BeatOperationParts = Parameters<typeof beatOperations>[0]

/** A beat is only counted, unless it makes an instance that an operator keeps. */
function registersPersistent(state: InstanceParts['state'], request: BeatRequest): boolean {
  if (request.full?.ephemeral !== false) return false
  const { serviceKey, ip, port, cluster = DEFAULT_CLUSTER } = request
  return state.instance(serviceKey, { ip, port, cluster }) === undefined
}

function renewed(parts: BeatOperationParts, { instances, healed }: Renewed): Beaten {
  parts.engine.applyBehind(healed)
  return beaten(parts, 'renewed', instances[0]?.timing.intervalMs)
}

/** The client of an imported instance has come. */
async function keepAll(parts: BeatOperationParts, result: Renewed): Promise<Beaten> {
  const commands = result.moved.map(({ entry, record }) =>
    keepMoved({ serviceKey: entry.service.key, address: record.address }),
  )
  await Promise.all(commands.map(async (command) => parts.engine.execute(command)))
  return renewed(parts, result)
}

function registerFrom(
  parts: BeatOperationParts,
  source: BeatRequest,
  full: FullBeat,
): Beaten | Promise<Beaten> {
  const { serviceKey, ip, port } = source
  const cluster = source.cluster ?? clusterRemembered(parts, source) ?? DEFAULT_CLUSTER
  const command = registerInstance({
    isBeat: true,
    serviceKey,
    address: { ip, port, cluster },
    ipRule: source.isStrict === true ? 'host' : undefined,
    ephemeral: full.ephemeral ?? true,
    weight: full.weight ?? 1,
    enabled: true,
    healthy: undefined,
    metadata: full.metadata ?? {},
    app: '',
  })
  return afterwards(parts.engine.execute(command), (registration) => {
    // Another server had it already: this one learned of it while the command waited.
    if (registration === 'known') beat(parts, source, parts.clock())
    const instance = parts.state.instance(serviceKey, { ip, port, cluster })
    return beaten(parts, 'registered', instance?.timing.intervalMs)
  })
}

/** The only cluster in which silence has removed an instance with this ip and port. */
function clusterRemembered(
  { state, liveness }: BeatOperationParts,
  { serviceKey, ip, port }: BeatSource,
): string | undefined {
  const clusters = liveness.absentClusters(serviceKey, ip, port).filter((cluster) => {
    const id = rememberedId({ serviceKey, address: { ip, port, cluster } })
    return state.record(REMEMBERED_METADATA, id)?.silenced !== undefined
  })
  return clusters.length === 1 ? clusters[0] : undefined
}

function beaten({ state }: BeatOperationParts, kind: Beaten['kind'], ownIntervalMs?: number): Beaten {
  const { clientBeatInterval, lightBeatEnabled } = state.switches
  return { kind, intervalMs: ownIntervalMs ?? clientBeatInterval, lightBeatEnabled }
}

/** How long ago the last beat of an instance came; undefined: it does not beat, or beats at another server. */
export function beatAgoMs(
  { liveness }: { readonly liveness: Pick<Liveness, 'lastBeatOf'> },
  instance: Instance,
  now: Now,
): number | undefined {
  if (!isBeating(instance)) return undefined
  const { isBeat, atMs } = liveness.lastBeatOf(instance)
  return isBeat ? Math.max(0, Math.round(now.healthMs - atMs)) : undefined
}

/** The refusal of a beat of an instance that is not there. */
export function unknownInstance({ serviceKey, ip, port, cluster = DEFAULT_CLUSTER }: BeatSource): Refusal {
  const { groupedName, namespaceId } = serviceKey
  const id = instanceIdOf({ ip, port, cluster }, groupedName)
  return new Refusal('instance-not-found', `instance ${id} not found in namespace ${namespaceId}`, {
    names: { serviceName: groupedName, cluster },
  })
}
