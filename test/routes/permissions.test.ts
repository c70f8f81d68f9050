/** Callers who may do some things: what they see and change of what they reach by ids, lists and copies. */
import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { zipChunks } from '../../src/archive/zip-writer.ts'
import type { Action, Resource } from '../../src/operations/guard.ts'
import type { Authorisation } from '../../src/operations/authorisation.ts'
import { startFixture } from './fixture.ts'

/** While it is on, a caller has only the permissions listed here for each namespace. */
class Allowed implements Authorisation {
  isOn = false
  /** The dataIds of configurations that nobody may touch. */
  readonly hidden = new Set<string>()
  readonly #forbidden = new Set<string>()
  readonly #actions: Record<string, readonly Action[]>

  constructor(actions: Readonly<Record<string, readonly Action[]>>) {
    this.#actions = { ...actions }
  }

  allows(_: unknown, action: Action, resource: Resource): boolean {
    switch (resource.kind) {
      case 'config':
        return !this.hidden.has(resource.key.dataId) && this.#may(resource.key.namespaceId, action)
      case 'service':
        return this.#may(resource.key.namespaceId, action)
      case 'namespace':
        return this.#may(resource.namespaceId, action)
      case 'some-configs':
      case 'some-services':
        return resource.namespaceId === undefined || this.#may(resource.namespaceId, action)
      case 'some-namespaces':
        return true
      case 'operator':
      case 'backup':
      case 'audit':
      case 'access':
      case 'metrics':
      case 'own-account':
        return false
    }
  }

  /** Replaces the permissions for a namespace. */
  give(namespaceId: string, actions: readonly Action[]): void {
    this.#actions[namespaceId] = actions
  }

  /** Takes all permissions for a namespace away. */
  forbid(namespaceId: string): void {
    this.#forbidden.add(namespaceId)
  }

  #may(namespaceId: string, action: Action): boolean {
    if (this.#forbidden.has(namespaceId)) return false
    return this.#actions[namespaceId]?.includes(action) ?? false
  }
}

const configs = '/cs/configs'
let authorisation: Allowed
let at: ReturnType<typeof startFixture>
/** The ids of the items of each namespace. */
let ids: Record<string, string>

/** All items are published before permissions are checked. */
beforeEach(async () => {
  authorisation = new Allowed({ mine: ['read', 'write'], shown: ['read'] })
  at = startFixture({ authorisation })
  ids = {}
  for (const tenant of ['mine', 'shown', 'secret']) {
    await at.svc('POST', '/console/namespaces', { params: { customNamespaceId: tenant, namespaceName: 'n' } })
    const item = { dataId: 'd', group: 'G', tenant }
    await at.svc('POST', configs, { params: { ...item, content: `of ${tenant}` } })
    await at.svc('POST', configs, { params: { ...item, content: `of ${tenant}, changed` } })
    const all = await at.nacos('GET', configs, { params: { ...item, show: 'all' } })
    ids[tenant] = JSON.parse(all.text).id
  }
  authorisation.isOn = true
})

const keyIn = (tenant: string) => ({ dataId: 'd', group: 'G', tenant })
const clone = (tenant: string, ...from: string[]) =>
  at.nacos('POST', configs, {
    params: { clone: 'true', tenant },
    rawBody: Buffer.from(
      JSON.stringify(from.map((name, turn) => ({ cfgId: ids[name], dataId: `c${turn}` }))),
    ),
  })
const remove = (...from: string[]) =>
  at.nacos('DELETE', configs, { params: { delType: 'ids', ids: from.map((name) => ids[name]).join(',') } })
const statusOf = async (asked: ReturnType<typeof at.nacos>) => (await asked).answer?.status

