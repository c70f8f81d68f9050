import { shownNumber, t } from '../language/text.ts'
import { readWatchers } from '../server/configs.ts'
import { hostPort } from '../server/host-port.ts'
import { readInstances, readSubscribers } from '../server/services.ts'
import type { Needed } from './users-with-right.ts'

/** A client that listens to the item, or subscribes to the service. */
export interface Arrival {
  /** The same while it is there. */
  readonly key: string
  readonly address: string
  /** The library and its version, as the client names itself; may be empty. */
  readonly agent: string
  /** The items or instances that it has got, in words. */
  readonly got: string
}

const MOST = 100

/** The clients that are there. */
export const findArrivals = ({ namespaceId, about }: Needed): Promise<Arrival[]> =>
  about.kind === 'config' ? listening(namespaceId, about) : subscribing(namespaceId, about)

type About<Kind> = Extract<Needed['about'], { readonly kind: Kind }>

async function listening(tenant: string, { group, dataId }: About<'config'>): Promise<Arrival[]> {
  const { watchers, md5 } = await readWatchers({ tenant, group, dataId })
  const current = md5 === null ? t('gotNothing') : t('gotCurrent', { md5 })
  return watchers
    .filter(({ listens }) => listens)
    .map(({ ruleIp, ip, port, agent, via, has, grayName }) => ({
      // Each poll may come from another port.
      key: [ruleIp, agent, via === 'stream' ? port : ''].join(' '),
      address: ruleIp === ip && port !== null ? hostPort({ ip, port }) : ruleIp,
      agent,
      got:
        has === 'gray' ? t('hasGray', { name: grayName ?? '' }) : has === 'formal' ? current : t('gotOther'),
    }))
}

async function subscribing(namespaceId: string, { group, name }: About<'service'>): Promise<Arrival[]> {
  const service = { namespaceId, groupName: group, serviceName: name }
  const { subscribers } = await readSubscribers(service, 1, MOST)
  if (subscribers.length === 0) return []
  const all = { ip: '', clusterName: '', metadata: '', pageNo: 1, pageSize: 1 }
  const { totalCount } = await readInstances(service, all)
  return subscribers.map(({ addrStr, ip, agent, via }) => ({
    key: [via === 'poll' ? ip : addrStr, agent, via].join(' '),
    address: via === 'poll' ? ip : addrStr,
    agent,
    got: t('gotInstances', { count: shownNumber(totalCount) }),
  }))
}
