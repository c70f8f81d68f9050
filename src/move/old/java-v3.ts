import type {
  PlanGray,
  PlanInstance,
  PlanItem,
  PlanNamespace,
  PlanNote,
  PlanService,
} from '../../plan/plan.ts'
import { type OldPage, type OldService, PAGE_SIZE } from './dialect.ts'
import {
  type Fields,
  fieldsIn,
  fieldsOf,
  numberOf,
  textOf,
  textOrNull,
  entriesOf,
  fieldIn,
} from './fields.ts'
import { grayOf, instanceOf, pageOf } from './java-things.ts'
import {
  clusterOf,
  isPublic,
  type JavaCalls,
  JavaV1,
  listedService,
  ONLY_IN_DATABASE,
  serviceOf,
  spaceOf,
} from './java-v1.ts'
import type { OldAnswer, OldParams } from './old-server.ts'

const CALLS: JavaCalls = {
  items: ['/v3/admin/cs/config/list', { search: 'blur' }],
  config: ['/v3/admin/cs/config', {}],
  records: ['/v3/admin/cs/history/list', {}],
  record: ['/v3/admin/cs/history', {}],
  users: ['/v3/auth/user/list', { search: 'accurate' }],
  roles: ['/v3/auth/role/list', { search: 'accurate' }],
  permissions: ['/v3/auth/permission/list', { search: 'accurate' }],
  switches: ['/v3/admin/ns/ops/switches', {}],
  nodes: ['/v3/admin/core/cluster/node/list', {}],
}

const HIDDEN_NOTES: PlanNote = {
  kind: 'cannot-come',
  about: 'config',
  name: 'use, effect and schema of all items',
  reason: 'the server does not show them; the database has them',
}

/** The admin interface of the Java server 3.x. Each answer is an envelope with `data`. */
export class JavaV3 extends JavaV1 {
  override readonly missing = [...ONLY_IN_DATABASE, HIDDEN_NOTES]
  override readonly hidesNotes = true
  protected override readonly calls = CALLS
  protected override readonly groupField = 'groupName'

  protected override async data(path: string, params: OldParams, mostBytes?: number): Promise<unknown> {
    return fieldIn(await this.server.json(path, params, mostBytes), 'data')
  }

  protected override async dataOrNone(path: string, params: OldParams): Promise<unknown> {
    const answer = await this.server.jsonOrNone(path, params, isGoneService)
    return answer === undefined ? undefined : (fieldIn(answer, 'data') ?? undefined)
  }

  protected override itemParams({ namespace, group, dataId }: PlanItem): OldParams {
    return { dataId, groupName: group, namespaceId: spaceOf(namespace) }
  }

  override async namespaces(): Promise<readonly PlanNamespace[]> {
    const all = entriesOf(await this.data('/v3/admin/core/namespace/list', {}), 'data')
    return all
      .filter(({ namespace }) => !isPublic(textOf(namespace)))
      .map((fields) => ({
        kind: 'namespace',
        id: textOf(fields['namespace']),
        name: textOf(fields['namespaceShowName']),
        desc: textOf(fields['namespaceDesc']),
      }))
  }

  override async grays(item: PlanItem): Promise<readonly PlanGray[]> {
    const fields = fieldsOf(await this.dataOrNone('/v3/admin/cs/config/beta', this.itemParams(item)))
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

  override async services(namespace: string, pageNo: number): Promise<OldPage<OldService>> {
    const params = { namespaceId: spaceOf(namespace), withInstances: false, pageNo, pageSize: PAGE_SIZE }
    return pageOf(await this.data('/v3/admin/ns/service/list', params), (fields) =>
      listedService(namespace, fields),
    )
  }

  override async service(named: OldService): Promise<PlanService | undefined> {
    const fields = fieldsOf(await this.dataOrNone('/v3/admin/ns/service', serviceParams(named)))
    if (fields['serviceName'] === undefined) return undefined
    const clusters = Object.entries(fieldsOf(fields['clusterMap']))
    return serviceOf(
      named,
      fields,
      clusters.map(([id, one]) => clusterOfV3(id, fieldsOf(one))),
    )
  }

  /** The answer covers one cluster: without a name, DEFAULT. A cluster without instances is not found. */
  override async instances(service: PlanService): Promise<readonly PlanInstance[]> {
    const found: PlanInstance[] = []
    for (const { name: clusterName } of service.clusters) {
      const params = { ...serviceParams(service), clusterName }
      const data = await this.dataOrNone('/v3/admin/ns/instance/list', params)
      const listed = data === undefined ? [] : entriesOf(data, 'data')
      found.push(...listed.map((fields) => instanceOf(service, fields, Date.now())))
    }
    return found
  }
}

/** A service that is gone is answered with 400 and a code of its own. */
function isGoneService({ status, text }: OldAnswer): boolean {
  return status === 400 && text.includes('"code":21008')
}

function serviceParams({ namespace, group, name }: OldService): OldParams {
  return { serviceName: name, groupName: group, namespaceId: spaceOf(namespace) }
}

function clusterOfV3(id: string, fields: Fields): PlanService['clusters'][number] {
  return clusterOf(fields, {
    name: textOf(fields['clusterName']) || id,
    checkPort: fields['healthyCheckPort'],
    useInstancePort: fields['useInstancePortForCheck'],
  })
}
