import { hash } from 'node:crypto'
import { canonicalResource } from '../../../../core/access/resource-pattern.ts'
import { type ConfigKey, configKey, type ConfigType } from '../../../../core/config/state/config-item.ts'
import { typeOfWord } from '../../../../core/config/state/type-names.ts'
import { GRAY_RULE_TYPES } from '../../../../core/config/state/gray-rule.ts'
import type { ConfigNotes } from '../../../../core/config/state/config-notes.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import type { ServiceKey } from '../../../../core/naming/state/service.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { readSwitch } from '../../../../core/switches/read-switch.ts'
import { isFreezing, WOULD_FREEZE } from '../../../../plan/freezing-switches.ts'
import type {
  PlanCluster,
  PlanConfig,
  PlanContent,
  PlanGray,
  PlanHistory,
  PlanInstance,
  PlanItem,
  PlanService,
  PlanThing,
} from '../../../../plan/plan.ts'
import type { ImportedThing, ImportLine } from '../../../../operations/import/imported-things.ts'
import * as fields from '../../../parameters/fields.ts'
import { toGrayRelease } from '../../../parameters/gray-params.ts'
import { toGroupedName } from '../../../parameters/grouped-name.ts'
import { parseHealthChecker, parseSelector } from '../../../parameters/json-fields.ts'
import { toMetadata } from '../../../parameters/metadata-text.ts'
import { compileReader } from '../../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES, type Properties, Type } from '../../../parameters/schema.ts'

/** How large things may be, in bytes. */
export interface ThingLimits {
  readonly maxContentBytes: number
  readonly maxInstanceMetadataBytes: number
}

/** A line of a plan as a thing to import, or why it is not allowed here. Names have the limits of the other operations. */
export function thingOf(thing: PlanThing, limits: ThingLimits): ImportLine['thing'] {
  try {
    return readThing(thing, limits)
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', reason: error.message }
    throw error
  }
}

function readThing(thing: PlanThing, limits: ThingLimits): ImportedThing {
  switch (thing.kind) {
    case 'namespace': {
      const { id, name, desc } = thing
      checkNamespace({ customNamespaceId: id, namespaceName: name, namespaceDesc: desc })
      if (toNamespaceId(id) === toNamespaceId(undefined)) throw notAllowed('public is always on the list')
      return { kind: 'namespace', namespace: { id, showName: name, desc } }
    }
    case 'switch':
      // One entry may set several.
      if (Object.keys(readSwitch(thing.name, thing.value, 'kept')).some(isFreezing))
        throw notAllowed(WOULD_FREEZE)
      return { kind: 'switch', entry: thing.name, value: thing.value }
    case 'user':
      return userOf(thing)
    case 'role': {
      const { username, role } = thing
      checkRole({ username, role })
      return { kind: 'role', role: { username, role } }
    }
    case 'permission': {
      const { role, resource, action } = thing
      checkPermission({ role, resource })
      canonicalResource(resource)
      return { kind: 'permission', permission: { role, resource, action } }
    }
    case 'history':
      return { kind: 'history', record: recordOf(thing, limits) }
    case 'config':
      return { kind: 'config', config: configOf(thing, limits) }
    case 'gray':
      return { kind: 'gray', gray: grayOf(thing, limits) }
    case 'service':
      return { kind: 'service', service: serviceOf(thing, limits) }
    case 'instance':
      return { kind: 'instance', instance: instanceOf(thing, limits) }
  }
}

function userOf({ username, passwordHash, enabled }: Extract<PlanThing, { kind: 'user' }>): ImportedThing {
  checkUser({ username })
  if (username.startsWith('LDAP_')) throw notAllowed('a shadow user of LDAP has no password of its own')
  if (!enabled) throw notAllowed('the user is disabled there, and users cannot be disabled here')
  if (passwordHash === null) throw notAllowed('its password cannot come: make the user here')
  return { kind: 'user', username, passwordHash }
}

