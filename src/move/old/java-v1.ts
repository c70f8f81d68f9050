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
} from '../../plan/plan.ts'
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
  entriesOf,
  fieldIn,
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

/** A call of a list or of one thing: its path, and the parameters that it always has. */
type Call = readonly [path: string, params: OldParams]

/** The calls with equal answers of all versions of the Java server, apart from the envelope of 3.x. */
export interface JavaCalls {
  readonly items: Call
  readonly config: Call
  readonly records: Call
  readonly record: Call
  readonly users: Call
  readonly roles: Call
  readonly permissions: Call
  readonly switches: Call
  readonly nodes: Call
}

/** From 2.1 the first parameter is needed. The empty names mean all. */
const ALL_OF_ACCESS = { search: 'accurate', username: '', role: '' }

const CALLS: JavaCalls = {
  items: ['/v1/cs/configs', { search: 'accurate' }],
  config: ['/v1/cs/configs', { show: 'all' }],
  records: ['/v1/cs/history', { search: 'accurate' }],
  record: ['/v1/cs/history', {}],
  users: ['/v1/auth/users', ALL_OF_ACCESS],
  roles: ['/v1/auth/roles', ALL_OF_ACCESS],
  permissions: ['/v1/auth/permissions', ALL_OF_ACCESS],
  switches: ['/v1/ns/operator/switches', {}],
  nodes: ['/v1/core/cluster/nodes', {}],
}

