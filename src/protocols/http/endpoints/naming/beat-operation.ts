import { Type } from '../../../parameters/schema.ts'
import { DEFAULT_CLUSTER } from '../../../../core/naming/instance.ts'
import { beat, beatAgain, type BeatSource, type Renewed } from '../../../../core/naming/beat.ts'
import { registerInstance } from '../../../../core/naming/register-instance.ts'
import type { ServiceKey } from '../../../../core/naming/service.ts'
import { Refusal } from '../../../../core/refusal.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Beat, parseBeat } from '../../../parameters/json-fields.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import type { Answer } from '../../routing/route.ts'
import { SERVICE_PARAMS } from './instance-operations.ts'
import { fingerprintOf } from './beat-fingerprint.ts'
import { andThen } from '../../routing/and-then.ts'
import { type NamingParts, serviceKeyOf } from './naming-parts.ts'

/** What a beat came to, for the dialect to tell; `intervalMs` is when the next one is expected. */
export type Beaten =
  | { readonly kind: 'renewed' | 'registered'; readonly intervalMs: number }
  | { readonly kind: 'unknown'; readonly key: ServiceKey; readonly source: BeatSource }

/**
 * `PUT …/instance/beat`: renews an instance. A full beat (with the `beat` parameter) of an unknown one
 * registers it, unless a switch (sendBeatOnly, disableAddIP) says that beats only renew; a light one does not.
 */
export function beatOperation(parts: NamingParts, answerOf: (beaten: Beaten) => Answer): Operation {
  return operation({
    summary: 'Send instance beat',
    permission: { action: 'write', resource: 'naming' },
    params: Type.Object({
      ...SERVICE_PARAMS,
      ip: Type.Optional(fields.ip),
      port: Type.Optional(fields.port),
      clusterName: Type.Optional(fields.withAliases(fields.clusterName, 'cluster')),
      beat: Type.Optional(fields.beat),
    }),
    again: (target) => {
      const result = beatAgain(parts.liveness, fingerprintOf(target), parts.clock())
      return result === undefined ? undefined : answerOf(renewed(parts, result))
    },
    handle: ({ params, target }) => {
      const serviceKey = serviceKeyOf(params)
      const full = fullBeat(parts, params.beat)
      const source = full ?? lightSource(params)
      const cluster = full?.cluster ?? params.clusterName
      // Spelled out: a spread here was a third of what a beat cost.
      const { ip, port } = source
      const fingerprint = target === undefined ? undefined : fingerprintOf(target)
      return andThen(beaten(parts, { serviceKey, ip, port, cluster, full, fingerprint }), answerOf)
    },
  })
}

interface Sent extends BeatSource {
  readonly full: Beat | undefined
}

function beaten(parts: NamingParts, sent: Sent): Beaten | Promise<Beaten> {
  const result = beat(parts, sent, parts.clock())
  if (result.kind === 'renewed') return renewed(parts, result)
  const { sendBeatOnly, disableAddIP } = parts.state.switches
  // Clients of `/nacos` must hear 20404 here: a refusal makes one of them beat in a tight loop.
  if (sent.full === undefined || sendBeatOnly || disableAddIP)
    return { kind: 'unknown', key: sent.serviceKey, source: sent }
  return registerFrom(parts, sent, sent.full)
}

function renewed(parts: NamingParts, { instances, healed }: Renewed): Beaten {
  parts.engine.applyBehind(healed)
  return { kind: 'renewed', intervalMs: intervalOf(parts, instances[0]?.timing.intervalMs) }
}

function registerFrom(parts: NamingParts, source: BeatSource, full: Beat): Beaten | Promise<Beaten> {
  const { serviceKey, ip, port, cluster = DEFAULT_CLUSTER } = source
  const command = registerInstance({
    serviceKey,
    address: { ip, port, cluster },
    ephemeral: full.ephemeral ?? true,
    weight: full.weight ?? 1,
    enabled: true,
    healthy: undefined,
    metadata: full.metadata ?? {},
    app: '',
  })
  return andThen(parts.engine.execute(command), (): Beaten => {
    const instance = parts.state.instance(serviceKey, { ip, port, cluster })
    return { kind: 'registered', intervalMs: intervalOf(parts, instance?.timing.intervalMs) }
  })
}

function fullBeat(parts: NamingParts, text: string | undefined): Beat | undefined {
  return text === undefined
    ? undefined
    : parseBeat(text, { maxMetadataBytes: parts.maxInstanceMetadataBytes })
}

function lightSource(params: { ip?: string; port?: number }): { ip: string; port: number } {
  const { ip, port } = params
  if (ip === undefined) throw missing('ip')
  if (port === undefined) throw missing('port')
  return { ip, port }
}

function missing(parameter: string): Refusal {
  return new Refusal('missing-parameter', `${parameter} is required where there is no beat.`, { parameter })
}

function intervalOf(parts: NamingParts, ownMs: number | undefined): number {
  return ownMs ?? parts.state.switches.clientBeatInterval
}
