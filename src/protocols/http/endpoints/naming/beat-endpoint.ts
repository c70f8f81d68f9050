import { hash } from 'node:crypto'
import { Refusal } from '../../../../core/refusal.ts'
import type { Beaten, BeatRequest } from '../../../../operations/naming/beats.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Beat, parseBeat } from '../../../parameters/json-fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint, type Answer } from '../../routing/route.ts'
import { type NamingEndpointParts, SERVICE_PARAMS, serviceKeyOf } from './naming-requests.ts'
import { jsonTextAnswer } from '../../routing/answers.ts'

/** How a dialect answers a beat; `request` is undefined for a repeated one, which is never unknown. */
export type BeatAnswerOf = (beaten: Beaten, request: BeatRequest | undefined) => Answer

/** `PUT …/instance/beat`; `isStrict`: see `InstanceRequest`. A beat that was read before, word for word, is recognised by its request target. */
export function beatEndpoint(parts: NamingEndpointParts, answerOf: BeatAnswerOf, isStrict = false): Endpoint {
  const { beats } = parts
  return endpoint({
    summary: 'Send instance beat',
    permission: beats.beat.permission,
    params: Type.Object({
      ...SERVICE_PARAMS,
      ip: Type.Optional(fields.ip),
      port: Type.Optional(fields.port),
      clusterName: Type.Optional(fields.withAliases(fields.clusterName, 'cluster')),
      beat: Type.Optional(fields.beat),
    }),
    again: (target, caller) => {
      const beaten = beats.repeat(fingerprintOf(target), caller)
      return beaten === undefined ? undefined : answerOf(beaten, undefined)
    },
    handle: ({ params, target, caller }) => {
      const full = fullBeat(parts, params.beat)
      const { ip, port } = full ?? lightSource(params)
      // Spelled out: a spread here was a third of the cost of a beat.
      const request = {
        serviceKey: serviceKeyOf(params),
        ip,
        port,
        cluster: full?.cluster ?? params.clusterName,
        full,
        isStrict,
        fingerprint: target === undefined ? undefined : fingerprintOf(target),
      }
      const beaten = beats.beat(request, caller)
      // Nearly always renewed at once: no closure for that.
      return beaten instanceof Promise ? answerLater(beaten, request, answerOf) : answerOf(beaten, request)
    },
  })
}

async function answerLater(
  beaten: Promise<Beaten>,
  request: BeatRequest,
  answerOf: BeatAnswerOf,
): Promise<Answer> {
  return answerOf(await beaten, request)
}

/**
 * Identifies a request target in 20 characters: whole targets would take more memory than all other data of their
 * instances. SHA-1 is the fastest digest of Node. It is safe here: an author may find two texts with one digest, but no
 * text with the digest of somebody else's.
 */
function fingerprintOf(target: string): string {
  return hash('sha1', target, 'binary')
}

function fullBeat(
  { maxInstanceMetadataBytes: maxMetadataBytes }: NamingEndpointParts,
  text: string | undefined,
): Beat | undefined {
  return text === undefined ? undefined : parseBeat(text, { maxMetadataBytes })
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

/** Always 200: clients read when to beat next from it, and whether to register again (http-compat.md section 4). */
export function nacosBeatAnswer({ kind, intervalMs, lightBeatEnabled }: Beaten): Answer {
  const code = kind === 'unknown' ? 20404 : 10200
  return jsonTextAnswer(
    `{"clientBeatInterval":${intervalMs},"code":${code},"lightBeatEnabled":${lightBeatEnabled}}`,
  )
}