/** Things that HTTP does not give, on any Java server. */
export const ONLY_IN_DATABASE: readonly PlanNote[] = [
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

/** The interface under `/v1`: of the Java server 1.x and 2.x, and of Waypost. Other dialects override the differences. */
export class JavaV1 implements Dialect {
  readonly missing: readonly PlanNote[] = ONLY_IN_DATABASE
  readonly hasAccess: boolean = true
  readonly hidesNotes: boolean = false
  protected readonly server: OldServer
  protected readonly calls: JavaCalls = CALLS
  /** The field in which an item of an answer has its group. */
  protected readonly groupField: string = 'group'
  #isClockSeen = false

  constructor(server: OldServer) {
    this.server = server
  }

  /** The answer of a call, without an envelope. */
  protected data(path: string, params: OldParams, mostBytes?: number): Promise<unknown> {
    return this.server.json(path, params, mostBytes)
  }

  /** The same, or undefined if the thing is missing. */
  protected dataOrNone(path: string, params: OldParams): Promise<unknown> {
    return this.server.jsonOrNone(path, params)
  }

  protected itemParams({ namespace, group, dataId }: PlanItem): OldParams {
    return { dataId, group, tenant: namespace }
  }

  async items(namespace: string, page: PageAsked): Promise<OldPage<ListedItem>> {
    const [path, always] = this.calls.items
    const params = { ...always, ...this.itemParams({ namespace, group: '', dataId: '' }), ...page }
    return pageOf(await this.data(path, params, mostBytesOf(page)), (fields) => ({
      namespace,
      group: textOf(fields[this.groupField]),
      dataId: textOf(fields['dataId']),
      md5: listedMd5(fields),
    }))
  }

  async config(item: PlanItem): Promise<PlanConfig | undefined> {
    const [path, always] = this.calls.config
    const answer = await this.dataOrNone(path, { ...always, ...this.itemParams(item) })
    if (answer === undefined) return undefined
    const fields = fieldsOf(answer)
    fieldIn(fields, 'content')
    refuseOtherItem(item, fields['dataId'], fields[this.groupField])
    return configOf(item, fields)
  }

  records(item: PlanItem, pageNo: number): Promise<OldPage<OldRecord>> {
    return this.#page(this.calls.records, { ...this.itemParams(item), pageNo }, recordOf)
  }

  async record(item: PlanItem, oldId: string): Promise<PlanHistory | undefined> {
    const [path, always] = this.calls.record
    const answer = await this.dataOrNone(path, { ...always, nid: oldId, ...this.itemParams(item) })
    return answer === undefined ? undefined : historyOf(item, oldId, fieldsOf(answer))
  }

  users(pageNo: number): Promise<OldPage<PlanUser>> {
    return this.#page(this.calls.users, { pageNo }, userOf)
  }

  roles(pageNo: number): Promise<OldPage<PlanRole>> {
    return this.#page(this.calls.roles, { pageNo }, roleOf)
  }

  permissions(pageNo: number): Promise<OldPage<PlanPermission>> {
    return this.#page(this.calls.permissions, { pageNo }, permissionOf)
  }

  async #page<T>(
    [path, always]: Call,
    params: OldParams,
    entryOf: (fields: Fields) => T,
  ): Promise<OldPage<T>> {
    return pageOf(await this.data(path, { ...always, ...params, pageSize: PAGE_SIZE }), entryOf)
  }

  async switches(): Promise<Fields> {
    return switchesOf(await this.data(...this.calls.switches))
  }

  async nodes(): Promise<number | undefined> {
    const answer = await this.dataOrNone(...this.calls.nodes)
    return livingNodes(Array.isArray(answer) ? answer : fieldsOf(answer)['data'])
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

  async grays(item: PlanItem): Promise<readonly PlanGray[]> {
    const answer = await this.server.jsonOrNone('/v1/cs/configs', { beta: true, ...this.itemParams(item) })
    if (answer === undefined) return []
    const fields = fieldsOf(fieldIn(answer, 'data'))
    if (textOrNull(fields['content']) === null) return []
    const rule = { name: 'beta', rule: 'beta', expression: textOf(fields['betaIps']), priority: null }
    return [grayOf(item, fields, rule)]
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
    return listedService(namespace, fields)
  }

  async service(named: OldService): Promise<PlanService | undefined> {
    const answer = fieldsOf(await this.server.jsonOrNone('/v1/ns/catalog/service', serviceParams(named)))
    if (answer['service'] === undefined) return undefined
    const { ephemeral: _, ...fields } = fieldsOf(answer['service'])
    return serviceOf(named, fields, listOf(answer['clusters']).map(clusterOfV1))
  }

  async instances(service: PlanService): Promise<readonly PlanInstance[]> {
    await this.seeClock(service)
    const found: PlanInstance[] = []
    // The operation needs each cluster by name.
    for (const { name } of service.clusters)
      for await (const one of this.instancesIn(service, name)) found.push(one)
    return found
  }

  /** A list for clients shows the server's own clock. The header field may come from a proxy. */
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
}

/** A service as its operations name it. */
export function serviceParams({ namespace, group, name }: OldService): OldParams {
  return { namespaceId: spaceOf(namespace), serviceName: `${group}@@${name}` }
}

/** 1.4 probes the first of the two ports, and shows both. */
function clusterOfV1(fields: Fields): PlanCluster {
  return clusterOf(fields, {
    name: textOf(fields['name']),
    checkPort: fields['defCkport'] ?? fields['defaultCheckPort'],
    useInstancePort: fields['useIPPort4Check'],
  })
}

/** A list may have the contents of its items. A page of one item is taken at any size. */
function mostBytesOf({ pageSize }: PageAsked): number | undefined {
  return pageSize === 1 ? undefined : MOST_LIST_BYTES
}

const MOST_LIST_BYTES = 4_194_304

/** Whether a namespace is the default one, which lists of namespaces need not have. */
export function isPublic(namespace: string): boolean {
  return namespace === '' || namespace === 'public'
}

/** Naming, and all of 3.x, call the default namespace `public`. */
export function spaceOf(namespace: string): string {
  return namespace === '' ? 'public' : namespace
}

/** A service of a list. */
export function listedService(namespace: string, fields: Fields): OldService {
  return { namespace, ...splitName(textOf(fields['name']), textOf(fields['groupName'])) }
}

/** A service of the fields that all dialects name alike. `clusters`: with their own names. */
export function serviceOf(
  { namespace, group, name }: OldService,
  fields: Fields,
  clusters: PlanService['clusters'],
): PlanService {
  return {
    kind: 'service',
    namespace,
    group,
    name,
    protectThreshold: numberOf(fields['protectThreshold'], 0),
    selector: selectorOf(fields['selector']),
    metadata: metadataOf(fields['metadata']),
    clusters,
    ephemeral: typeof fields['ephemeral'] === 'boolean' ? fields['ephemeral'] : null,
  }
}

/** A cluster, made of the fields that all dialects name alike, and of the given values. */
export function clusterOf(
  fields: Fields,
  { name, checkPort, useInstancePort }: { name: string; checkPort: unknown; useInstancePort: unknown },
): PlanService['clusters'][number] {
  return {
    name,
    checker: checkerOf(fields['healthChecker']),
    checkPort: numberOf(checkPort, 80),
    useInstancePort: useInstancePort !== false,
    metadata: metadataOf(fields['metadata']),
  }
}
