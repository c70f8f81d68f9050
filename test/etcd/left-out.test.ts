/** Values in etcd that no server has written: each costs itself, and is named. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFirstAdministrator } from '../../src/core/access/access-commands.ts'
import { createFirstKey } from '../../src/core/access/signing-key-commands.ts'
import { noteServer } from '../../src/core/cluster/members/server-records.ts'
import { deleteConfig, publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { refuseDamaged } from '../../src/core/config/state/damaged-item.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { publishing } from '../../src/core/core.test-support.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { runWaypost, startWaypost, temporaryDirectory } from '../support/waypost.ts'
import { KEY, publish, register, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'
import { examineEtcd } from '../../src/store/etcd/copy/examine-etcd.ts'
import { oneOfEachKind, placeOf, putAll, variants } from './all-kinds.ts'

const here = etcdForThisFile()
const { start, put, remove, valueOf, servers } = here
const WAIT = { timeout: 30_000 }
/** The service that tests register at has this key. */
const SERVICE = 's/public/DEFAULT_GROUP@@orders'

/** A running server with an item and an instance. */
async function newStore(): Promise<{ prefix: string; server: StoreServer }> {
  const prefix = here.newPrefix()
  const server = await start(prefix, 1)
  await server.engine.execute(publish('sound', { md5: md5Of('sound') }))
  await server.engine.execute(register(80))
  return { prefix, server }
}

const md5Of = (content: string): string => createHash('md5').update(content).digest('hex')
const namesIn = ({ damaged }: StoreServer): string[] => damaged.map(({ key }) => key)

/** A request that finds the damaged number of its server is not written; the next one is. */
async function retried(work: () => Promise<void>): Promise<void> {
  await work().catch(() => work())
}

/** The server has the next change of another server. */
async function follows(server: StoreServer, other: StoreServer): Promise<void> {
  const content = `change ${here.newPrefix()}`
  const another = configKey(KEY.namespaceId, KEY.group, 'another')
  await other.engine.execute(publishConfig({ ...publishing(content, {}), key: another, md5: md5Of(content) }))
  await expect.poll(() => server.state.config(another)?.content.toString(), WAIT).toBe(content)
}

