import type { Operations } from '../../../../operations/operations.ts'
import { auditedItems, shortItem } from '../../../../core/audit/audited-item.ts'
import { AUDIT_RESULTS, type AuditEvent } from '../../../../core/audit/audit-event.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonAnswer, answersJson, Json } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'

const EVENTS = Json.object({
  events: Json.list(
    Json.named(
      'AuditEvent',
      Json.object({
        id: Json.string(),
        time: Json.time(),
        username: Json.string('- is nobody.'),
        by: Json.words(['token', 'old-token', 'password', 'session', 'certificate', 'none', 'tool']),
        ip: Json.string(),
        operation: Json.string(),
        item: Json.string('The first one, and how many more there are.'),
        items: Json.list(Json.string()),
        unchangedItems: Json.list(
          Json.string('An item that was left as it was: skipped, refused or missing.'),
        ),
        itemCount: Json.integer('How many items: an event keeps the names of the first 200 at most.'),
        result: Json.words(AUDIT_RESULTS),
        code: Json.string('The code of the refusal, or empty.'),
        detail: Json.string(),
        count: Json.integer('How many equal events it stands for.'),
      }),
    ),
  ),
  next: Json.nullable(Json.string('The parameter `before` of the next page.')),
})

const EPOCH_MS = { minimum: 0, maximum: 4_102_444_800_000 }

const PARAMS = Type.Object({
  username: Type.Optional(fields.withDescription(fields.username, 'Only events of this user; - is nobody.')),
  operation: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only events of this operation, e.g. `publish config` or `sign in`.',
    }),
  ),
  item: Type.Optional(
    Type.String({
      maxLength: 512,
      description:
        'Only events with an item that contains this text. An item is `<namespace>:<group>:config/<dataId>`, ' +
        '`<namespace>:<group>:naming/<service>`, `<namespace>:*:*`, `user <name>`, or such as `operator/<switch>`.',
    }),
  ),
  ip: Type.Optional(Type.String({ maxLength: 64, description: 'Only events from this address.' })),
  result: Type.Optional(Type.Enum(AUDIT_RESULTS, { description: 'Only events with this result.' })),
  from: Type.Optional(Type.Integer({ ...EPOCH_MS, description: 'Not before this time, epoch ms.' })),
  to: Type.Optional(Type.Integer({ ...EPOCH_MS, description: 'Not after this time, epoch ms.' })),
  before: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only events before the one with this id: `next` of a page asks for the page after it.',
    }),
  ),
  pageSize: fields.withDefault(fields.pageSize, 100),
})

/** The endpoint that shows the audit. */
export function auditEndpoint(audit: Operations['audit']): Endpoint {
  return endpoint({
    summary: 'Lists who did what, who signed in and who was refused, newest first',
    permission: audit.search.permission,
    answers: answersJson(EVENTS),
    params: PARAMS,
    handle: async ({ params, caller }) => {
      const { username, operation, item, ip, result, from, to, before, pageSize } = params
      const search = { username, operation, itemPart: item, ip, result, fromMs: from, toMs: to, before }
      const { events, next } = await audit.search({ search, pageSize }, caller)
      return jsonAnswer({ events: events.map(eventJson), next: next === undefined ? null : String(next) })
    },
  })
}

/** Ids are digits in a string, like the ids of the history. */
function eventJson({ id, atMs, ...entry }: AuditEvent): object {
  const { names, left, count } = auditedItems(entry.item)
  return {
    id: String(id),
    time: atMs,
    ...entry,
    item: shortItem(entry.item),
    items: names,
    unchangedItems: left,
    itemCount: count,
  }
}