describe('one item', () => {
  test.each([
    ['mine', 200, 200],
    ['shown', 200, 403],
    ['secret', 403, 403],
  ])('of %s is read with %i and written with %i', async (tenant, read, write) => {
    for (const dialect of ['svc', 'nacos'] as const) {
      expect(await statusOf(at[dialect]('GET', configs, { params: keyIn(tenant) }))).toBe(read)
      expect(await statusOf(at[dialect]('DELETE', configs, { params: keyIn(tenant) }))).toBe(write)
      const params = { ...keyIn(tenant), content: 'new' }
      expect(await statusOf(at[dialect]('POST', configs, { params }))).toBe(write)
    }
    const content = String(at.state.config(configKey(tenant, 'G', 'd'))?.content)
    expect(content).toBe(write === 200 ? 'new' : `of ${tenant}, changed`)
  })

  test('that does not exist is refused like one that does', async () => {
    for (const dialect of ['svc', 'nacos'] as const)
      expect(
        await statusOf(at[dialect]('GET', configs, { params: { ...keyIn('secret'), dataId: 'no' } })),
      ).toBe(403)
  })

  test('of the default namespace is one item in every spelling of it', async () => {
    for (const tenant of ['', 'public'])
      expect(await statusOf(at.svc('GET', configs, { params: { dataId: 'd', group: 'G', tenant } }))).toBe(
        403,
      )
  })
})

describe('by ids', () => {
  test('items that may not be deleted are skipped like ids of no item', async () => {
    ids['nothing'] = '99999999'
    const removed = async (...from: string[]) => {
      const { answer, text } = await remove(...from)
      return { ...answer, body: from.reduce((all, name) => all.replace(ids[name]!, '<id>'), text) }
    }
    const unknown = await removed('nothing')
    expect(unknown.body).toContain('<id>')
    for (const forbidden of ['secret', 'shown']) expect(await removed(forbidden)).toEqual(unknown)
    expect(at.state.configs.size).toBe(3)
    const two = await removed('nothing', 'mine', 'shown')
    authorisation.isOn = false
    await at.svc('POST', configs, { params: { ...keyIn('mine'), content: 'x' } })
    const all = await at.nacos('GET', configs, { params: { ...keyIn('mine'), show: 'all' } })
    ids['mine'] = JSON.parse(all.text).id
    authorisation.isOn = true
    expect(await removed('shown', 'mine', 'secret')).toEqual(two)
    expect([...at.state.configs.all()].map(({ key }) => key.namespaceId)).toEqual(['shown', 'secret'])
  })

  test('items that may not be read are left out of exports and clones like ids of no item', async () => {
    authorisation.isOn = false
    const hidden = { dataId: 'hidden', group: 'G', tenant: 'mine' }
    await at.svc('POST', configs, { params: { ...hidden, content: 'x' } })
    const all = await at.nacos('GET', configs, { params: { ...hidden, show: 'all' } })
    Object.assign(ids, { hidden: JSON.parse(all.text).id, nothing: '99999999' })
    authorisation.isOn = true
    authorisation.hidden.add('hidden')
    const exported = async (...names: string[]) => {
      const params = { export: 'true', tenant: 'mine', ids: names.map((name) => ids[name]).join(',') }
      const { answer } = await at.nacos('GET', configs, { params })
      const chunks: Buffer[] = []
      for await (const chunk of answer!.chunks!) chunks.push(chunk)
      return {
        status: answer!.status,
        entries: Buffer.concat(chunks)
          .toString('latin1')
          .match(/G\/\w+/g),
      }
    }
    expect(await exported('hidden')).toEqual(await exported('nothing'))
    expect(await exported('mine', 'hidden')).toEqual(await exported('mine', 'nothing'))
    const copied = async (from: string) => (await clone('mine', from)).answer
    expect(await copied('hidden')).toEqual(await copied('nothing'))
    expect(await copied('secret')).toEqual(await copied('nothing'))
  })

  test('who may write and not read learns no md5', async () => {
    authorisation.isOn = false
    const md5 = at.state.config(configKey('mine', 'G', 'd'))!.md5
    authorisation.give('mine', ['write'])
    authorisation.isOn = true
    const casMd5 = '0'.repeat(32)
    const params = { ...keyIn('mine'), content: 'mine', casMd5 }
    const texts = [
      await at.svc('POST', configs, { params }),
      await at.nacos('POST', configs, { params, headers: { casmd5: casMd5 } }),
      await at.svc('DELETE', configs, { params: { ...keyIn('mine'), casMd5 } }),
    ]
    for (const { answer, text } of texts) {
      expect(answer?.status).toBe(409)
      expect(text).not.toContain(md5)
    }
  })

  test('an export has the items that may be read, and ids of another namespace select nothing', async () => {
    const exported = (tenant: string, from: string) =>
      statusOf(at.nacos('GET', configs, { params: { export: 'true', tenant, ids: ids[from]! } }))
    expect(await exported('shown', 'shown')).toBe(200)
    expect(await exported('secret', 'secret')).toBe(403)
    const { answer } = await at.nacos('GET', configs, {
      params: { export: 'true', tenant: 'mine', ids: ids['secret']! },
    })
    const chunks: Buffer[] = []
    for await (const chunk of answer!.chunks!) chunks.push(chunk)
    expect(Buffer.concat(chunks)).toEqual(await emptyZip())
  })

  test('a history record is readable only with permission for its item', async () => {
    const record = (tenant: string, id: number) =>
      statusOf(at.svc('GET', '/cs/history', { params: { ...keyIn(tenant), nid: String(id) } }))
    const idOf = async (tenant: string) =>
      (
        await at.store
          .reads('test')
          .history([at.state.configs.getById(Number(ids[tenant]))!.key], { pageNo: 1, pageSize: 1 })
      ).entries[0]!.id
    const [mine, shown, secret] = [await idOf('mine'), await idOf('shown'), await idOf('secret')]
    expect(await record('mine', mine)).toBe(200)
    expect(await record('secret', secret)).toBe(403)
    expect(await record('mine', shown)).toBe(403)
    expect(await record('mine', secret)).toBe(404)
  })
})

