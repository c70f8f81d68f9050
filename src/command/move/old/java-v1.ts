import type {
  PlanCluster,
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
  allPages,
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
  listOf,
  metadataOf,
  numberOf,
  selectorOf,
  splitName,
  textOf,
  textOrNull,
} from './fields.ts'
import { orNote } from './in-order.ts'
import {
  configOf,
  grayOf,
  historyOf,
  instanceKey,
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
import type { OldParams, OldServer } from './old-server.ts'
import { entriesOf, fieldIn } from './shapes.ts'

/** The interface under `/v1`: of the Java server 1.x and 2.x, and of Waypost. */
export class JavaV1 implements Dialect {
  readonly missing: readonly PlanNote[] = [
    {
      kind: 'cannot-come',
      about: 'gray',
      name: 'tag versions',
      reason: 'HTTP does not list them; the database has them',
    },
    {
      kind: 'cannot-come',
      about: 'history',
      name: 'deleted items',
      reason: 'HTTP does not list them; the database has them',
    },
  ]
  readonly hasAccess: boolean = true
  readonly hidesNotes: boolean = false
  protected readonly server: OldServer
  #isClockSeen = false

  constructor(server: OldServer) {
    this.server = server
  }

  async namespaces(): Promise<readonly PlanNamespace[]> {
    const { data } = fieldsOf(await this.server.json('/v1/console/namespaces'))
    const own = entriesOf(data, 'data').filter(({ namespace }) => !isPublic(textOf(namespace)))
    return Promise.all(own.map((fields) => this.#namespaceOf(fields)))
  }

  async #namespaceOf(fields: Fields): Promise<PlanNamespace> {
    const id = textOf(fields['namespace'])
    const params = { show: 'all', namespaceId: id }
    const detail =
      fields['namespaceDesc'] === undefined
        ? fieldsOf(await this.server.jsonOrNone('/v1/console/namespaces', params))
        : fields
    return {
      kind: 'namespace',
      id,
      name: textOf(fields['namespaceShowName']),
      desc: textOf(detail['namespaceDesc']),
    }
  }

  async items(namespace: string, page: PageAsked): Promise<OldPage<ListedItem>> {
    const params = { search: 'accurate', dataId: '', group: '', tenant: namespace, ...page }
    return pageOf(await this.server.json('/v1/cs/configs', params, mostBytesOf(page)), (fields) => ({
      namespace,
      group: textOf(fields['group']),
      dataId: textOf(fields['dataId']),
      md5: listedMd5(fields),
    }))
  }

  async config(item: PlanItem): Promise<PlanConfig | undefined> {
    const answer = await this.server.jsonOrNone('/v1/cs/configs', { show: 'all', ...itemParams(item) })
    if (answer === undefined) return undefined
    const fields = fieldsOf(answer)
    fieldIn(fields, 'content')
    refuseOtherItem(item, fields['dataId'], fields['group'])
    return configOf(item, fields)
  }

  async grays(item: PlanItem): Promise<readonly PlanGray[]> {
    const answer = await this.server.jsonOrNone('/v1/cs/configs', { beta: true, ...itemParams(item) })
    if (answer === undefined) return []
    const fields = fieldsOf(fieldIn(answer, 'data'))
    if (textOrNull(fields['content']) === null) return []
    const rule = { name: 'beta', rule: 'beta', expression: textOf(fields['betaIps']), priority: null }
    return [grayOf(item, fields, rule)]
  }

  async records(item: PlanItem, pageNo: number): Promise<OldPage<OldRecord>> {
    const params = { search: 'accurate', ...itemParams(item), pageNo, pageSize: PAGE_SIZE }
    return pageOf(await this.server.json('/v1/cs/history', params), recordOf)
  }

  async record(item: PlanItem, oldId: string): Promise<PlanHistory | undefined> {
    const params = { nid: oldId, ...itemParams(item) }
    const answer = await this.server.jsonOrNone('/v1/cs/history', params)
    return answer === undefined ? undefined : historyOf(item, oldId, fieldsOf(answer))
  }

  async services(namespace: string, pageNo: number): Promise<OldPage<OldService>> {
    const params = {
      withInstances: false,
      hasIpCount: false,
      namespaceId: spaceOf(namespace),
      pageNo,
      pageSize: PAGE_SIZE,
    }
    const { serviceList, count } = fieldsOf(await this.server.json('/v1/ns/catalog/services', params))
    const entries = entriesOf(serviceList, 'serviceList', count).map((fields) =>
      this.listed(namespace, fields),
    )
    return { entries, total: typeof count === 'number' ? count : null }
  }

  protected listed(namespace: string, fields: Fields): OldService {
    return { namespace, ...splitName(textOf(fields['name']), textOf(fields['groupName'])) }
  }

  async service(named: OldService): Promise<PlanService | undefined> {
    const { namespace, group, name } = named
    const answer = fieldsOf(await this.server.jsonOrNone('/v1/ns/catalog/service', serviceParams(named)))
    if (answer['service'] === undefined) return undefined
    const fields = fieldsOf(answer['service'])
    return {
      kind: 'service',
      namespace,
      group,
      name,
      protectThreshold: numberOf(fields['protectThreshold'], 0),
      selector: selectorOf(fields['selector']),
      metadata: metadataOf(fields['metadata']),
      clusters: listOf(answer['clusters']).map(clusterOf),
      ephemeral: null,
    }
  }

  async instances(service: PlanService): Promise<readonly PlanInstance[]> {
    await this.seeClock(service)
    const found: PlanInstance[] = []
    // The operation needs each cluster by name.
    for (const { name } of service.clusters)
      for await (const one of this.instancesIn(service, name)) found.push(one)
    return found
  }

  /** A list that clients get shows the server's own clock. The header field may be that of a proxy. */
  protected async seeClock(service: OldService): Promise<void> {
    if (this.#isClockSeen) return
    this.#isClockSeen = true
    const beganMs = Date.now()
    const answer = await orNote('service', service.name, () =>
      this.server.answer('/v1/ns/instance/list', serviceParams(service)),
    )
    const { lastRefTime } = fieldsIn('text' in answer ? answer.text : '')
    if (typeof lastRefTime === 'number') this.server.sawClock(lastRefTime, beganMs)
  }

  protected instancesIn(service: OldService, clusterName: string): AsyncGenerator<PlanInstance> {
    const page = async (pageNo: number): Promise<OldPage<PlanInstance>> => {
      const params = { ...serviceParams(service), clusterName, pageNo, pageSize: PAGE_SIZE }
      const answer = await this.server.jsonOrNone('/v1/ns/catalog/instances', params)
      if (answer === undefined) return { entries: [], total: 0 }
      const { list, count } = fieldsOf(answer)
      const entries = entriesOf(list, 'list', count).map((fields) => instanceOf(service, fields, Date.now()))
      return { entries, total: typeof count === 'number' ? count : null }
    }
    return allPages(page, instanceKey)
  }

  users(pageNo: number): Promise<OldPage<PlanUser>> {
    return this.#access('/v1/auth/users', pageNo, userOf)
  }

  roles(pageNo: number): Promise<OldPage<PlanRole>> {
    return this.#access('/v1/auth/roles', pageNo, roleOf)
  }

  permissions(pageNo: number): Promise<OldPage<PlanPermission>> {
    return this.#access('/v1/auth/permissions', pageNo, permissionOf)
  }

  async #access<T>(path: string, pageNo: number, entryOf: (fields: Fields) => T): Promise<OldPage<T>> {
    // From 2.1 the first parameter is needed. The empty names mean all.
    const params = { search: 'accurate', username: '', role: '', pageNo, pageSize: PAGE_SIZE }
    return pageOf(await this.server.json(path, params), entryOf)
  }

  async switches(): Promise<Fields> {
    return switchesOf(await this.server.json('/v1/ns/operator/switches'))
  }

  async nodes(): Promise<number | undefined> {
    const { data } = fieldsOf(await this.server.jsonOrNone('/v1/core/cluster/nodes', {}))
    return livingNodes(data)
  }
}

/** A list may have the contents of its items. A page of one is taken whatever its size. */
export function mostBytesOf({ pageSize }: PageAsked): number | undefined {
  return pageSize === 1 ? undefined : MOST_LIST_BYTES
}

const MOST_LIST_BYTES = 4_194_304

function isPublic(namespace: string): boolean {
  return namespace === '' || namespace === 'public'
}

/** Naming calls the default namespace `public`. */
function spaceOf(namespace: string): string {
  return namespace === '' ? 'public' : namespace
}

function itemParams({ namespace, group, dataId }: PlanItem): OldParams {
  return { dataId, group, tenant: namespace }
}

/** A service as its operations name it. */
export function serviceParams({ namespace, group, name }: OldService): OldParams {
  return { namespaceId: spaceOf(namespace), serviceName: `${group}@@${name}` }
}

function clusterOf(fields: Fields): PlanCluster {
  return {
    name: textOf(fields['name']),
    checker: checkerOf(fields['healthChecker']),
    // 1.4 probes the first, and shows both.
    checkPort: numberOf(fields['defCkport'] ?? fields['defaultCheckPort'], 80),
    useInstancePort: fields['useIPPort4Check'] !== false,
    metadata: metadataOf(fields['metadata']),
  }
}
