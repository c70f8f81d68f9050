import type {
  PlanConfig,
  PlanGray,
  PlanHistory,
  PlanInstance,
  PlanItem,
  PlanNamespace,
  PlanNote,
  PlanPermission,
  PlanRole,
  PlanService,
  PlanUser,
} from '../../../move/plan.ts'
import {
  type Dialect,
  type ListedItem,
  type OldPage,
  type OldRecord,
  type OldService,
  PAGE_SIZE,
  type PageAsked,
} from './dialect.ts'
import {
  checkerOf,
  type Fields,
  fieldsIn,
  fieldsOf,
  metadataOf,
  numberOf,
  selectorOf,
  splitName,
  textOf,
  textOrNull,
} from './fields.ts'
import {
  configOf,
  grayOf,
  historyOf,
  instanceOf,
  listedMd5,
  livingNodes,
  pageOf,
  permissionOf,
  recordOf,
  refuseOtherItem,
  roleOf,
  switchesOf,
  userOf,
} from './java-things.ts'
import { JavaV1, mostBytesOf } from './java-v1.ts'
import type { OldAnswer, OldParams, OldServer } from './old-server.ts'
import { entriesOf, fieldIn } from './shapes.ts'

const HIDDEN_NOTES: PlanNote = {
  kind: 'cannot-come',
  about: 'config',
  name: 'use, effect and schema of all items',
  reason: 'the server does not show them; the database has them',
}

/** The admin interface of the Java server 3.x. Each answer is an envelope with `data`. */
export class JavaV3 implements Dialect {
  readonly missing: readonly PlanNote[]
  readonly hasAccess = true
  readonly hidesNotes = true
  readonly #server: OldServer

  constructor(server: OldServer) {
    this.#server = server
    this.missing = [...new JavaV1(server).missing, HIDDEN_NOTES]
  }

