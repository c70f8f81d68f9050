import { contentInJson } from '../../../answers/json-content.ts'
import { CONFIG_TYPES, type ConfigItem } from '../../../../core/config/state/config-item.ts'
import { toTenant } from '../../../../core/namespaces/namespace.ts'
import { Json, textAnswer } from '../../routing/answers.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint, type Answer } from '../../routing/route.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/publish-params.ts'
import type { SeenItem } from '../../../../core/config/state/config-view.ts'

const ABOUT_FIELDS = {
  createTime: Json.time(),
  modifyTime: Json.time(),
  createUser: Json.nullable(Json.string()),
  createIp: Json.string(),
  desc: Json.nullable(Json.string()),
  use: Json.nullable(Json.string()),
  effect: Json.nullable(Json.string()),
  type: Json.words(CONFIG_TYPES),
  schema: Json.nullable(Json.string()),
  configTags: Json.nullable(Json.string('Separated by commas.')),
}

/** The schema of `aboutJson`. */
export const ABOUT_SCHEMA = Json.named('ConfigAbout', Json.object(ABOUT_FIELDS))

/** The schema of `itemJson`. */
export const ITEM_SCHEMA = Json.named(
  'ConfigItem',
  Json.object({
    id: Json.string(),
    dataId: Json.string(),
    group: Json.string(),
    content: Json.string(),
    md5: Json.string(),
    tenant: Json.string('The namespace; empty: public.'),
    appName: Json.string(),
    ...ABOUT_FIELDS,
    encryptedDataKey: Json.string(),
  }),
)

/** An item without its content (http-compat.md section 3, catalog). */
function aboutJson({ origin, modifiedMs, notes, type }: ConfigItem): object {
  return {
    createTime: origin.createdMs,
    modifyTime: modifiedMs,
    createUser: origin.createUser,
    createIp: origin.createIp,
    desc: notes.desc,
    use: notes.use,
    effect: notes.effect,
    type,
    schema: notes.schema,
    configTags: notes.configTags,
  }
}

/**
 * All fields of an item (`show=all`). It does not use spreading, which costs twice as much for this number of
 * properties. Spreading also leaves 3.8 KB to the collections of the whole heap (decision 0027).
 */
export function itemJson(item: ConfigItem): object {
  const { encryptedDataKey } = item.notes
  return Object.assign(nameAndContent(item, item.md5), aboutJson(item), { encryptedDataKey })
}

/** An item of a search page of `/nacos`, which never shows the md5. */
export function foundJson(item: ConfigItem): object {
  return { ...nameAndContent(item, null), encryptedDataKey: item.notes.encryptedDataKey }
}

function nameAndContent({ origin, key, content, notes, type }: ConfigItem, md5: string | null): object {
  return {
    id: String(origin.id),
    dataId: key.dataId,
    group: key.group,
    content: contentInJson(content),
    md5,
    tenant: toTenant(key.namespaceId),
    appName: notes.appName,
    type,
  }
}

/** An item without its content; `json` labels the answer as the dialect does. */
export function aboutEndpoint(configs: Operations['configs'], json: (value: object) => Answer): Endpoint {
  return endpoint({
    summary: 'The fields of a configuration item without its content',
    permission: configs.read.permission,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params, caller }) => json(aboutJson(configs.read(toConfigKey(params), caller))),
  })
}

type Headers = Readonly<Record<string, string>>

/**
 * Answers items with their content as it is, whatever its type is: a browser must never run what somebody
 * published. An item's answer is made once for each of its versions, because reads are far more frequent.
 * `more` gives the headers that a dialect adds.
 */
export function contentAnswers(more: (item: SeenItem) => Headers = () => ({})): (item: SeenItem) => Answer {
  const made = new WeakMap<SeenItem, Answer>()
  return (item) => {
    const known = made.get(item)
    if (known !== undefined) return known
    const answer = textAnswer(item.content, 200, { ...contentHeaders(item), ...more(item) })
    made.set(item, answer)
    return answer
  }
}

/** The headers about an item. */
export function contentHeaders(item: ConfigItem): Headers {
  return {
    'Content-MD5': item.md5,
    'Config-Type': item.type,
    'Last-Modified': new Date(item.modifiedMs).toUTCString(),
  }
}
