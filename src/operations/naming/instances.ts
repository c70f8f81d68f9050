import type { Engine } from '../../core/engine/ports.ts'
import { beat } from '../../core/naming/liveness/beat.ts'
import { connectionOf, isMoved } from '../../core/naming/state/connection-publisher.ts'
import {
  deregisterInstance,
  type ForeignRemoval,
  type InstancePatch,
  type InstanceTarget,
  liftSettings,
  modifyInstance,
  modifyOrRegister,
  setHealth,
} from '../../core/naming/commands/instance-commands.ts'
import { type InstanceAddress, type Metadata, type Publisher } from '../../core/naming/state/instance.ts'
import type { Liveness } from '../../core/naming/liveness/liveness.ts'
import {
  deleteMetadata,
  type MetadataBatch,
  updateMetadata,
} from '../../core/naming/commands/metadata-commands.ts'
import { registerInstance } from '../../core/naming/commands/register-instance.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { Timeline, TimelineRequest } from '../../core/naming/timeline/timeline.ts'
import type { Actor } from '../../core/naming/timeline/timeline-entry.ts'
import type { Guard } from '../guard.ts'
import type { Caller } from '../authorisation.ts'
import { afterwards } from '../afterwards.ts'
import { auditedBatch, auditedInstances, instanceNames } from './audited-instances.ts'
import { instanceReads } from './instance-reads.ts'
import { type InstanceRequest, instanceText, targetOf, targetThere } from './instance-targets.ts'
import { type BatchParts, carryOutBatch } from './metadata-batches.ts'
import { serviceResource, WRITE_SERVICE } from './services.ts'

/** Dependencies of the operations on instances. */
export interface InstanceParts extends BatchParts {
  readonly guard: Guard
  readonly state: State
  readonly liveness: Liveness
  readonly engine: Pick<Engine, 'execute' | 'applyBehind' | 'mostAtOnce'>
  readonly clock: () => Now
  /** Whether the server process of a connection is alive. */
  readonly isAlive: (process: string) => boolean
  /** Learns who asks for a change, and of late beats. */
  readonly timeline: Pick<Timeline, 'during' | 'lateBeat'>
  /** The most metadata that an instance may have, in bytes of UTF-8. */
  readonly maxInstanceMetadataBytes: number
}

/** An instance to remove. */
export interface DeregisterRequest extends InstanceRequest {
  /**
   * Whether an instance of a connection stays without an error, as clients of HTTP expect it. Otherwise a
   * refusal says why it stays. It is removed where the server of the connection is gone.
   */
  readonly sparesConnections?: boolean
}

/** An instance to register. */
export interface RegisterRequest extends InstanceRequest {
  readonly weight: number
  readonly enabled: boolean
  /** Undefined: healthy, or for a persistent instance that is there, as it was found to be. */
  readonly healthy: boolean | undefined
  readonly metadata: Metadata
  readonly app: string
}

/** Changes of an instance: undefined fields stay as they are, metadata is merged by key. */
export interface ModifyRequest extends InstanceRequest, Omit<InstancePatch, 'maxMetadataBytes' | 'actor'> {
  /** An unknown instance is registered instead of refused (docs/decisions/0021). */
  readonly registersUnknown: boolean
}

/** The health of an instance, as a client or an operator sets it. */
interface SetHealthRequest extends InstanceRequest {
  readonly healthy: boolean
}

/** Makes the operations on instances. They refuse as the commands in core do. */
export function instanceOperations(parts: InstanceParts) {
  return { ...registrations(parts), ...modifications(parts), ...batches(parts), ...instanceReads(parts) }
}

function registrations(parts: InstanceParts) {
  return { register: registerOperation(parts), deregister: deregisterOperation(parts) }
}

/** Registers; an instance that is there just like this has beaten. */
function registerOperation(parts: InstanceParts) {
  const { guard, engine, clock, liveness } = parts
  const isGone = (publisher: Publisher): boolean =>
    liveness.processes.isGone(connectionOf(publisher)?.process ?? '')
  return guard.operation({
    permission: WRITE_SERVICE,
    audit: {
      operation: 'register instance',
      item: instanceText,
      countsOthers: true,
      isRecorded: (request) => !isEphemeral(parts, request) || isPersistent(parts, targetOf(request)),
    },
    resources: ofInstance,
    run: (request: RegisterRequest) => {
      const { weight, enabled, healthy, metadata, app } = request
      const { serviceKey, address, ephemeral, ipRule } = targetOf(request)
      // Field by field: V8 makes a new shape for each object that a spread begins.
      const registered = {
        serviceKey,
        address,
        ephemeral,
        weight,
        enabled,
        healthy,
        metadata,
        app,
        isGone,
        ipRule,
      }
      return afterwards(engine.execute(registerInstance(registered)), (registration) => {
        if (registration === 'known') beat(parts, { serviceKey, ...address }, clock())
        return registration
      })
    },
  })
}

