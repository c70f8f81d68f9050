/** Names with characters that nobody sees are not made, by any field and over any protocol; those that are there go on. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hiddenIn } from '../../src/core/text/hidden-characters.ts'
import { instanceOf } from '../grpc/naming-fixture.ts'
import { unique } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { configLine, namespaceLine, planOf, sendPlan, serviceLine } from '../support/plan-lines.ts'
import { connectGrpc, type Body, type GrpcClient } from '../support/grpc-client.ts'

let server: ManagedWaypost
let token: string
let grpc: GrpcClient
beforeAll(async () => {
  server = await startManaged()
  token = await server.tokenOf('nacos')
  grpc = await connectGrpc(server.waypost, { headers: { accessToken: token } })
}, 120_000)
afterAll(async () => {
  await grpc?.close()
  await server?.waypost.stop()
})

/** The first character of each range of hidden characters: some sixty. */
const HIDDEN: string[] = []
for (let code = 0x20, isInside = false; code <= 0x10_ff_ff; code++) {
  if (code >= 0xd8_00 && code <= 0xdf_ff) continue
  const character = String.fromCodePoint(code)
  const isHidden = hiddenIn(character) !== undefined
  if (isHidden && !isInside) HIDDEN.push(character)
  isInside = isHidden
}

interface Sent {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

async function send(
  method: string,
  path: string,
  ...[form = {}, headers = {}]: Readonly<Record<string, string>>[]
): Promise<Sent> {
  const fields = new URLSearchParams(form)
  const isInQuery = method === 'GET' || method === 'DELETE'
  const response = await fetch(`${server.waypost.url}${path}${isInQuery ? `?${fields}` : ''}`, {
    method,
    headers: { ...headers, authorization: `Bearer ${token}` },
    ...(!isInQuery && { body: fields }),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const ITEM = { dataId: 'd', group: 'G', content: 'x' }
const INSTANCE = { serviceName: 's', groupName: 'G', ip: '10.0.0.1', port: '80' }
const NAMESPACE = { customNamespaceId: 'n', namespaceId: 'n', namespaceName: 'n', namespaceDesc: '' }
const SERVICE = { serviceName: 's', groupName: 'G' }
const USER = { username: 'u', password: 'of-the-user' }
const GRAY = { ...ITEM, grayName: 'g', grayType: 'percent', grayMatchRuleExp: '5' }

const DOORS: readonly (readonly [string, string, Record<string, string>, readonly string[]])[] = [
  ['POST', '/svc/v1/cs/configs', { ...ITEM, config_tags: 't' }, ['dataId', 'group', 'config_tags']],
  ['POST', '/svc/v1/cs/configs/gray', GRAY, ['dataId', 'group', 'grayName']],
  ['POST', '/svc/v1/ns/instance', INSTANCE, ['serviceName', 'groupName', 'ip', 'clusterName']],
  ['POST', '/svc/v1/ns/service', SERVICE, ['serviceName', 'groupName']],
  ['POST', '/svc/v1/console/namespaces', NAMESPACE, ['customNamespaceId', 'namespaceName']],
  ['POST', '/svc/v1/auth/users', USER, ['username']],
  ['POST', '/svc/v1/auth/roles', { username: 'nacos', role: 'r' }, ['role']],
  ['POST', '/nacos/v1/cs/configs', ITEM, ['dataId', 'group', 'tenant']],
  ['POST', '/nacos/v1/ns/instance', INSTANCE, ['serviceName', 'groupName', 'ip', 'clusterName']],
  ['POST', '/nacos/v1/ns/service', SERVICE, ['serviceName', 'groupName']],
  ['POST', '/nacos/v1/console/namespaces', NAMESPACE, ['customNamespaceId', 'namespaceName']],
  ['POST', '/nacos/v1/auth/users', USER, ['username']],
  ['POST', '/nacos/v1/auth/roles', { username: 'nacos', role: 'r' }, ['role']],
  ['POST', '/nacos/v2/cs/config', ITEM, ['dataId', 'group']],
  ['POST', '/nacos/v2/ns/instance', INSTANCE, ['serviceName', 'groupName', 'ip', 'clusterName']],
  ['POST', '/nacos/v2/ns/service', SERVICE, ['serviceName', 'groupName']],
  ['POST', '/nacos/v2/console/namespace', NAMESPACE, ['namespaceId', 'namespaceName']],
  ['POST', '/nacos/v3/admin/cs/config', { ...ITEM, groupName: 'G' }, ['dataId', 'groupName']],
  ['POST', '/nacos/v3/client/ns/instance', INSTANCE, ['serviceName', 'groupName', 'ip', 'clusterName']],
]

describe('over HTTP', () => {
  const fields = DOORS.flatMap(([method, path, form, names]) =>
    names.map((name) => [method, path, name, form] as const),
  )
  test.each(fields)('%s %s makes no name by %s', async (...[method, path, name, form]) => {
    expect(HIDDEN.length).toBeGreaterThan(20)
    const made: string[] = []
    for (const character of HIDDEN) {
      const { status, text } = await send(method, path, { ...form, [name]: `a${character}b` })
      if (status < 400 || status >= 500) made.push(`${hiddenIn(character)} ${status} ${text}`)
    }
    expect(made).toEqual([])
  })

  test.each(DOORS)('%s %s works with names that are seen', async (...[method, path, form, names]) => {
    const seen = Object.fromEntries(names.map((name) => [name, unique('n')]))
    const isRole = names.includes('role')
    const isHost = names.includes('ip') ? { clusterName: 'DEFAULT' } : {}
    const ids = { ...seen, ...(isRole && { username: 'nacos' }), ...isHost }
    if ('tenant' in ids) ids['tenant'] = ''
    expect((await send(method, path, { ...form, ...ids })).status).toBe(200)
  })
})

describe('over gRPC', () => {
  const item = { dataId: 'd', group: 'G', tenant: '', content: 'x', additionMap: {} }
  const service = { namespace: 'public', serviceName: 's', groupName: 'G' }
  const requests: readonly (readonly [string, Body, readonly string[]])[] = [
    ['ConfigPublishRequest', item, ['dataId', 'group']],
    [
      'InstanceRequest',
      { ...service, type: 'registerInstance', instance: instanceOf({}) },
      ['serviceName', 'groupName'],
    ],
    [
      'BatchInstanceRequest',
      { ...service, type: 'batchRegisterInstance', instances: [instanceOf({})] },
      ['serviceName', 'groupName'],
    ],
    [
      'PersistentInstanceRequest',
      { ...service, type: 'registerInstance', instance: instanceOf({ ephemeral: false }) },
      ['serviceName', 'groupName'],
    ],
  ]
  test.each(requests)('%s makes no name', async (...[type, body, names]) => {
    const made: string[] = []
    for (const name of names)
      for (const character of HIDDEN) {
        const answer = await grpc.ask(type, { ...body, [name]: `a${character}b` })
        if (answer.body['resultCode'] === 200) made.push(`${name} ${hiddenIn(character)}`)
      }
    expect(made).toEqual([])
  })

  test('an instance has no hidden address', async () => {
    const made: string[] = []
    for (const character of HIDDEN) {
      const instance = instanceOf({ ip: `a${character}b`, port: 7 })
      const answer = await grpc.ask('InstanceRequest', { ...service, type: 'registerInstance', instance })
      if (answer.body['resultCode'] === 200) made.push(String(hiddenIn(character)))
    }
    expect(made).toEqual([])
  })
})

describe('blanks and emoji', () => {
  test.each(['/svc/v1', '/nacos/v1'])('blanks at the ends of new names are trimmed at %s', async (base) => {
    const [dataId, username] = [unique('item'), unique('user')]
    for (const blank of [' ', '\u00a0', '\u3000']) {
      const item = { ...ITEM, dataId: `${blank}${dataId}${blank}` }
      expect((await send('POST', `${base}/cs/configs`, item)).status).toBe(200)
    }
    expect((await send('GET', `${base}/cs/configs`, { dataId, group: 'G' })).text).toBe('x')
    const user = { ...USER, username: `\u00a0${username} ` }
    expect((await send('POST', `${base}/auth/users`, user)).status).toBe(200)
    expect(await server.tokenOf(username, USER.password)).toMatch(/\./)
  })

  test('free names have emoji, and inside other blanks than the space are refused', async () => {
    const name = 'prod ❤️ 👩‍👩‍👧 1️⃣'
    const make = (namespaceName: string) =>
      send('POST', '/svc/v1/console/namespaces', {
        ...NAMESPACE,
        customNamespaceId: unique('e'),
        namespaceName,
      })
    expect((await make(`\u00a0${name} `)).text).toBe('true')
    expect((await send('GET', '/svc/v1/console/namespaces')).text).toContain(`"${name}"`)
    expect((await make('pro\u00a0d')).status).toBe(400)
  })

  test('the console knows the same characters', () => {
    const patternIn = (file: string) =>
      /^ {2}\/(\(?\[\\p\{Cc\}.*)\/g?u$/m.exec(readFileSync(file, 'utf8'))?.[1]
    const own = patternIn('src/core/text/hidden-characters.ts')
    expect(own).toContain('Default_Ignorable')
    expect(patternIn('console/src/controls/seen.tsx')).toBe(`(${own})`)
  })
})

describe('names with blanks around', () => {
  const BLANK = { ...ITEM, dataId: 'd ', group: '\tG' }
  test.each<[string, string, Record<string, string>, string | null]>([
    ['POST', '/svc/v1/cs/configs', BLANK, 'dataId, group'],
    ['POST', '/svc/v1/cs/configs', { ...ITEM, group: ' G' }, 'group'],
    ['POST', '/svc/v1/cs/configs', { ...ITEM, desc: ' kept ' }, null],
    ['POST', '/svc/v1/cs/configs/gray', { ...GRAY, group: 'G\u3000' }, 'group'],
    ['POST', '/svc/v1/console/namespaces', { ...NAMESPACE, namespaceName: 'n ' }, 'namespaceName'],
    ['POST', '/svc/v1/auth/users', { ...USER, username: ' blank' }, 'username'],
    ['POST', '/svc/v1/auth/roles', { username: 'nacos', role: 'r\u00a0' }, 'role'],
    ['DELETE', '/svc/v1/cs/configs', BLANK, 'dataId, group'],
    ['POST', '/nacos/v1/cs/configs', BLANK, null],
    ['POST', '/nacos/v2/cs/config', BLANK, null],
  ])('%s %s says what was trimmed: %j', async (...[method, path, form, names]) => {
    const { status, text, headers } = await send(method, path, form)
    expect([status, headers.get('waypost-trimmed')], text).toEqual([200, names])
  })
})

describe('names that are there', () => {
  const dataId = 'app.yaml\u3164'
  const serviceName = 'orders\u115f'
  const md5 = '9dd4e461268c8034f5c8564e155c67a6'
  const lines = [
    namespaceLine('old', { name: 'stag\u202eprod' }),
    configLine(dataId, { md5 }),
    serviceLine(serviceName),
  ]

  test('come with a move, and are read, listened to, replaced and deleted', async () => {
    expect((await sendPlan(server, planOf(lines))).json).toMatchObject({ taken: 3 })
    const item = { dataId, group: 'G' }
    expect((await send('GET', '/nacos/v1/cs/configs', item)).text).toBe('x')
    for (const [path, content] of [
      ['/svc/v1/cs/configs', 'y'],
      ['/nacos/v1/cs/configs', 'z'],
      ['/nacos/v2/cs/config', 'w'],
    ] as const)
      expect((await send('POST', path, { ...item, content })).status, path).toBe(200)
    const listening = `${dataId}\u0002G\u0002${md5}\u0001`
    const poll = await send(
      'POST',
      '/nacos/v1/cs/configs/listener',
      { 'Listening-Configs': listening },
      { 'Long-Pulling-Timeout': '30000' },
    )
    expect([poll.status, decodeURIComponent(poll.text)]).toEqual([200, `${dataId}\u0002G\u0001\n`])
    expect((await send('DELETE', '/svc/v1/cs/configs', item)).text).toBe('true')
    // It was there, and comes back.
    expect((await send('POST', '/svc/v1/cs/configs', { ...item, content: 'y' })).status).toBe(200)
    const { pageItems } = JSON.parse(
      (await send('GET', '/svc/v1/cs/configs', { ...item, search: 'accurate' })).text,
    )
    for (const dryRun of ['true', 'false']) {
      const copied = await fetch(
        `${server.waypost.url}/svc/v1/cs/configs?clone=true&tenant=old&policy=SKIP&dryRun=${dryRun}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify([{ cfgId: Number(pageItems[0].id) }]),
        },
      )
      const detail = expect.stringContaining('has U+3164: app.yaml[U+3164]')
      expect([copied.status, await copied.json()]).toMatchObject([400, { detail, failData: [item] }])
    }
    const renamed = { namespace: 'old', namespaceShowName: 'stag\u202eprod', namespaceDesc: 'kept' }
    expect((await send('PUT', '/svc/v1/console/namespaces', renamed)).text).toBe('true')
    expect(
      (await send('PUT', '/svc/v1/console/namespaces', { ...renamed, namespaceShowName: 'x\u202ey' })).status,
    ).toBe(400)
  })

  test('a service takes instances, which register again and beat', async () => {
    const instance = { ...INSTANCE, serviceName }
    const beat = JSON.stringify({
      ...instance,
      serviceName: `G@@${serviceName}`,
      port: 80,
      cluster: 'DEFAULT',
    })
    for (let times = 0; times < 2; times++) {
      expect((await send('POST', '/nacos/v1/ns/instance', instance)).text).toBe('ok')
      expect((await send('PUT', '/nacos/v1/ns/instance/beat', { ...instance, beat })).status).toBe(200)
    }
    expect((await send('GET', '/svc/v1/ns/instance/list', { serviceName, groupName: 'G' })).text).toContain(
      '10.0.0.1',
    )
    expect((await send('DELETE', '/nacos/v1/ns/instance', instance)).text).toBe('ok')
    expect((await send('DELETE', '/svc/v1/ns/service', { serviceName, groupName: 'G' })).status).toBe(200)
  })
})

describe('two namespaces with one name', () => {
  test('are made; /svc warns with their ids, and /nacos answers as ever', async () => {
    const [name, ids] = [unique('same'), [unique('a'), unique('b'), unique('c')]]
    const make = (base: string, id: string) =>
      send('POST', `${base}/console/namespaces`, { ...NAMESPACE, customNamespaceId: id, namespaceName: name })
    const first = await make('/svc/v1', ids[0]!)
    expect([first.text, first.headers.get('waypost-same-name')]).toEqual(['true', null])
    const second = await make('/svc/v1', ids[1]!)
    expect([second.text, second.headers.get('waypost-same-name')]).toEqual(['true', `${ids[0]},${ids[1]}`])
    const third = await make('/nacos/v1', ids[2]!)
    expect([third.text, third.headers.get('waypost-same-name')]).toEqual(['true', null])
    const v2 = await send('POST', '/nacos/v2/console/namespace', {
      namespaceId: unique('d'),
      namespaceName: name,
    })
    expect([v2.text, v2.headers.get('waypost-same-name')]).toEqual([
      expect.stringContaining('"data":true'),
      null,
    ])
    const listed = (await send('GET', '/nacos/v1/console/namespaces')).text
    expect(listed.split(`"namespaceShowName":"${name}"`)).toHaveLength(5)
    const renamed = { namespace: ids[2]!, namespaceShowName: name, namespaceDesc: '' }
    const again = await send('PUT', '/svc/v1/console/namespaces', renamed)
    expect(again.headers.get('waypost-same-name')?.split(',')).toEqual(expect.arrayContaining(ids))
    for (let more = 0; more < 20; more++) await make('/nacos/v1', unique('more'))
    const last = await send('PUT', '/svc/v1/console/namespaces', renamed)
    expect(last.headers.get('waypost-same-name')?.split(',').slice(15)).toEqual([expect.any(String), '...'])
  })
})
