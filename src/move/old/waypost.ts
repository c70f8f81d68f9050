import { itemName, type PlanGray, type PlanItem, type PlanNote } from '../../plan/plan.ts'
import type { ListedItem, OldPage, OldService, PageAsked } from './dialect.ts'
import { type Fields, fieldsOf, numberOf, textOf, entriesOf } from './fields.ts'
import { grayOf } from './java-things.ts'
import { JavaV1, serviceParams } from './java-v1.ts'
import type { OldServer } from './old-server.ts'

const GRAYS = '/svc/v1/cs/configs/gray'

/**
 * A Waypost server. It answers as 1.x, but its lists may be ahead of its clock, and its own interface has all gray
 * versions.
 */
export class OldWaypost extends JavaV1 {
  override readonly missing: readonly PlanNote[] = [
    {
      kind: 'cannot-come',
      about: 'history',
      name: 'deleted items',
      reason: 'only items that are there are read',
    },
  ]
  readonly #own: OldServer
  /** The names of gray versions, by the names of their items, for each listed namespace. */
  readonly #names = new Map<string, readonly string[]>()

  constructor(server: OldServer) {
    super(server)
    this.#own = server.atOrigin('/svc/v1/auth/login')
  }

  /** The first page also has the items with gray versions: some have no formal version. */
  override async items(namespace: string, page: PageAsked): Promise<OldPage<ListedItem>> {
    const { entries, total } = await super.items(namespace, page)
    if (page.pageNo > 1) return { entries, total }
    return { entries: [...entries, ...(await this.#itemsWithGrays(namespace))], total }
  }

  async #itemsWithGrays(namespaceId: string): Promise<ListedItem[]> {
    const listed = entriesOf(await this.#own.json(GRAYS, { namespaceId }), 'of gray versions')
    return listed.map((fields) => {
      const item = {
        namespace: namespaceId,
        group: textOf(fields['group']),
        dataId: textOf(fields['dataId']),
      }
      const versions = entriesOf(fields['versions'], 'versions')
      this.#names.set(
        itemName(item),
        versions.map(({ grayName }) => textOf(grayName)),
      )
      return { ...item, md5: null }
    })
  }

  override async grays(item: PlanItem): Promise<readonly PlanGray[]> {
    const found: PlanGray[] = []
    const { namespace: tenant, group, dataId } = item
    for (const grayName of this.#names.get(itemName(item)) ?? []) {
      const answer = await this.#own.jsonOrNone(`${GRAYS}/version`, { tenant, group, dataId, grayName })
      if (answer !== undefined) found.push(versionOf(item, fieldsOf(answer)))
    }
    return found
  }

  /** All servers of an installation have the same instances. */
  override async nodes(): Promise<undefined> {
    return undefined
  }

  /** Each list may be ahead of the clock, by another time. */
  protected override async seeClock(service: OldService): Promise<void> {
    const beganMs = Date.now()
    const { lastRefTime } = fieldsOf(await this.server.json('/v1/ns/instance/list', serviceParams(service)))
    if (typeof lastRefTime === 'number') this.server.sawClock(lastRefTime, beganMs)
  }
}

function versionOf(item: PlanItem, fields: Fields): PlanGray {
  return grayOf(item, fields, {
    name: textOf(fields['grayName']),
    rule: textOf(fields['grayType']),
    expression: textOf(fields['grayMatchRuleExp']),
    priority: numberOf(fields['grayPriority'], 0),
  })
}