  async namespaces(): Promise<readonly PlanNamespace[]> {
    const all = entriesOf(await this.#data('/v3/admin/core/namespace/list', {}), 'data')
    return all
      .filter(({ namespace }) => textOf(namespace) !== '' && namespace !== 'public')
      .map((fields) => ({
        kind: 'namespace',
        id: textOf(fields['namespace']),
        name: textOf(fields['namespaceShowName']),
        desc: textOf(fields['namespaceDesc']),
      }))
  }

  async items(namespace: string, page: PageAsked): Promise<OldPage<ListedItem>> {
    const params = {
      search: 'blur',
      dataId: '',
      groupName: '',
      namespaceId: spaceOf(namespace),
      ...page,
    }
    return pageOf(await this.#data('/v3/admin/cs/config/list', params, mostBytesOf(page)), (fields) => ({
      namespace,
      group: textOf(fields['groupName']),
      dataId: textOf(fields['dataId']),
      md5: listedMd5(fields),
    }))
  }

  async config(item: PlanItem): Promise<PlanConfig | undefined> {
    const data = await this.#dataOrNone('/v3/admin/cs/config', itemParams(item))
    if (data === undefined) return undefined
    const fields = fieldsOf(data)
    fieldIn(fields, 'content')
    refuseOtherItem(item, fields['dataId'], fields['groupName'])
    return configOf(item, fields)
  }

  async grays(item: PlanItem): Promise<readonly PlanGray[]> {
    const fields = fieldsOf(await this.#dataOrNone('/v3/admin/cs/config/beta', itemParams(item)))
    if (textOrNull(fields['content']) === null) return []
    const { type, expr, priority } = fieldsIn(textOf(fields['grayRule']))
    const rule = {
      name: textOf(fields['grayName']) || 'beta',
      rule: textOf(type) || 'beta',
      expression: textOf(expr),
      priority: priority === undefined ? null : numberOf(priority, 0),
    }
    return [grayOf(item, fields, rule)]
  }

  async records(item: PlanItem, pageNo: number): Promise<OldPage<OldRecord>> {
    const params = { ...itemParams(item), pageNo, pageSize: PAGE_SIZE }
    return pageOf(await this.#data('/v3/admin/cs/history/list', params), recordOf)
  }

  async record(item: PlanItem, oldId: string): Promise<PlanHistory | undefined> {
    const data = await this.#dataOrNone('/v3/admin/cs/history', { nid: oldId, ...itemParams(item) })
    return data === undefined ? undefined : historyOf(item, oldId, fieldsOf(data))
  }

  async services(namespace: string, pageNo: number): Promise<OldPage<OldService>> {
    const params = { namespaceId: spaceOf(namespace), withInstances: false, pageNo, pageSize: PAGE_SIZE }
    return pageOf(await this.#data('/v3/admin/ns/service/list', params), (fields) => ({
      namespace,
      ...splitName(textOf(fields['name']), textOf(fields['groupName'])),
    }))
  }

  async service(named: OldService): Promise<PlanService | undefined> {
    const fields = fieldsOf(await this.#dataOrNone('/v3/admin/ns/service', serviceParams(named)))
    if (fields['serviceName'] === undefined) return undefined
    const { namespace, group, name } = named
    return {
      kind: 'service',
      namespace,
      group,
      name,
      protectThreshold: numberOf(fields['protectThreshold'], 0),
      selector: selectorOf(fields['selector']),
      metadata: metadataOf(fields['metadata']),
      clusters: Object.entries(fieldsOf(fields['clusterMap'])).map(([id, one]) =>
        clusterOf(id, fieldsOf(one)),
      ),
      ephemeral: typeof fields['ephemeral'] === 'boolean' ? fields['ephemeral'] : null,
    }
  }

  /** The list is that of one cluster: without a name, of DEFAULT. A cluster without instances is not found. */
  async instances(service: PlanService): Promise<readonly PlanInstance[]> {
    const found: PlanInstance[] = []
    for (const { name: clusterName } of service.clusters) {
      const params = { ...serviceParams(service), clusterName }
      const data = await this.#dataOrNone('/v3/admin/ns/instance/list', params)
      const listed = data === undefined ? [] : entriesOf(data, 'data')
      found.push(...listed.map((fields) => instanceOf(service, fields, Date.now())))
    }
    return found
  }

  users(pageNo: number): Promise<OldPage<PlanUser>> {
    return this.#access('/v3/auth/user/list', pageNo, userOf)
  }

  roles(pageNo: number): Promise<OldPage<PlanRole>> {
    return this.#access('/v3/auth/role/list', pageNo, roleOf)
  }

  permissions(pageNo: number): Promise<OldPage<PlanPermission>> {
    return this.#access('/v3/auth/permission/list', pageNo, permissionOf)
  }

  async nodes(): Promise<number | undefined> {
    return livingNodes(await this.#dataOrNone('/v3/admin/core/cluster/node/list', {}))
  }

  async switches(): Promise<Fields> {
    return switchesOf(await this.#data('/v3/admin/ns/ops/switches', {}))
  }

  async #access<T>(path: string, pageNo: number, entryOf: (fields: Fields) => T): Promise<OldPage<T>> {
    const params = { search: 'accurate', pageNo, pageSize: PAGE_SIZE }
    return pageOf(await this.#data(path, params), entryOf)
  }

  async #data(path: string, params: OldParams, mostBytes?: number): Promise<unknown> {
    return fieldIn(await this.#server.json(path, params, mostBytes), 'data')
  }

  async #dataOrNone(path: string, params: OldParams): Promise<unknown> {
    const answer = await this.#server.jsonOrNone(path, params, isGoneService)
    return answer === undefined ? undefined : (fieldIn(answer, 'data') ?? undefined)
  }
}

/** A service that is gone is answered with 400 and a code of its own. */
function isGoneService({ status, text }: OldAnswer): boolean {
  return status === 400 && text.includes('"code":21008')
}

/** The id of the default namespace there. */
function spaceOf(namespace: string): string {
  return namespace === '' ? 'public' : namespace
}

function itemParams({ namespace, group, dataId }: PlanItem): OldParams {
  return { dataId, groupName: group, namespaceId: spaceOf(namespace) }
}

function serviceParams({ namespace, group, name }: OldService): OldParams {
  return { serviceName: name, groupName: group, namespaceId: spaceOf(namespace) }
}

function clusterOf(id: string, fields: Fields): PlanService['clusters'][number] {
  return {
    name: textOf(fields['clusterName']) || id,
    checker: checkerOf(fields['healthChecker']),
    checkPort: numberOf(fields['healthyCheckPort'], 80),
    useInstancePort: fields['useInstancePortForCheck'] !== false,
    metadata: metadataOf(fields['metadata']),
  }
}