function configOf(config: PlanConfig, limits: ThingLimits) {
  const { createdMs, modifiedMs, user, ip } = config
  return {
    ...contentOf(config, limits),
    key: keyOf(config),
    type: typeOf(config.type),
    notes: notesOf(config),
    createdMs: createdMs ?? undefined,
    modifiedMs: modifiedMs ?? undefined,
    operator: operatorOf({ user, ip }),
  }
}

/** An unknown rule is refused: the clients of the version would not be known. */
function grayOf(gray: PlanGray, limits: ThingLimits) {
  const { rule, expression: grayMatchRuleExp, name: grayName, priority, encryptedDataKey } = gray
  const grayType = GRAY_RULE_TYPES.find((type) => type === rule)
  if (grayType === undefined) throw notAllowed(`there are no gray versions by ${rule} here`)
  checkLengths({ encryptedDataKey })
  const ofRule = {
    grayName,
    grayType,
    grayMatchRuleExp,
    ...(priority === null ? {} : { grayPriority: priority }),
  }
  return {
    ...contentOf(gray, limits),
    ...toGrayRelease(ofRule),
    key: keyOf(gray),
    type: undefined,
    encryptedDataKey,
    operator: operatorOf({ user: null, ip: null }),
  }
}

function recordOf(record: PlanHistory, limits: ThingLimits) {
  const { oldId, op, atMs, appName, encryptedDataKey, user, ip } = record
  checkLengths({ appName, encryptedDataKey })
  return {
    ...contentOf(record, limits),
    key: keyOf(record),
    type: typeOf(record.type),
    oldId,
    op,
    atMs,
    appName,
    encryptedDataKey,
    operator: operatorOf({ user, ip }),
  }
}

function keyOf({ namespace, group, dataId }: PlanItem): ConfigKey {
  checkItem({ tenant: namespace, group, dataId })
  return configKey(toNamespaceId(namespace), group, dataId)
}

/** The content in memory of its own, with its own md5, whatever the source says. */
function contentOf({ content: text }: PlanContent, { maxContentBytes }: ThingLimits) {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxContentBytes)
    throw notAllowed(`content has ${bytes} bytes, and at most ${maxContentBytes} may be here`)
  if (!/\S/.test(text)) throw notAllowed('content is blank')
  const content = Buffer.allocUnsafeSlow(bytes)
  content.write(text)
  return { content, md5: hash('md5', content, 'hex') }
}

function typeOf(type: string | null): ConfigType {
  return typeOfWord(type ?? '') ?? 'text'
}

function notesOf(config: PlanConfig): ConfigNotes {
  const { appName, desc, use, effect, schema, tags, encryptedDataKey } = config
  const notes = { desc, use, effect, schema, configTags: tags }
  checkLengths({ ...notes, appName, encryptedDataKey })
  const orNull = (text: string | null) => (text === '' ? null : text)
  return {
    desc: orNull(desc),
    use: orNull(use),
    effect: orNull(effect),
    schema: orNull(schema),
    configTags: orNull(tags),
    appName,
    encryptedDataKey,
  }
}

/** The most characters of a note in the tables of the other servers, perhaps more than a publish may send here. */
const LONGEST: Readonly<Record<keyof ConfigNotes | 'user' | 'ip', number>> = {
  appName: 256,
  desc: 256,
  use: 64,
  effect: 64,
  schema: 65_536,
  configTags: 1_024,
  encryptedDataKey: 1_024,
  user: 128,
  ip: 128,
}

function checkLengths(texts: Partial<Readonly<Record<keyof typeof LONGEST, string | null>>>): void {
  for (const [name, text] of Object.entries(texts)) {
    const most = LONGEST[name as keyof typeof LONGEST]
    if (text !== null && text.length > most) throw notAllowed(`${name} has more than ${most} characters`)
  }
}

function operatorOf({ user, ip }: { user: string | null; ip: string | null }) {
  checkLengths({ user, ip })
  return { user: user === '' ? null : user, ip: ip ?? '' }
}

