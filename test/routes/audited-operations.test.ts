/** The events that the audit records for requests, and the users that the history names. */
import { beforeEach, describe, expect, test } from 'vitest'
import { ANONYMOUS, type Identity, type SignedIn } from '../../src/core/access/identity.ts'
import type { AuditEntry } from '../../src/core/audit/audit-event.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { startFixture } from './fixture.ts'

const ANN: SignedIn = {
  kind: 'user',
  username: 'ann',
  by: 'token',
  credentialStamp: 1,
  expiresMs: Infinity,
}

let entries: AuditEntry[]
let at: ReturnType<typeof startFixture>
beforeEach(() => {
  entries = []
  const trail = { record: (entry: AuditEntry) => void entries.push(entry), tallyOf: () => ({ count: 0 }) }
  at = startFixture({ trail })
})

const item = { dataId: 'd', group: 'G', tenant: 'dev' }
const configs = '/cs/configs'
const SECRET = 's3cret-content'

/** The events recorded since the last call: operation, item, result, and numbers. */
function recorded(): string[] {
  const lines = entries.map(({ operation, item: named, result, code, detail }) =>
    [operation, named, result, code, detail].filter((text) => text !== '').join(' | '),
  )
  entries.length = 0
  return lines
}

async function idOf(named: Record<string, string>): Promise<string> {
  return JSON.parse((await at.nacos('GET', configs, { params: { ...named, show: 'all' } })).text).id
}

/** Imports one item. */
function importOne(dataId: string, how: { identity?: Identity; srcUser?: string } = {}) {
  const one = { key: configKey('dev', 'G', dataId), type: 'text' as const, notes: {}, bytes: 1 }
  const items = [{ ...one, read: async () => Buffer.from(SECRET) }]
  const caller = { ip: '10.9.9.9', identity: how.identity ?? ANONYMOUS }
  const request = { items, policy: 'SKIP' as const, dryRun: false, srcUser: how.srcUser }
  return at.operations.transfer.import(request, caller)
}

describe('a change of configurations', () => {
  test('is recorded with its item, and without its content', async () => {
    await at.svc('POST', configs, { params: { ...item, content: SECRET, appName: SECRET } })
    await at.nacos('DELETE', configs, { params: item })
    expect(JSON.stringify(entries)).not.toContain(SECRET)
    expect(recorded()).toEqual([
      'publish config | dev:G:config/d | done',
      'delete config | dev:G:config/d | done',
    ])
  })

  test('that is refused is recorded with the code', async () => {
    await at.svc('POST', configs, { params: { ...item, content: 'a' } })
    await at.nacos('POST', configs, { params: { ...item, content: 'b', casMd5: 'other' } })
    expect(recorded().at(-1)).toBe('publish config | dev:G:config/d | refused | config-changed')
  })

  test('by ids names each item, on a line of its own', async () => {
    for (const dataId of ['a', 'b'])
      await at.svc('POST', configs, { params: { ...item, dataId, content: 'x' } })
    const ids = [await idOf({ ...item, dataId: 'a' }), await idOf({ ...item, dataId: 'b' })]
    recorded()
    await at.nacos('DELETE', configs, { params: { delType: 'ids', ids: ids.join(',') } })
    expect(recorded()).toEqual(['delete configs | dev:G:config/a\ndev:G:config/b | done'])
  })

  test('by ids and by a copy names what it has left, and the answer says which', async () => {
    await at.svc('POST', configs, { params: { dataId: 'd', group: 'G', content: 'x' } })
    const cfgId = await idOf({ dataId: 'd', group: 'G' })
    await at.svc('POST', '/console/namespaces', { params: { customNamespaceId: 'dev', namespaceName: 'n' } })
    recorded()
    for (const dialect of ['svc', 'nacos'] as const) {
      const params = { clone: 'true', tenant: 'dev', policy: 'OVERWRITE' }
      const rawBody = Buffer.from(JSON.stringify([{ cfgId }, { cfgId: 12 }]))
      const { text } = await at[dialect]('POST', configs, { params, rawBody })
      expect(text).toContain('"unrecognizedCount":1,"unrecognizedData":[{"itemName":"id 12"')
    }
    const { text } = await at.nacos('DELETE', configs, { params: { delType: 'ids', ids: `12,${cfgId}` } })
    expect(JSON.parse(text)).toEqual({
      code: 200,
      message: 'not deleted, unknown or not permitted: 12',
      data: true,
    })
    const copied =
      'clone configs | dev:G:config/d\n! id 12 | done | published 1, skipped 0, failed 0, not copied 1'
    expect(recorded()).toEqual([
      copied,
      copied,
      'delete configs | public:G:config/d\n! id 12 | done | deleted 1, unknown 1, not permitted 0',
    ])
  })

  test('by a clone or an import is one event with counts', async () => {
    await at.svc('POST', configs, { params: { dataId: 'd', group: 'G', content: 'x' } })
    const cfgId = await idOf({ dataId: 'd', group: 'G' })
    await at.svc('POST', '/console/namespaces', { params: { customNamespaceId: 'dev', namespaceName: 'n' } })
    recorded()
    const clone = (policy: string) =>
      at.nacos('POST', configs, {
        params: { clone: 'true', tenant: 'dev', policy },
        rawBody: Buffer.from(JSON.stringify([{ cfgId }])),
      })
    await clone('ABORT')
    await clone('SKIP')
    await clone('ABORT')
    await importOne('new')
    expect(recorded()).toEqual([
      'clone configs | dev:G:config/d | done | published 1, skipped 0, failed 0',
      'clone configs | ! dev:G:config/d | done | published 0, skipped 1, failed 0',
      'clone configs | ! dev:G:config/d | refused | published 0, skipped 0, failed 1',
      'import configs | dev:G:config/new | done | published 1, skipped 0, failed 0',
    ])
  })
})

