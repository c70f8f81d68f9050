/** A server whose etcd has little room, and then none (src/store/etcd/space/space.ts). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client, type Reply, sleep, until } from '../interface/client.ts'
import { describeOnEtcd, ETCD_HOOK_MS, type Etcd, startEtcd } from '../support/etcd.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { freePort, runWaypost, startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const MIB = 1024 * 1024
/** The file of etcd grows in steps of 16 MiB: quota and reserve are several steps. */
const QUOTA = 128 * MIB
const ITEM = { dataId: 'a', group: 'G' }
const INSTANCE = { serviceName: 'S', ip: '10.0.0.1', port: 80 }
/** A slow machine does not let it expire. */
const PATIENT = JSON.stringify({
  'preserved.heart.beat.timeout': '600000',
  'preserved.ip.delete.timeout': '600000',
})
const WITHIN_MS = 60_000
/** A start waits a minute for an alarm. */
const ALARM_START_MS = 90_000
const MOST_TRIES = 200
/** Longer than a start takes. */
const WAITS_MS = 3_000

let etcd: Etcd
let server: Waypost
let svc: Client
let client: Client

const publish = (content: string, dataId = ITEM.dataId) =>
  svc.post('/cs/configs', { ...ITEM, dataId, content })
/** Callers need not sign in, and may. */
const start = async (startMs?: number): Promise<Waypost> =>
  startWaypost({
    ...(startMs === undefined ? {} : { startMs }),
    settings: {
      store: 'etcd',
      'etcd-endpoints': etcd.endpoints.join(','),
      'peer-port': await freePort(),
      'store-reserve': '40MiB',
      auth: 'off',
    },
  })
/** Signs in by a token, or as a browser by a session. */
const signIn = (path: string) => {
  const headers = { origin: server.url, 'sec-fetch-site': 'same-origin' }
  return svc.call('POST', path, { form: { username: 'ann', password: 'secret' }, headers })
}
let items = 0
/** Another item of this size: history does not count it. */
const publishAnother = (bytes: number) => publish(large(bytes), `item-${items++}`)
const large = (bytes: number): string => `${Math.random()}`.padEnd(bytes, 'x')

/** Publishes items of this size until one is refused, and returns the refusal. */
async function fill(bytes: number): Promise<Reply> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const answer = await publishAnother(bytes)
    if (answer.status !== 200) return answer
  }
  throw new Error(`${MOST_TRIES} publishes of ${bytes} bytes were accepted`)
}

