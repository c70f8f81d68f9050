import { expect, test } from 'vitest'
import { address, at, carryOut, livingState, ORDERS, registered } from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { explainSelection } from './explain-selection.ts'
import { type InstanceQuery, selectInstances } from './select-instances.ts'
import { updateService } from '../commands/service-commands.ts'
import type { Selector } from './service.ts'

const BY_ZONE: Selector = { type: 'label', expression: 'CONSUMER.label.zone = PROVIDER.label.zone' }

/**
 * Ports 1 to 3 and 7 are enabled: 1 and 2 in zone a (2 unhealthy), 3 in zone b, 7 with weight 0. Ports 4 to
 * 6: 4 is disabled, 5 is in cluster c, 6 is disabled there.
 */
function shop(settings: { protectThreshold?: number; selector?: Selector } = {}): State {
  const state = livingState()
  const zone = { metadata: { zone: 'a' } }
  registered(state, { address: address({ ip: '10.0.0.1', port: 1 }), ...zone })
  registered(state, { address: address({ ip: '10.0.0.2', port: 2 }), ...zone, healthy: false })
  registered(state, { address: address({ ip: '10.0.0.3', port: 3 }), metadata: { zone: 'b' } })
  registered(state, { address: address({ ip: '10.0.0.4', port: 4 }), ...zone, enabled: false })
  registered(state, { address: address({ ip: '10.0.0.5', port: 5, cluster: 'c' }), ...zone })
  registered(state, { address: address({ ip: '10.0.0.6', port: 6, cluster: 'c' }), ...zone, enabled: false })
  registered(state, { address: address({ ip: '10.0.0.7', port: 7 }), ...zone, weight: 0 })
  const { protectThreshold, selector } = settings
  carryOut(state, updateService(ORDERS, { protectThreshold, selector, metadata: undefined }), at(0))
  return state
}

function explained(state: State, asked: Partial<Omit<InstanceQuery, 'consumer'>> & { ip?: string } = {}) {
  const { clusters = [], healthyOnly = false, ip } = asked
  const labelsOf = (where: string) => state.labelsAt(where, ORDERS.namespaceId)
  const consumer = ip === undefined ? undefined : { ip, labelsOf }
  const query = { clusters, healthyOnly, consumer }
  const entry = state.services.get(ORDERS)!
  const found = explainSelection(entry, query)
  const listed = found.instances.filter(({ isListed }) => isListed).map(({ instance }) => instance)
  expect(listed).toEqual(selectInstances(entry, query).instances)
  const reasons = found.instances.map(({ instance, isListed, reasons: why }) => {
    return `${instance.record.address.port}${isListed ? '+' : '-'} ${why.join(' ')}`
  })
  const { protecting, selector } = found
  return { protecting, selector, reasons }
}

test('says of each instance why a client gets it or not', () => {
  expect(explained(shop())).toEqual({
    protecting: false,
    selector: 'none',
    reasons: [
      '1+ healthy',
      '2+ unhealthy',
      '3+ healthy',
      '4- disabled',
      '5+ healthy',
      '6- disabled',
      '7+ healthy no-weight',
    ],
  })
  expect(explained(shop(), { healthyOnly: true }).reasons[1]).toBe('2- unhealthy')
})

test('names all that keeps a disabled instance of another cluster away', () => {
  expect(explained(shop(), { clusters: ['DEFAULT'] }).reasons.slice(3, 6)).toEqual([
    '4- disabled',
    '5- other-cluster',
    '6- disabled other-cluster',
  ])
})

test('under protection unhealthy instances are listed as healthy', () => {
  const found = explained(shop({ protectThreshold: 0.9 }), { healthyOnly: true })
  expect(found.protecting).toBe(true)
  expect(found.reasons[1]).toBe('2+ protection')
})

test('a selector keeps away instances with other labels, or does nothing', () => {
  const state = shop({ selector: BY_ZONE })
  const inZone = explained(state, { ip: '10.0.0.1', healthyOnly: true })
  expect(inZone.selector).toBe('applied')
  expect(inZone.reasons.slice(0, 3)).toEqual(['1+ healthy', '2- unhealthy', '3- selector'])
  expect(explained(state, { ip: '10.9.9.9' })).toMatchObject({ selector: 'ignored' })
})