describe('a change of namespaces', () => {
  test('is recorded, also where it is refused', async () => {
    const params = { customNamespaceId: 'dev', namespaceName: 'n' }
    await at.svc('POST', '/console/namespaces', { params })
    await at.svc('POST', '/console/namespaces', { params })
    await at.svc('DELETE', '/console/namespaces', { params: { namespaceId: 'dev' } })
    expect(recorded()).toEqual([
      'create namespace | dev:*:* | done',
      'create namespace | dev:*:* | refused | id-taken',
      'delete namespace | dev:*:* | done',
    ])
  })
})

describe('the user of the history', () => {
  const historyUser = async (tenant: string, dataId = 'd') => {
    const { entries: records } = await at.store.reads('test').history([configKey(tenant, 'G', dataId)], {
      pageNo: 1,
      pageSize: 1,
    })
    return records[0]?.srcUser
  }
  const notSignedIn: Identity = { kind: 'not-signed-in', code: 'token-invalid' }

  describe.each([
    ['a user who is signed in, whatever it claims', ANN, 'ann'],
    ['what an anonymous caller claims', ANONYMOUS, 'eve'],
    ['nobody for credentials that do not count', notSignedIn, null],
  ])('is %s', (_, identity, user) => {
    const claim = { src_user: 'eve' }

    test('for a publish and a delete', async () => {
      await at.nacos('POST', configs, { params: { ...item, content: 'a', ...claim }, identity })
      expect(await historyUser('dev')).toBe(user)
      await at.nacos('POST', configs, { params: { ...item, content: 'b' } })
      await at.nacos('DELETE', configs, { params: { ...item, ...claim }, identity })
      expect(await historyUser('dev')).toBe(user)
    })

    test('for a delete by ids', async () => {
      await at.nacos('POST', configs, { params: { ...item, content: 'a' } })
      const ids = await idOf(item)
      await at.nacos('DELETE', configs, { params: { delType: 'ids', ids, ...claim }, identity })
      expect(await historyUser('dev')).toBe(user)
    })

    test('for a clone and an import', async () => {
      await at.nacos('POST', configs, { params: { dataId: 'd', group: 'G', content: 'x' } })
      const cfgId = await idOf({ dataId: 'd', group: 'G' })
      const rawBody = Buffer.from(JSON.stringify([{ cfgId, dataId: 'copy' }]))
      await at.nacos('POST', configs, { params: { clone: 'true', ...claim }, rawBody, identity })
      expect(await historyUser('public', 'copy')).toBe(user)
      await importOne('imported', { identity, srcUser: 'eve' })
      expect(await historyUser('dev', 'imported')).toBe(user)
    })
  })
})