/** Removes an instance; ok also if it did not exist. Refusal `instance-connected`. */
function deregisterOperation(parts: InstanceParts) {
  const { guard, engine, timeline, liveness } = parts
  return guard.operation({
    permission: WRITE_SERVICE,
    audit: {
      operation: 'deregister instance',
      item: (request: DeregisterRequest) => textThere(parts, request),
      countsOthers: true,
      isRecorded: (request) => isPersistent(parts, targetThere(parts.state, request)),
    },
    resources: ofInstance,
    run: (request: DeregisterRequest, caller) => {
      const target = targetLeaving(parts, request)
      const ofConnection: ForeignRemoval = (publisher) => {
        // Its client may be the caller: it has left before it came here.
        if (isMoved(publisher)) return 'removed'
        if (request.sparesConnections === true) return 'kept'
        return parts.isAlive(connectionOf(publisher)?.process ?? '') ? 'refused' : 'removed'
      }
      const silencedAt = (nowMs: number) =>
        liveness.silencedPlace({ serviceKey: target.serviceKey, ...target.address }, nowMs)
      return timeline.during(askedBy(caller, 'deregister', target), () =>
        engine.execute(deregisterInstance(target, ofConnection, silencedAt)),
      )
    },
  })
}

/** The instance that a deregistration means. Where none is there: what silence has removed a moment ago. */
function targetLeaving(
  { state, liveness, clock }: InstanceParts,
  request: DeregisterRequest,
): InstanceTarget {
  const target = targetThere(state, request)
  if (state.instance(target.serviceKey, target.address) !== undefined) return target
  const silenced = liveness.silencedPlace(request, clock().healthMs)
  return silenced === undefined ? target : { ...target, address: silenced.address }
}

function modifications(parts: InstanceParts) {
  const { guard, engine, timeline, maxInstanceMetadataBytes, state } = parts
  const permission = WRITE_SERVICE
  return {
    modify: guard.operation({
      permission,
      audit: { operation: 'modify instance', item: (request: ModifyRequest) => textThere(parts, request) },
      resources: ofInstance,
      run: (request: ModifyRequest, caller) => {
        const { weight, enabled, metadata, registersUnknown } = request
        const patch = {
          weight,
          enabled,
          metadata,
          maxMetadataBytes: maxInstanceMetadataBytes,
          actor: actorOf(caller),
        }
        const commandOf = registersUnknown ? modifyOrRegister : modifyInstance
        const target = targetThere(state, request)
        return timeline.during(askedBy(caller, 'modify', target), () =>
          engine.execute(commandOf(target, patch)),
        )
      },
    }),
    setHealth: guard.operation({
      permission,
      audit: { operation: 'set health', item: (request: SetHealthRequest) => textThere(parts, request) },
      resources: ofInstance,
      run: (request: SetHealthRequest, caller) => {
        const target = targetThere(state, request)
        return timeline.during(askedBy(caller, 'health', target), () =>
          engine.execute(setHealth(target, request.healthy)),
        )
      },
    }),
  }
}

/** Which instances of a service a batch means, and the keys to write or to remove; see {@link MetadataBatch}. */
export interface BatchRequest extends Omit<MetadataBatch, 'maxBytes' | 'instances'> {
  readonly instances: readonly BatchedInstance[]
}

/** An instance of a batch. */
export type BatchedInstance = Omit<InstanceRequest, 'serviceKey' | 'ephemeral'> & {
  readonly ephemeral: boolean
}

/** Instances of a service to change in the same way. */
export interface ModifyManyRequest {
  readonly serviceKey: ServiceKey
  readonly instances: readonly Omit<InstanceRequest, 'serviceKey'>[]
  readonly weight: number | undefined
  readonly enabled: boolean | undefined
  /** Whether all that operators have set is lifted instead. */
  readonly lifts: boolean
}

/** The addresses of the changed and of the missing instances. */
export interface ModifiedMany {
  readonly updated: readonly InstanceAddress[]
  readonly notFound: readonly InstanceAddress[]
}

