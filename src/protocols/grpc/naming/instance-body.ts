import { DEFAULT_CLUSTER, type Metadata } from '../../../core/naming/state/instance.ts'
import * as fields from '../../parameters/fields.ts'
import { toMetadata } from '../../parameters/metadata-text.ts'
import { invalid } from '../../parameters/parameter-field.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import type { JsonObject } from '../wire/json.ts'
import { bodyReader } from './body-reader.ts'

const INSTANCE = Type.Object({
  ip: fields.ip,
  port: fields.port,
  clusterName: fields.withDefault(fields.clusterName, DEFAULT_CLUSTER),
  weight: fields.withDefault(fields.weight, 1),
  healthy: fields.withDefault(fields.healthy, true),
  enabled: fields.withDefault(fields.enabled, true),
  ephemeral: fields.withDefault(fields.ephemeral, true),
})

/** An instance as a client sends it. Its id, its service and the times that Java computes from metadata are not read. */
export interface SentInstance extends Static<typeof INSTANCE> {
  readonly metadata: Metadata
}

const readKeys = bodyReader(INSTANCE)

/** The instance under a key of a body. Refusals name the parameter. */
export function readInstance(sent: unknown, maxMetadataBytes: number): SentInstance {
  const body = instanceObject(sent)
  const keys = readKeys(body)
  return { metadata: readMetadata(body['metadata'], maxMetadataBytes), ...keys }
}

/** Whether an instance that is sent is meant to persist. Nothing else of it is read. */
export function isPersistent(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'ephemeral' in sent && sent.ephemeral === false
}

function instanceObject(sent: unknown): JsonObject {
  if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent as JsonObject
  throw invalid('instance', 'an object with ip and port', typeof sent)
}

function readMetadata(sent: unknown, maxBytes: number): Metadata {
  if (sent === undefined || sent === null || sent === '') return {}
  if (typeof sent !== 'object' || Array.isArray(sent)) throw invalid('metadata', 'an object', typeof sent)
  return toMetadata(sent, 'metadata', maxBytes)
}
