import { Json } from '../../routing/answer-schema.ts'

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