function serviceKeyOf(namespace: string, group: string, name: string): ServiceKey {
  checkService({ namespaceId: namespace, groupName: group, serviceName: name })
  if (name.includes('@@')) throw notAllowed('the name of a service has no @@ here')
  return { namespaceId: toNamespaceId(namespace), groupedName: toGroupedName(name, group) }
}

function serviceOf(service: PlanService, { maxInstanceMetadataBytes }: ThingLimits) {
  const { namespace, group, name, protectThreshold, selector, metadata, clusters } = service
  if (!(protectThreshold >= 0 && protectThreshold <= 1))
    throw notAllowed('protectThreshold is not from 0 to 1')
  return {
    key: serviceKeyOf(namespace, group, name),
    protectThreshold,
    selector: parseSelector(JSON.stringify(selector)),
    metadata: toMetadata(metadata, 'metadata', maxInstanceMetadataBytes),
    clusters: clusters.map((cluster) => clusterOf(cluster, maxInstanceMetadataBytes)),
  }
}

function clusterOf({ name, checker, checkPort, useInstancePort, metadata }: PlanCluster, most: number) {
  checkCluster({ clusterName: name })
  // Nested fields belong to no checker.
  const flat = Object.entries(checker).filter(([, value]) => typeof value !== 'object')
  return {
    name,
    healthChecker: parseHealthChecker(JSON.stringify(Object.fromEntries(flat)), { unknownIsNone: false }),
    checkPort,
    useInstancePort4Check: useInstancePort,
    metadata: toMetadata(metadata, 'metadata', most),
  }
}

function instanceOf(instance: PlanInstance, { maxInstanceMetadataBytes }: ThingLimits) {
  const { namespace, group, service, cluster, ip, port, ephemeral, enabled, healthy, app } = instance
  checkInstance({ clusterName: cluster, ip, app, weight: String(instance.weight) })
  return {
    serviceKey: serviceKeyOf(namespace, group, service),
    address: { ip, port, cluster },
    ephemeral,
    weight: instance.weight,
    enabled,
    healthy,
    metadata: toMetadata(instance.metadata, 'metadata', maxInstanceMetadataBytes),
    app,
  }
}

const checkNamespace = checkerOf({
  customNamespaceId: fields.customNamespaceId,
  namespaceName: fields.namespaceName,
  namespaceDesc: Type.Optional(fields.namespaceDesc),
})
const checkItem = checkerOf({
  tenant: Type.Optional(fields.tenant),
  group: fields.group,
  dataId: fields.dataId,
})
const checkService = checkerOf({
  namespaceId: Type.Optional(fields.namespaceId),
  groupName: fields.groupName,
  serviceName: fields.serviceName,
})
const checkCluster = checkerOf({ clusterName: fields.clusterName })
const checkInstance = checkerOf({
  clusterName: fields.clusterName,
  ip: fields.ip,
  app: Type.Optional(fields.app),
  weight: fields.weight,
})
const checkUser = checkerOf({ username: fields.newUsername })
const checkRole = checkerOf({ username: fields.newUsername, role: fields.role })
const checkPermission = checkerOf({ role: fields.role, resource: fields.resource })

/** Texts of people may begin or end with a blank. */
const FREE: readonly string[] = ['namespaceName', 'namespaceDesc', 'app']

/** Checks texts as parameters of these fields. Refuses as they do, and refuses names with blanks at the ends. */
function checkerOf(params: Properties): (texts: Readonly<Record<string, string>>) => void {
  const read = compileReader(Type.Object(params), NACOS_CONFIG_RULES)
  return (texts) => {
    read(new Map(Object.entries(texts)))
    for (const [name, text] of Object.entries(texts))
      if (!FREE.includes(name) && BLANK_END.test(text))
        throw notAllowed(`${name} begins or ends with a blank or a character that is not shown`)
  }
}

/** A blank at an end of a text: parameters are read without these. */
// oxlint-disable-next-line no-control-regex
const BLANK_END = /^[\0-\x20]|[\0-\x20]$/

function notAllowed(reason: string): Refusal {
  return new Refusal('invalid-parameter', reason)
}