/** Calls etcd by its JSON gateway. */
async function ask(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${etcd.endpoints[0]}/v3${path}`, { method: 'POST', body: JSON.stringify(body) })
  return (await answer.json()) as Record<string, unknown>
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function sizes(): Promise<{ file: number; inUse: number }> {
  const { dbSize, dbSizeInUse } = await ask('/maintenance/status', {})
  return { file: Number(dbSize), inUse: Number(dbSizeInUse) }
}

async function disarm(): Promise<void> {
  const { alarms = [] } = await ask('/maintenance/alarm', { action: 'GET', memberID: 0, alarm: 'NONE' })
  for (const alarm of alarms as object[]) await ask('/maintenance/alarm', { action: 'DEACTIVATE', ...alarm })
}

/** As an operator makes space: docs/operations.md. */
async function makeSpace(): Promise<void> {
  const status = await ask('/maintenance/status', {})
  const { revision } = status['header'] as { revision: string }
  await ask('/kv/compaction', { revision, physical: true })
  await ask('/maintenance/defragment', {})
  await disarm()
}

describeOnEtcd('a server whose etcd is full', 240_000, () => {
  beforeAll(async () => {
    etcd = await startEtcd({ quotaBytes: QUOTA })
    const password = join(temporaryDirectory('secret-'), 'password')
    writeFileSync(password, 'secret\n')
    const made = await runWaypost(
      ['user', 'add', 'ann', '--first', '--password-file', password].concat(
        `--etcd-endpoints=${etcd.endpoints.join(',')}`,
      ),
    )
    expect(made.stderr).toBe('')
    server = await start()
    svc = new Client(`${server.url}/svc/v1`)
    client = new Client(server.url)
  }, ETCD_HOOK_MS)
  afterAll(async () => {
    svc?.close()
    client?.close()
    await server?.kill()
    await etcd?.stop()
  })

  test('refuses publishes before etcd raises its alarm, and takes them again when there is room', async () => {
    expect((await svc.post('/ns/instance', { ...INSTANCE, metadata: PATIENT })).status).toBe(200)
    // Large items find no room first, and small ones last.
    for (const bytes of [MIB, MIB / 8, MIB / 64, 1024]) {
      const refused = await fill(bytes)
      expect(refused.status, refused.text).toBe(507)
      expect(refused.text).toMatch(
        /The file of etcd at .* of 128 MiB, .*\(store-reserve\).* free after compaction; then defragment/,
      )
    }
    expect((await sizes()).file).toBeLessThan(QUOTA - 16 * MIB)
    expect((await svc.post('/ns/instance', { ...INSTANCE, port: 81 })).status).toBe(200)
    // Their history is cut with each deletion, so most records are gone.
    for (let i = 0; i < items; i++) {
      const gone = await svc.delete('/cs/configs', { ...ITEM, dataId: `item-${i}` })
      expect(gone.status, gone.text).toBe(200)
    }
    expect((await client.get('/readyz')).json()).toMatchObject({
      ready: true,
      warnings: [{ code: 'store-full' }],
    })
    await makeSpace()
    await until(
      () => publish('x'),
      ({ status }) => status === 200,
      WITHIN_MS,
    )
  })

  test('with the alarm, reads, lists, beats and polls go on, and all pages say what to do', async () => {
    // On a slow machine it may have expired since: a beat alone must do now.
    expect((await svc.post('/ns/instance', { ...INSTANCE, metadata: PATIENT })).status).toBe(200)
    let refusal: Record<string, unknown> = {}
    for (let i = 0; i < MOST_TRIES && refusal['code'] === undefined; i++)
      refusal = await ask('/kv/put', { key: base64(`other/${i}`), value: base64(large(MIB)) })
    expect(JSON.stringify(refusal)).toContain('database space exceeded')
    // The first request of each kind already, whether the server has looked at etcd since or not.
    for (const refused of [
      await svc.post('/ns/instance', { ...INSTANCE, port: 83 }),
      await svc.delete('/cs/configs', ITEM),
      // It was refused without a question before: the first refusal has the server look at etcd again.
      await until(
        () => publish('other'),
        ({ text }) => text.includes('NOSPACE'),
      ),
    ])
      expect([refused.status, refused.text]).toEqual([507, expect.stringContaining('etcdctl alarm disarm')])
    const grpc = await connectGrpc(server)
    const { body } = await grpc.ask('ConfigPublishRequest', { ...ITEM, content: 'other' })
    expect(body).toMatchObject({ success: false, message: expect.stringContaining('NOSPACE') as string })
    await grpc.close()
    for (const answer of [
      await svc.get('/ns/instance/list', { serviceName: 'S' }),
      await svc.get('/cs/configs', ITEM),
      await client.put('/nacos/v1/ns/instance/beat', { ...INSTANCE, beat: JSON.stringify(INSTANCE) }),
      await client.post(
        '/nacos/v1/cs/configs/listener',
        { 'Listening-Configs': 'none\u0002G\u0002\u0001' },
        { 'Long-Pulling-Timeout': '1500' },
      ),
    ])
      expect(answer.status, answer.text).toBe(200)
    const [token, session] = [await signIn('/auth/login'), await signIn('/console/session')]
    expect([token.status, token.text]).toEqual([200, expect.stringContaining('accessToken')])
    expect([session.status, session.text]).toEqual([507, expect.stringContaining('etcdctl alarm disarm')])
    const ready = await client.get('/readyz')
    expect(ready.status).toBe(200)
    expect(ready.text).toContain('NOSPACE')
    const overview = await svc.get('/console/overview')
    expect(overview.text).toContain('NOSPACE')
    expect(server.output()).toMatch(/the store has no room.*|NOSPACE/)
  })

  test('a server that is started waits, and both continue by themselves when an operator has made space', async () => {
    let hasStarted = false
    const starting = start(ALARM_START_MS).finally(() => (hasStarted = true))
    starting.catch(() => undefined)
    await sleep(WAITS_MS)
    expect(hasStarted).toBe(false)
    await ask('/kv/deleterange', { key: base64('other/'), range_end: base64('other0') })
    await makeSpace()
    await until(
      () => publish('after'),
      ({ status }) => status === 200,
      WITHIN_MS,
    )
    const again = await until(
      () => svc.post('/ns/instance', { ...INSTANCE, port: 83 }),
      ({ status }) => status === 200,
    )
    expect(again.status).toBe(200)
    await until(
      () => client.get('/readyz'),
      ({ text }) => text === '{"ready":true}',
    )
    const second = await starting
    expect(second.output()).toContain('the start waits until its alarm NOSPACE is lifted')
    expect((await signIn('/console/session')).status).toBe(200)
    expect(await second.stop()).toBe(0)
  })
})
