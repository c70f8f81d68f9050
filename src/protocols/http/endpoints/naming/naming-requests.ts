import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import type { Metadata } from '../../../../core/naming/state/instance.ts'
import type { ServiceKey, Selector } from '../../../../core/naming/state/service.ts'
import type { Operations } from '../../../../operations/operations.ts'
import * as fields from '../../../parameters/fields.ts'
import { toGroupedName } from '../../../parameters/grouped-name.ts'
import { parseMetadata } from '../../../parameters/json-fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { javaJson } from '../../../answers/java-numbers.ts'
import { answersJson, jsonAnswer, jsonTextAnswer, Json } from '../../routing/answers.ts'
import type { Answer, AnswerSchemas, JsonSchema } from '../../routing/route.ts'
import { labelsOfExpression } from '../../../../core/naming/state/label-selector.ts'

/** Dependencies of the naming endpoints, and the most metadata of an instance, in bytes. */
export interface NamingEndpointParts extends Pick<
  Operations,
  'instances' | 'beats' | 'lists' | 'services' | 'catalog'
> {
  readonly maxInstanceMetadataBytes: number
}

/** How a request names a service. */
export const SERVICE_PARAMS = {
  namespaceId: Type.Optional(fields.namespaceId),
  serviceName: fields.serviceName,
  groupName: fields.groupNameOrDefault,
}

/** The service that a request names. */
export function serviceKeyOf(params: {
  readonly namespaceId?: string
  readonly serviceName: string
  readonly groupName: string
}): ServiceKey {
  return {
    namespaceId: toNamespaceId(params.namespaceId),
    groupedName: toGroupedName(params.serviceName, params.groupName),
  }
}

/** The metadata in a request, if any. */
export function metadataOf(
  { maxInstanceMetadataBytes }: Pick<NamingEndpointParts, 'maxInstanceMetadataBytes'>,
  text: string | undefined,
): Metadata | undefined {
  return text === undefined ? undefined : parseMetadata(text, 'metadata', maxInstanceMetadataBytes)
}

/** How a dialect shows services, instances and the server itself. */
export interface NamingDialect {
  /** Whether answers have, besides the fields of interface.md, all fields that the Java server always writes. */
  readonly hasJavaKeys: boolean
  readonly text: (value: unknown) => string
  readonly json: (value: unknown) => Answer
  /** The schemas in the OpenAPI document for answers with the fields of interface.md alone. */
  readonly described: (schema: JsonSchema) => AnswerSchemas
}

/** `/svc`: the fields of interface.md. */
export const SVC_DIALECT: NamingDialect = {
  hasJavaKeys: false,
  text: (value) => JSON.stringify(value),
  json: (value) => jsonAnswer(value),
  described: answersJson,
}

/** `/nacos`: doubles are written as Java writes them. */
export const JAVA_DIALECT: NamingDialect = {
  hasJavaKeys: true,
  text: javaJson,
  json: (value) => jsonTextAnswer(javaJson(value)),
  described: () => ({}),
}

/** A health checker as it is shown: without its password, and with the names of its headers only. */
export const CHECKER_SCHEMA = Json.named(
  'HealthChecker',
  Json.object({
    type: Json.words(['TCP', 'HTTP', 'MYSQL', 'NONE']),
    path: Json.optional(Json.string()),
    headers: Json.optional(Json.string()),
    expectedResponseCode: Json.optional(Json.integer()),
    user: Json.optional(Json.string()),
    cmd: Json.optional(Json.string()),
    publicKey: Json.optional(Json.string()),
    ca: Json.optional(Json.string()),
  }),
)

/** The settings of a service, as they are shown. */
export const SERVICE_SETTINGS = {
  protectThreshold: Json.number(),
  metadata: Json.map(Json.string()),
  selector: Json.named(
    'Selector',
    Json.object({ type: Json.words(['none', 'label']), expression: Json.optional(Json.string()) }),
  ),
}

/** A selector with the fields that Java adds: the labels, and where it looks them up. */
export function javaSelector(selector: Selector): object {
  if (selector.type === 'none') return { type: 'none', contextType: 'NONE' }
  const { type, expression } = selector
  return { type, expression, labels: labelsOfExpression(expression), contextType: 'CMDB' }
}