describe('an id of another item', () => {
  const doors: ['svc' | 'nacos', string, string, string][] = [
    ['svc', '/cs/history', 'nid', 'record'],
    ['svc', '/cs/history', 'nid', 'item'],
    ['svc', '/cs/history/previous', 'id', 'record'],
    ['svc', '/cs/history/previous', 'id', 'item'],
    ['svc', '/console/config/version', 'historyId', 'record'],
    ['nacos', '/cs/history', 'nid', 'record'],
    ['nacos', '/cs/history/previous', 'id', 'item'],
  ]
  test.each(doors)(
    'at %s %s is an unknown one to who may not read that item (%s, a %s)',
    async (...[dialect, path, name, what]) => {
      const idOf = async (tenant: string): Promise<string> => {
        const { key, id } = { key: configKey(tenant, 'G', 'd'), id: ids[tenant]! }
        if (what === 'item') return String(id)
        return String(
          (await at.store.reads('test').history([key], { pageNo: 1, pageSize: 1 })).entries[0]!.id,
        )
      }
      const asked = async (id: string) => {
        const { answer, text } = await at[dialect]('GET', path, { params: { ...keyIn('mine'), [name]: id } })
        return { status: answer?.status, text: text.replaceAll(id, 'ID') }
      }
      const [secret, shown] = [await idOf('secret'), await idOf('shown')]
      // Ids of items are odd or even, as those of records are not.
      const unknown = String(Number(secret) + 2_000)
      expect(await asked(secret)).toEqual(await asked(unknown))
      expect((await asked(secret)).status).toBe(404)
      expect((await asked(shown)).status).toBe(what === 'item' && name === 'nid' ? 404 : 403)
    },
  )
})