function batches(parts: InstanceParts) {
  const { guard, timeline } = parts
  const during = <T>(
    { serviceKey, lifts = false }: Pick<ModifyManyRequest, 'serviceKey'> & { readonly lifts?: boolean },
    caller: Caller,
    run: () => T,
  ): T => timeline.during(askedBy(caller, lifts ? 'lift' : 'modify', { serviceKey, address: undefined }), run)
  return {
    /** Changes weight or enabled of several instances, or lifts what operators have set; answers which ones. */
    modifyMany: guard.operation({
      permission: WRITE_SERVICE,
      resources: ofInstance,
      run: (request: ModifyManyRequest, caller) =>
        during(request, caller, () => modifyMany(parts, request, actorOf(caller))),
      audit: {
        operation: 'modify instances',
        items: instanceNames,
        cameTo: ({ updated, notFound }, { serviceKey }) => auditedInstances(serviceKey, updated, notFound),
      },
    }),
    /** Writes keys over the metadata of several instances; answers which ones. */
    updateMetadata: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'update metadata', items: instanceNames, cameTo: auditedBatch },
      resources: ofInstance,
      run: (batch: BatchRequest, caller) =>
        during(batch, caller, () =>
          carryOutBatch(parts, { ...meantBy(parts, batch), actor: actorOf(caller) }, updateMetadata),
        ),
    }),
    /** Removes keys from the metadata of several instances; answers which ones. */
    deleteMetadata: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'delete metadata', items: instanceNames, cameTo: auditedBatch },
      resources: ofInstance,
      run: (batch: BatchRequest, caller) =>
        during(batch, caller, () => carryOutBatch(parts, meantBy(parts, batch), deleteMetadata)),
    }),
  }
}

/** A batch with the cluster of each instance. */
function meantBy(
  { state, maxInstanceMetadataBytes: maxBytes }: InstanceParts,
  batch: BatchRequest,
): MetadataBatch {
  const { serviceKey } = batch
  const instances = batch.instances.map((one) => {
    const { address } = targetThere(state, { ...one, serviceKey })
    return { ...address, ephemeral: one.ephemeral }
  })
  return { ...batch, maxBytes, instances }
}

/** How many instances are changed before the next ones: their changes are written together. */
const TOGETHER = 64

async function modifyMany(
  { engine, state, maxInstanceMetadataBytes: maxMetadataBytes }: InstanceParts,
  { serviceKey, instances, weight, enabled, lifts }: ModifyManyRequest,
  actor: Actor,
): Promise<ModifiedMany> {
  const changesSome = weight !== undefined || enabled !== undefined
  if (!changesSome && !lifts)
    throw new Refusal('missing-parameter', 'weight or enabled is required.', { parameter: 'enabled' })
  if (changesSome && lifts)
    throw new Refusal('invalid-parameter', 'lift goes with neither weight nor enabled.', {
      parameter: 'lift',
      allowed: 'true without weight and enabled',
    })
  const updated: InstanceAddress[] = []
  const notFound: InstanceAddress[] = []
  const patch = { weight, enabled, metadata: undefined, maxMetadataBytes, actor }
  // All targets before anything changes: an address may be in several clusters.
  const targets = instances.map((one) => targetThere(state, { ...one, serviceKey }))
  for (let from = 0; from < targets.length; from += TOGETHER) {
    const modify = async (target: InstanceTarget): Promise<void> => {
      const { address } = state.instance(serviceKey, target.address)?.record ?? target
      const command = lifts ? liftSettings(target) : modifyInstance(target, patch)
      const outcome = (await isThereFor(async () => engine.execute(command))) ? updated : notFound
      outcome.push(address)
    }
    await Promise.all(targets.slice(from, from + TOGETHER).map(modify))
  }
  return { updated, notFound }
}

/** Whether a change has found its instance: another one may have removed it just before. */
async function isThereFor(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change()
    return true
  } catch (error) {
    if (error instanceof Refusal && error.code === 'instance-not-found') return false
    throw error
  }
}

/** The origin of a change, for the timeline. */
function askedBy(
  { ip, identity }: Caller,
  what: TimelineRequest['what'],
  { serviceKey: key, address }: { serviceKey: ServiceKey; address: InstanceAddress | undefined },
): TimelineRequest {
  return { what, key, address, actor: actorOf({ ip, identity }) }
}

function actorOf({ ip, identity }: Pick<Caller, 'ip' | 'identity'>): Actor {
  return { user: identity.kind === 'user' ? identity.username : null, ip }
}

function ofInstance({ serviceKey }: { serviceKey: ServiceKey }) {
  return [serviceResource(serviceKey)]
}

function isEphemeral({ state }: Pick<InstanceParts, 'state'>, { ephemeral }: InstanceRequest): boolean {
  return ephemeral ?? state.switches.defaultInstanceEphemeral
}

/** Whether there is a persistent instance at the address, which the request may replace or remove. */
function isPersistent(
  { state }: Pick<InstanceParts, 'state'>,
  { serviceKey, address }: InstanceTarget,
): boolean {
  return state.isPersistentAt(serviceKey, address)
}

/** How the audit names the instance that a request means. */
function textThere({ state }: Pick<InstanceParts, 'state'>, request: InstanceRequest): string {
  return instanceText(targetThere(state, request).address)
}