describeOnEtcd('a value that no server has written', 90_000, () => {
  test.each([
    [`i/public/DEFAULT_GROUP@@orders/10.1.1.1/80/DEFAULT`, '{"record":{}}'],
    [`i/public/DEFAULT_GROUP@@orders/10.1.1.2/abc/DEFAULT`, '{"record":{}}'],
    [`i/public/DEFAULT_GROUP@@ghost/10.1.1.1/80/DEFAULT`, 'an instance'],
    [SERVICE, '{"service":{}}'],
    ['s/public/DEFAULT_GROUP@@another', '{"service":{}}'],
    ['c/public/G/a', '{"facts":{}}\nx'],
    ['c/public/G/a', '{"facts":{}'],
    ['c/public/G/new', '{"facts":{}}\nx'],
    ['c/two/parts', 'x'],
    ['g/x/0', 'null'],
    ['g/x/0', '{"a":1}'],
    ['h/x/0', 'abc'],
    ['b/x', '1'],
    ['b/evil', '{"number":1,"process":"x","stamp":9007199254740991}'],
    ['p/x', '{}'],
    ['e', 'x'],
    ['r/namespace/x', 'hello'],
    ['r/user/x', '{"value":{},"stamp":1}'],
    ['r/user/x', '{"value":{"passwordHash":"x"},"stamp":9007199254740991}'],
    ['r/b/x', '{"value":{},"stamp":1}'],
    ['r/foreign/x', '{"value":{},"stamp":1}'],
    ['r/foreign/y', 'x'],
    ['c/public/G/%0061', 'x'],
    ['a/0000000000000000/done/x', '{}'],
    ['v/abc', 'x'],
  ])(
    '%s = %s ends no server, and is named by running servers, new ones and the doctor',
    async (name, text) => {
      const { prefix, server } = await newStore()
      const key = `${prefix}/${name}`
      const isInstance = text === 'an instance'
      const kept = `${prefix}/i/public/DEFAULT_GROUP@@orders/10.0.0.1/80/DEFAULT`
      await put(key, isInstance ? await valueOf(kept) : text)
      const isFollowed = !/^[hav]\//.test(name)
      if (isFollowed) await expect.poll(() => namesIn(server), WAIT).toContain(key)
      const later = await start(prefix, 2)
      if (isFollowed && !name.startsWith('g/')) expect(namesIn(later)).toContain(key)
      await follows(server, later)
      expect(await server.store.compare({ each: true })).toEqual([])
      const counts = {
        config: server.state.configs.size,
        service: server.state.services.size,
        instance: server.state.instancesInAll,
      }
      expect(await server.store.compare({ counts })).toEqual([])
      const places = [`--etcd-endpoints=${here.etcd.endpoints.join(',')}`, `--etcd-prefix=${prefix}`]
      const doctor = await runWaypost(['doctor', '--store', 'etcd', ...places])
      expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(isInstance ? '@@ghost' : key)])
      // Without the key all is as before.
      await remove(key)
      const sound = await runWaypost(['doctor', '--store', 'etcd', ...places])
      if (!/^[cs]\//.test(name) || name.includes('new') || name.includes('another') || name.includes('parts'))
        expect([sound.code, sound.stdout]).toEqual([0, expect.any(String)])
      await expect.poll(() => server.store.damaged, WAIT).toEqual([])
      expect([server.failures, later.failures]).toEqual([[], []])
      await server.engine.execute(publish('another one', { md5: md5Of('another one') }))
      await expect.poll(() => later.contentOf(), WAIT).toBe('another one')
    },
  )

  test('a damaged item cannot be published, and can be deleted', async () => {
    const { prefix, server } = await newStore()
    const later = await start(prefix, 2)
    await put(`${prefix}/c/public/G/a`, '{"facts":{}}\nx')
    await expect.poll(() => [server, later].flatMap(namesIn), WAIT).toHaveLength(2)
    const refused = { code: 'damaged', message: expect.stringContaining(`${prefix}/c/public/G/a`) as string }
    await expect(server.engine.execute(publish('new'))).rejects.toMatchObject(refused)
    await expect((await start(prefix, 3)).engine.execute(publish('new'))).rejects.toMatchObject(refused)
    // It is no deleted item: `view` of the operations refuses it.
    expect(() => refuseDamaged(server.state, KEY)).toThrow(`${prefix}/c/public/G/a`)
    expect(() => refuseDamaged(servers.at(-1)!.state, KEY)).toThrow(`${prefix}/c/public/G/a`)
    expect(server.seen.map(({ kind }) => kind)).not.toContain('config-deleted')
    // Each server can: the last one has never known the item.
    await servers.at(-1)!.engine.execute(deleteConfig(KEY, { ip: '', user: null }))
    await expect.poll(() => later.store.damaged, WAIT).toEqual([])
    const { entries } = await server.store.reads('x').history([KEY], { pageNo: 1, pageSize: 1 })
    expect(entries).toMatchObject([{ op: 'D', size: 0 }])
    await later.engine.execute(publish('new', { md5: md5Of('new') }))
    await expect.poll(() => server.contentOf(), WAIT).toBe('new')
    for (const one of servers) expect(() => refuseDamaged(one.state, KEY)).not.toThrow()
  })

  test('every door answers 500 for a damaged item, and /readyz warns', async () => {
    const { prefix } = await newStore()
    await put(`${prefix}/c/public/G/a`, '{"facts":{}}\nx')
    const settings = { store: 'etcd', 'etcd-endpoints': here.etcd.endpoints.join(','), 'etcd-prefix': prefix }
    const { url, stop } = await startWaypost({ settings })
    const item = 'dataId=a&group=G'
    const paths = [
      '/nacos/v1/cs/configs?',
      '/nacos/v2/cs/config?',
      '/nacos/v3/client/cs/config?groupName=G&',
      '/svc/v1/cs/configs?',
    ]
    for (const path of paths) {
      const answer = await fetch(`${url}${path}${item}`)
      expect([path, answer.status, await answer.text()]).toEqual([
        path,
        500,
        expect.stringContaining(`${prefix}/c/public/G/a`),
      ])
    }
    // A poll is held: a client that was answered would ask for the item at once, and again.
    const listening = new URLSearchParams({ 'Listening-Configs': `a\u0002G\u0002${md5Of('sound')}\u0001` })
    const poll = fetch(`${url}/nacos/v1/cs/configs/listener`, {
      method: 'POST',
      body: listening,
      headers: { 'Long-Pulling-Timeout': '30000' },
      signal: AbortSignal.timeout(1_500),
    })
    await expect(poll.then((answer) => answer.text())).rejects.toThrow('timeout')
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      {
        warnings: [{ code: 'damaged', detail: expect.stringContaining(`${prefix}/c/public/G/a`) as string }],
      },
    ])
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('waypost_store_damaged_keys 1')
    await stop()
  })

  test('every door answers 500 for a damaged service, on servers that knew it and on those that start', async () => {
    const { prefix } = await newStore()
    const settings = { store: 'etcd', 'etcd-endpoints': here.etcd.endpoints.join(','), 'etcd-prefix': prefix }
    const knew = await startWaypost({ settings })
    const sound = await valueOf(`${prefix}/${SERVICE}`)
    await put(`${prefix}/${SERVICE}`, '{"service":{}}')
    await expect
      .poll(async () => (await fetch(`${knew.url}/readyz`)).text(), WAIT)
      .toContain(`${prefix}/${SERVICE}`)
    const starts = await startWaypost({ settings })
    const paths = [
      '/nacos/v1/ns/instance/list?serviceName=orders',
      '/nacos/v1/ns/service?serviceName=orders',
      '/nacos/v1/ns/instance?serviceName=orders&ip=10.0.0.1&port=80',
      '/nacos/v2/ns/instance/list?serviceName=orders',
      '/nacos/v3/client/ns/instance/list?serviceName=orders',
      '/svc/v1/ns/instance/list?serviceName=orders',
      '/svc/v1/ns/service?serviceName=orders',
    ]
    const seen: unknown[] = []
    for (const { url } of [knew, starts])
      for (const path of paths) {
        const answer = await fetch(url + path)
        seen.push([path, answer.status, (await answer.text()).includes(`${prefix}/${SERVICE}`)])
      }
    expect(seen).toEqual([...paths, ...paths].map((path) => [path, 500, true]))
    for (const server of [knew, starts]) {
      const grpc = await connectGrpc(server)
      const names = { namespace: 'public', groupName: 'DEFAULT_GROUP', serviceName: 'orders' }
      for (const [type, more] of [
        ['ServiceQueryRequest', {}],
        ['SubscribeServiceRequest', { subscribe: true, clusters: '' }],
      ] as const)
        expect([type, (await grpc.ask(type, { ...names, ...more })).body]).toMatchObject([
          type,
          { success: false, message: expect.stringContaining(`${prefix}/${SERVICE}`) as string },
        ])
      await grpc.close()
    }
    await put(`${prefix}/${SERVICE}`, sound)
    for (const { url } of [knew, starts])
      await expect.poll(async () => (await fetch(url + paths[0]!)).text(), WAIT).toContain('"port":80')
    await Promise.all([knew, starts].map((server) => server.stop()))
  })

  test('a damaged instance is missing from its list, and the next registration replaces it', async () => {
    const { prefix, server } = await newStore()
    await put(`${prefix}/i/public/DEFAULT_GROUP@@orders/10.0.0.1/80/DEFAULT`, '{"record":null}')
    await expect.poll(() => server.ports(), WAIT).toEqual([])
    const later = await start(prefix, 2)
    expect(later.ports()).toEqual([])
    await later.engine.execute(register(80))
    await expect.poll(() => server.ports(), WAIT).toEqual([80])
    expect([server.store.damaged, later.store.damaged]).toEqual([[], []])
  })

  test('instances without their service come back with it', async () => {
    const { prefix, server } = await newStore()
    const later = await start(prefix, 2)
    const service = await valueOf(`${prefix}/${SERVICE}`)
    await remove(`${prefix}/${SERVICE}`)
    await expect.poll(() => [server.ports(), later.ports()], WAIT).toEqual([[], []])
    const last = await start(prefix, 3)
    expect(namesIn(last)).toHaveLength(1)
    await put(`${prefix}/${SERVICE}`, service)
    await expect.poll(() => last.ports(), WAIT).toEqual([80])
  })

  const first = createFirstAdministrator({ username: 'ann', passwordHash: 'x' })
  test.each([
    ['administrators/all', first],
    ['user-role/x', first],
    ['user/ann', first],
    ['signing-key/x', createFirstKey({ id: 'new', secret: 'x' })],
  ])(
    'while r/%s is damaged, nobody becomes the first administrator and no key is made',
    async (name, command) => {
      const { prefix, server } = await newStore()
      await put(`${prefix}/r/${name}`, '{"value":7,"stamp":1}')
      await expect.poll(() => namesIn(server), WAIT).toHaveLength(1)
      const making = async (): Promise<unknown> => server.engine.execute<unknown>(command)
      await expect(making()).rejects.toMatchObject({ code: 'damaged' })
      await remove(`${prefix}/r/${name}`)
      await expect.poll(() => server.store.damaged, WAIT).toEqual([])
      await making()
    },
  )

  test.each(['0', '!', '1', '2663', 'zzz', '0000000000000000/x', '0000000000000000', '2663601234567890/x'])(
    'the key %s in the history of an item stops no publish',
    async (name) => {
      const { prefix, server } = await newStore()
      const key = `${prefix}/w/public/G/a/${name}`
      await put(key, '{"id":"x"}')
      await server.engine.execute(publish('after', { md5: md5Of('after') }))
      await server.engine.execute(publish('again', { md5: md5Of('again') }))
      expect(server.contentOf()).toBe('again')
      await server.engine.execute(deleteConfig(KEY, { ip: '', user: null }))
      expect(await valueOf(key)).toEqual(Buffer.from('{"id":"x"}'))
      const { entries } = await server.store.reads('x').history([KEY], { pageNo: 1, pageSize: 9 })
      expect(entries.map(({ op }) => op)).toEqual(['D', 'U', 'U', 'I'])
    },
  )

  test('a record of another kind is written again', async () => {
    const { prefix, server } = await newStore()
    await put(`${prefix}/r/server/10.0.0.9:8848`, '{"value":7,"stamp":1}')
    await expect.poll(() => namesIn(server), WAIT).toHaveLength(1)
    await server.engine.execute(noteServer('10.0.0.9:8848', { ip: '10.0.0.9', port: 8848, site: '' }))
    expect(server.store.damaged).toEqual([])
  })

  test('a store with numbers that no clock gives is healed by a salvage', async () => {
    const { prefix, server } = await newStore()
    const late = 2 ** 52 + 5
    await put(`${prefix}/b/evil`, `{"number":1,"process":"x","stamp":${2 ** 53 - 1}}`)
    await put(`${prefix}/b/10.0.0.9:8848`, `{"number":1,"process":"x","stamp":${late}}`)
    await put(`${prefix}/a/0000000000000000/done/x`, '{}')
    const instance = (
      await valueOf(`${prefix}/i/public/DEFAULT_GROUP@@orders/10.0.0.1/80/DEFAULT`)
    ).toString()
    const poisoned = JSON.stringify({ ...(JSON.parse(instance) as object), stamp: late })
    await put(`${prefix}/i/public/DEFAULT_GROUP@@orders/10.0.0.2/80/DEFAULT`, poisoned)
    // The servers were not carried away, and go on.
    await expect.poll(() => namesIn(server), WAIT).toHaveLength(3)
    await server.engine.execute(publish('b', { md5: md5Of('b') }))
    const directory = join(temporaryDirectory('healed-'), 'new')
    const healed = here.newPrefix()
    const onEtcd = (other: string): string[] => [
      `--etcd-endpoints=${here.etcd.endpoints.join(',')}`,
      `--etcd-prefix=${other}`,
    ]
    const salvage = ['copy-store', '--salvage', '--from', 'etcd', '--to', directory, ...onEtcd(prefix)]
    expect(await runWaypost(salvage)).toMatchObject({ stdout: expect.stringContaining(`${prefix}/b/evil`) })
    const back = await runWaypost(['copy-store', '--from', directory, '--to', 'etcd', ...onEtcd(healed)])
    expect([back.code, back.stderr]).toEqual([0, ''])
    const again = await start(healed, 1)
    await again.engine.execute(publish('c', { md5: md5Of('c') }))
    expect(again.damaged).toEqual([])
    expect(again.state.config(KEY)!.historyId).toBeLessThan(2 ** 52)
  })

  test('a chunk that is missing costs its item after three equal tries', async () => {
    const { prefix, server } = await newStore()
    const content = 'x'.repeat(700_000)
    await server.engine.execute(publish(content, { md5: md5Of(content) }))
    const { kvs } = await here.raw.range({ key: `${prefix}/x/`, end: `${prefix}/x0` })
    await remove(kvs[0]!.key)
    const later = await start(prefix, 2)
    expect(namesIn(later)).toEqual([`${prefix}/c/public/G/a`])
    await follows(server, later)
    await put(`${prefix}/c/public/G/a`, await valueOf(`${prefix}/c/public/G/a`))
    await expect.poll(() => namesIn(server), WAIT).toEqual([`${prefix}/c/public/G/a`])
    await follows(later, server)
    // The watch does not show pieces: the comparison finds that they are there again.
    await put(kvs[0]!.key, kvs[0]!.value)
    for (const one of [server, later]) {
      await one.store.compare({})
      expect([one.store.damaged, one.contentOf()]).toEqual([[], content])
      expect(() => refuseDamaged(one.state, KEY)).not.toThrow()
    }
    expect([server.failures, later.failures]).toEqual([[], []])
  })

  test('servers that run, a start and the doctor judge the last stamp that a clock can give, and the next one, alike', async () => {
    const { prefix, server } = await newStore()
    const last = 2 ** 52 - 2 ** 47
    const instance = (
      await valueOf(`${prefix}/i/public/DEFAULT_GROUP@@orders/10.0.0.1/80/DEFAULT`)
    ).toString()
    const item = (await valueOf(`${prefix}/c/public/G/a`)).toString()
    const placed = (stamp: number): [string, string][] => [
      [`b/${stamp}`, JSON.stringify({ number: 1, process: 'x', stamp })],
      [`r/namespace/${stamp}`, JSON.stringify({ value: { id: `${stamp}`, showName: 'n', desc: '' }, stamp })],
      [
        `i/public/DEFAULT_GROUP@@orders/10.0.0.2/${stamp % 100}/DEFAULT`,
        JSON.stringify({ ...JSON.parse(instance), stamp }),
      ],
      [`c/public/G/${stamp}`, item.replace(/"historyId":\d+/, `"historyId":${stamp * 2}`)],
    ]
    for (const stamp of [last, last + 1])
      for (const [name, value] of placed(stamp)) await put(`${prefix}/${name}`, value)
    const later = await start(prefix, 2)
    await follows(server, later)
    const beyond = placed(last + 1)
      .map(([name]) => `${prefix}/${name}`)
      .toSorted()
    const { examination } = await examineEtcd(placeOf(server, prefix), () => {})
    const unread = examination.findings.filter(({ problem }) =>
      problem.startsWith('The value cannot be read'),
    )
    expect(unread.map(({ place }) => place.replace('key ', '')).toSorted()).toEqual(beyond)
    for (const one of [server, later]) expect(namesIn(one).toSorted()).toEqual(beyond)
    expect([server.now().stamp, later.now().stamp].every((stamp) => stamp < last / 1.01)).toBe(true)
  })

  test('a value of each kind at a key of each other kind: all servers live, agree and can start', async () => {
    const { prefix, server } = await newStore()
    const sound = await oneOfEachKind(here.raw, prefix, server)
    expect(sound.length).toBeGreaterThan(25)
    const isJudgedBySome = (key: string): boolean => /^[aghvw]\//.test(key.slice(prefix.length + 1))
    const named = (all: readonly { key: string }[]): string[] =>
      all.flatMap(({ key }) => (isJudgedBySome(key) || key.endsWith('/large') ? [] : [key])).toSorted()
    for (let turn = 1; turn < sound.length; turn++) {
      await putAll(
        here.raw,
        sound.map((kv, index) => ({ ...kv, value: sound[(index + turn) % sound.length]!.value })),
      )
      const later = await start(prefix, 2)
      for (const [one, other] of [
        [server, later],
        [later, server],
      ] as const)
        await retried(() => follows(one, other))
      expect([turn, named(server.store.damaged)]).toEqual([turn, named(later.store.damaged)])
      expect(named(later.store.damaged).length).toBeGreaterThan(14)
      const { examination } = await examineEtcd(placeOf(server, prefix), () => {})
      const places = examination.findings.map(({ place }) => ({ key: place.replace('key ', '') }))
      expect([turn, ...named(places)]).toEqual(expect.arrayContaining(named(later.store.damaged)))
      expect([turn, server.failures, later.failures]).toEqual([turn, [], []])
      await servers.pop()!.stop()
      await putAll(here.raw, sound)
      await expect.poll(() => server.store.damaged, WAIT).toEqual([])
    }
    // Without the layout nothing is believed, and a start names its key.
    const format = `${prefix}/format`
    for (const { value } of sound) {
      await put(format, value)
      await expect(start(prefix, 2)).rejects.toThrow(format)
      await expect.poll(() => server.store.missing?.advice, WAIT).toContain(`etcdctl put ${format} 4`)
    }
    expect([server.contentOf(), server.failures]).toEqual(['sound', []])
    await put(format, '4')
    await expect.poll(() => server.store.missing, WAIT).toBeUndefined()
    await follows(server, server)
  })

  test('a server that runs, one that starts and the doctor agree on every field of every kind of value', async () => {
    const { prefix, server } = await newStore()
    await server.engine.execute(createFirstAdministrator({ username: 'ann', passwordHash: 'x' }))
    const kept = [
      'c/public/G/a',
      SERVICE,
      'i/public/DEFAULT_GROUP@@orders/10.0.0.1/80/DEFAULT',
      'r/user/ann',
      'r/administrators/all',
      'b/127.0.0.1:1',
    ]
    const written: string[] = []
    for (const name of kept)
      for (const [index, value] of variants(await valueOf(`${prefix}/${name}`)).entries()) {
        const key = `${prefix}/${name.replace(/^(c.*|s.*|r.user.*|b.*)$/, `$1-${index}`).replace('10.0.0.1', `10.1.${index >> 8}.${index & 255}`)}`
        if (name.endsWith('/all')) continue
        written.push(key)
        await put(key, value)
      }
    const last = configKey('public', 'G', 'last')
    await server.engine.execute(publishConfig({ ...publishing('x', {}), key: last, md5: md5Of('x') }))
    const later = await start(prefix, 2)
    const named = (keys: Iterable<string>): string[] => [...new Set(keys)].toSorted()
    const running = named(server.store.damaged.map(({ key }) => key))
    const differing = (keys: readonly string[]): string[] => [
      ...running.filter((key) => !keys.includes(key)),
      ...keys.filter((key) => !running.includes(key)),
    ]
    expect(differing(named(later.store.damaged.map(({ key }) => key)))).toEqual([])
    const places = [`--etcd-endpoints=${here.etcd.endpoints.join(',')}`, `--etcd-prefix=${prefix}`]
    const { stdout } = await runWaypost(['doctor', '--json', '--store', 'etcd', ...places])
    const { findings } = JSON.parse(stdout) as { findings: { place: string; problem: string }[] }
    const found = findings
      .filter(
        ({ problem }) => problem.startsWith('The value cannot be read') && !problem.includes('has the md5'),
      )
      .map(({ place }) => place.replace('key ', ''))
      .filter((key) => !key.startsWith(`${prefix}/v/`))
    expect(differing(named(found))).toEqual([])
    expect(running.length).toBeGreaterThan(written.length / 2)
    // No fault of the state either: the lists can be made.
    for (const one of [server, later])
      for (const { service } of one.state.services.all())
        for (const { record, timing } of one.state.instances(service.key))
          expect([typeof record.weight, typeof timing.removeMs]).toEqual(['number', 'number'])
    expect([server.failures, later.failures]).toEqual([[], []])
  })
})
