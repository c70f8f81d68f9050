/** The data in the screenshots of the console: a small shop with two namespaces, told to a new server over HTTP. */

import { createHash } from 'node:crypto'

const YAML = (pool, level) => `server:
  port: 8080
  shutdown: graceful
spring:
  datasource:
    url: jdbc:postgresql://orders-db:5432/orders
    username: orders
    password: k3pt-under-cover
    hikari:
      maximum-pool-size: ${pool}
payments:
  provider: northwind
  timeout: 2s
logging:
  level: ${level}
`
const ITEMS = [
  [
    'gateway.yaml',
    'EDGE',
    'routes:\n  - path: /orders\n    service: orders\n',
    'yaml',
    'Routes of the gateway',
    'edge',
  ],
  [
    'feature-flags.json',
    'SHOP',
    '{\n  "newCheckout": true,\n  "giftCards": false\n}\n',
    'json',
    'Switches of the shop',
    'shop',
  ],
  ['log.properties', 'SHOP', 'log.level=info\nlog.json=true\n', 'properties', '', 'shop,logging'],
  ['limits.toml', 'EDGE', '[requests]\nper_second = 200\n', 'toml', 'Requests a second', 'edge'],
  ['orders.yaml', 'SHOP', YAML(20, 'info'), 'yaml', 'The service of orders', 'shop,orders'],
]
/** The item that the screenshots change: as it is, and as it becomes. */
export const ORDERS = { dataId: 'orders.yaml', group: 'SHOP', tenant: 'prod' }
export const BEFORE = YAML(30, 'info')
export const AFTER = YAML(45, 'warn')

const SILENT = { 'preserved.heart.beat.timeout': '1000', 'preserved.ip.delete.timeout': '60000' }

/** Fills a server; `ask('POST /path', form, headers)` asks it as an administrator. */
export async function tell(ask) {
  await namespaces(ask)
  for (const [dataId, group, content, type, desc, tags] of ITEMS)
    for (const tenant of ['prod', 'staging'])
      await ask('POST /svc/v1/cs/configs', {
        tenant,
        dataId,
        group,
        content,
        type,
        desc,
        config_tags: tags,
      })
  const comment = 'More connections before the sale'
  await ask('POST /svc/v1/cs/configs', { ...ORDERS, type: 'yaml', content: BEFORE, comment })
  await services(ask)
}

async function namespaces(ask) {
  for (const [id, name, color, isProtected] of [
    ['staging', 'Staging', 'green', false],
    ['prod', 'Production', 'red', true],
  ]) {
    await ask('POST /svc/v1/console/namespaces', { customNamespaceId: id, namespaceName: name })
    await ask('PUT /svc/v1/console/namespaces/look', { namespaceId: id, color, protected: isProtected })
  }
}

async function services(ask) {
  const names = ['orders', 'payments', 'stock', 'search', 'mail']
  for (const [at, serviceName] of names.entries())
    for (let port = 8081; port <= 8084; port++)
      await ask('POST /svc/v1/ns/instance', {
        namespaceId: 'prod',
        serviceName,
        ip: `10.20.${at}.${port - 8070}`,
        port,
        clusterName: port % 2 === 0 ? 'EAST' : 'WEST',
        weight: port === 8084 ? 5 : 10,
        metadata: JSON.stringify({
          version: port === 8084 ? '2.1.0' : '2.0.4',
          zone: port % 2 === 0 ? 'east' : 'west',
          // One falls silent soon, and is removed much later.
          ...(at === 0 && port === 8083 ? SILENT : {}),
        }),
      })
  const off = { ip: '10.20.0.12', port: 8082, clusterName: 'EAST', ephemeral: true }
  const target = { namespaceId: 'prod', serviceName: 'orders', instances: JSON.stringify([off]) }
  await ask('PUT /svc/v1/ns/instance/batch', { ...target, enabled: false })
  await ask('POST /svc/v1/ns/service', { namespaceId: 'prod', serviceName: 'reports' })
}

/** Gives a text to some clients. */
export function gray(ask) {
  const rule = { grayName: 'pool-60', grayType: 'percent', grayMatchRuleExp: '10' }
  const comment = 'More connections, for a tenth of the clients'
  return ask('POST /svc/v1/cs/configs/gray', { ...ORDERS, ...rule, content: YAML(60, 'warn'), comment })
}

/** Waits for a change of the item as a client that has this content. */
export function listen(ask, agent, content) {
  const md5 = createHash('md5').update(content).digest('hex')
  const { dataId, group, tenant } = ORDERS
  const form = { 'Listening-Configs': [dataId, group, md5, `${tenant}\u0001`].join('\u0002') }
  return ask('POST /svc/v1/cs/configs/listener', form, {
    'User-Agent': agent,
    'Long-Pulling-Timeout': '60000',
  })
}