describe('a clone', () => {
  test('needs permission to read its source and to write its target', async () => {
    expect(await statusOf(clone('mine', 'shown'))).toBe(200)
    expect(at.state.configs.size).toBe(4)
    await clone('mine', 'secret')
    expect(at.state.configs.size).toBe(4)
    expect(await statusOf(clone('shown', 'mine'))).toBe(403)
    expect(at.state.configs.size).toBe(4)
  })

  test('reveals nothing about a namespace without permission to write there', async () => {
    expect(await statusOf(clone('secret'))).toBe(403)
    expect(await statusOf(clone('unknown', 'mine'))).toBe(403)
  })
})

describe('a list', () => {
  test('of a search is refused in a namespace where nothing may be read', async () => {
    const search = (tenant: string) =>
      at.nacos('GET', configs, { params: { search: 'blur', dataId: '*', group: '*', tenant } })
    expect(JSON.parse((await search('shown')).text)).toMatchObject({ totalCount: 1 })
    expect(await statusOf(search('secret'))).toBe(403)
  })

  test('of namespaces counts only configurations that may be read', async () => {
    const countOf = async () => {
      const { text } = await at.nacos('GET', '/console/namespaces', {
        params: { show: 'all', namespaceId: 'mine' },
      })
      return JSON.parse(text).configCount
    }
    await at.svc('POST', configs, { params: { ...keyIn('mine'), dataId: 'e', content: 'x' } })
    expect(await countOf()).toBe(2)
    authorisation.hidden.add('e')
    expect(await countOf()).toBe(1)
    const { text } = await at.svc('GET', '/console/namespaces')
    expect(JSON.parse(text).data).toMatchObject([
      { namespace: 'mine', configCount: 1 },
      { namespace: 'shown', configCount: 1 },
    ])
  })

  test('of namespaces has those that may be read', async () => {
    const { text } = await at.svc('GET', '/console/namespaces')
    expect(JSON.parse(text).data.map((each: { namespace: string }) => each.namespace)).toEqual([
      'mine',
      'shown',
    ])
  })

  test('of the items of an address has those that may be read', async () => {
    authorisation.isOn = false
    await poll('mine', 'secret')
    authorisation.isOn = true
    const { text } = await at.nacos('GET', '/cs/listener', { params: { ip: '10.9.9.9', all: 'true' } })
    expect(Object.keys(JSON.parse(text).lisentersGroupkeyStatus)).toEqual(['d+G+mine'])
  })
})

describe('a poll', () => {
  test('is never answered with an item that may not be read', async () => {
    const asked = await poll('mine', 'secret')
    expect(asked.wasHeld).toBe(true)
    authorisation.isOn = false
    await at.svc('POST', configs, { params: { ...keyIn('secret'), content: 'new' } })
    await quiet()
    expect(asked.later()).toBeUndefined()
    at.polls.tick(60_000)
    await quiet()
    expect(asked.later()).toMatchObject({ status: 200, body: '' })
  })

  test('that is held is judged again when it is answered', async () => {
    const [asked, other] = [await poll('mine'), await poll('shown')]
    authorisation.forbid('mine')
    authorisation.isOn = false
    for (const tenant of ['mine', 'shown'])
      await at.svc('POST', configs, { params: { ...keyIn(tenant), content: 'new' } })
    authorisation.isOn = true
    await quiet()
    expect(asked.later()).toMatchObject({ status: 200, body: '' })
    expect(other.later()?.body).toContain('shown')
  })

  test('is refused if none of its items may be read', async () => {
    expect((await poll('secret')).answer?.status).toBe(403)
  })
})

/** Watches the current items of these namespaces. */
function poll(...tenants: string[]) {
  const items = tenants.map((tenant) => {
    const { md5 } = at.state.configs.getById(Number(ids[tenant]))!
    return `d\u0002G\u0002${md5}\u0002${tenant}\u0001`
  })
  return at.svc('POST', '/cs/configs/listener', {
    params: { 'Listening-Configs': items.join('') },
    headers: { 'long-pulling-timeout': '30000' },
  })
}

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function emptyZip(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of zipChunks([])) chunks.push(chunk)
  return Buffer.concat(chunks)
}
