/** What people do to an etcd under three servers that run: no server ends, and each says what it has found. */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { clientsOf, type Reply } from '../interface/client.ts'
import { describeOnEtcd, ETCD_HOOK_MS, type Etcd, startEtcd } from '../support/etcd.ts'
import { clientOf } from '../support/etcd-client.ts'
import { seed } from '../faults/fault-run.ts'
import { isNightly } from '../support/nightly.ts'
import { randomFrom } from '../faults/random.ts'
import { sampled } from '../support/sampled.ts'
import {
  freePort,
  MAIN,
  runWaypost,
  startWaypost,
  temporaryDirectory,
  type Waypost,
} from '../support/waypost.ts'

const WAIT = { timeout: 30_000 }
const LARGE = 'x'.repeat(700_000)

let etcd: Etcd
let raw: EtcdClient
let prefixes = 0
const servers: Waypost[] = []

const svc = ({ url }: Waypost) => clientsOf(url).svc
const nacos = ({ url }: Waypost) => clientsOf(url).nacos
const flagsOf = (prefix: string): string[] => [
  `--etcd-endpoints=${etcd.endpoints.join(',')}`,
  `--etcd-prefix=${prefix}`,
]

async function start(prefix: string): Promise<Waypost> {
  const settings = {
    store: 'etcd',
    auth: 'off',
    'etcd-endpoints': etcd.endpoints.join(','),
    'etcd-prefix': prefix,
    'peer-port': await freePort(),
  }
  const server = await startWaypost({ settings })
  servers.push(server)
  return server
}

async function put(key: string, value: string | Uint8Array): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'put', key, value: Buffer.from(value) }] })
}

async function removeBelow(key: string): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'delete', key, end: prefixEnd(key) }] })
}

async function allBelow(prefix: string): Promise<Map<string, Buffer>> {
  const { kvs } = await raw.range({ key: prefix, end: prefixEnd(prefix) })
  return new Map(kvs.map(({ key, value }) => [key, Buffer.from(value)]))
}

const publishAt = (server: Waypost, dataId: string, content: string): Promise<Reply> =>
  svc(server).post('/cs/configs', { dataId, group: 'G', content })
const contentAt = async (server: Waypost, dataId: string): Promise<string> =>
  (await svc(server).get('/cs/configs', { dataId, group: 'G' })).text

const doctor = (prefix: string) => runWaypost(['doctor', '--store', 'etcd', ...flagsOf(prefix)])
const register = (server: Waypost, port: number): Promise<Reply> =>
  nacos(server).post('/ns/instance', { serviceName: 'orders', ip: '10.0.0.9', port })

/** Starts a server, and does not wait for it. */
async function begin(prefix: string): Promise<ChildProcess> {
  const port = await freePort()
  const flags = ['--store=etcd', ...flagsOf(prefix), `--port=${port}`, `--peer-port=${await freePort()}`]
  return spawn(process.execPath, [MAIN, 'start', ...flags], { stdio: 'ignore' })
}

/** The value with some bytes changed, cut off or put before it. */
function damagedOf(value: Buffer, random: () => number): Buffer {
  const copy = Buffer.from(value)
  const at = Math.floor(random() * copy.length)
  if (random() < 0.3) return copy.subarray(0, at)
  if (random() < 0.3) return Buffer.concat([Buffer.from([Math.floor(random() * 256)]), copy])
  for (let n = 0; n < 1 + random() * 4; n++)
    copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256)
  return copy
}

async function taken(work: () => Promise<Reply>): Promise<void> {
  await expect.poll(async () => (await work()).text, WAIT).toMatch(/^(true|ok)$/)
}

/** Three servers with all kinds of keys. */
async function installation(prefix = `hands-${prefixes++}`): Promise<{ prefix: string; all: Waypost[] }> {
  const all = [await start(prefix), await start(prefix), await start(prefix)]
  const [one, two] = all as [Waypost, Waypost]
  await taken(() => publishAt(one, 'a', 'first'))
  await taken(() => publishAt(two, 'a', 'sound'))
  await taken(() => publishAt(one, 'large', LARGE))
  await taken(() =>
    nacos(one).post('/ns/instance', { serviceName: 'orders', ip: '10.0.0.1', port: 80, ephemeral: false }),
  )
  await taken(() => nacos(two).post('/ns/instance', { serviceName: 'orders', ip: '10.0.0.2', port: 80 }))
  const namespace = { namespaceName: 'n', customNamespaceId: 'n' }
  await taken(() => nacos(one).post('/console/namespaces', namespace))
  const password = join(temporaryDirectory('secret-'), 'password')
  writeFileSync(password, 'a good secret\n')
  const made = await runWaypost(
    ['user', 'add', 'ann', '--first', '--password-file', password].concat(flagsOf(prefix)),
  )
  expect(made.stderr).toBe('')
  return { prefix, all }
}

const isAlive = async ({ url }: Waypost): Promise<number> =>
  fetch(`${url}/healthz`).then(
    ({ status }) => status,
    () => 0,
  )

async function warningsAt({ url }: Waypost): Promise<string[]> {
  const body = (await (await fetch(`${url}/readyz`)).json()) as {
    warnings?: { code: string; reason: string }[]
  }
  return (body.warnings ?? []).map(({ code, reason }) => `${code}: ${reason}`)
}

describeOnEtcd('keys of etcd in other hands', 240_000, () => {
  beforeAll(async () => {
    etcd = await startEtcd()
    raw = clientOf(etcd)
  }, ETCD_HOOK_MS)
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.kill()))
  })
  afterAll(async () => {
    raw?.close()
    await etcd?.stop()
  })

  /** All servers live, none has a warning, and each takes changes that the others get. */
  async function areWhole(all: readonly Waypost[]): Promise<void> {
    for (const server of all) {
      const dataId = `whole-${prefixes++}`
      await taken(() => publishAt(server, dataId, dataId))
      await taken(() => register(server, 1_000 + prefixes))
      for (const other of all) await expect.poll(() => contentAt(other, dataId), WAIT).toBe(dataId)
    }
    for (const server of all) await expect.poll(() => warningsAt(server), WAIT).toEqual([])
  }

  test('all keys of any one kind are removed: no server ends, and all take changes again', async () => {
    const { prefix, all } = await installation()
    const letters = new Set(
      [...(await allBelow(`${prefix}/`)).keys()].map((key) => key.slice(prefix.length + 1).split('/')[0]!),
    )
    expect(letters.size).toBeGreaterThan(14)
    for (const letter of letters) {
      if (letter === 'format') continue
      await removeBelow(`${prefix}/${letter}${letter === 'e' ? '' : '/'}`)
      await areWhole(all).catch((error: unknown) => {
        throw new Error(`without ${letter}: ${String(error)}`, { cause: error })
      })
    }
    await areWhole([...all, await start(prefix)])
    for (const server of all) expect(await isAlive(server)).toBe(200)
    const { code, stdout } = await doctor(prefix)
    // Records of history without their pages: what was removed is lost.
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^(DAMAGE  history record \d+\n( .*\n)+)+etcd, /),
    ])
  })

  test.each(sampled(['a', '/', 'a//b', 'é', 'k']))(
    'the prefix %j is an installation of its own, and a second server joins it',
    async (prefix) => {
      await start(prefix)
      await start(prefix)
      await areWhole(servers)
      const { code, stdout } = await doctor(prefix)
      expect([code, stdout]).toEqual([0, expect.any(String)])
      await removeBelow(`${prefix}/`)
    },
  )

  test('a layout of a later version ends servers with the reason, and they start again where it is corrected', async () => {
    const { prefix, all } = await installation()
    await put(`${prefix}/format`, '5')
    for (const server of all) {
      await expect.poll(() => isAlive(server), WAIT).toBe(0)
      expect(server.output()).toMatch(
        /The data in etcd has the layout 5 .*knows layout 4.*Use the version that wrote it/,
      )
    }
    await expect(start(prefix)).rejects.toThrow(/has the layout 5/)
    await put(`${prefix}/format`, '4')
    const again = [await start(prefix), await start(prefix)]
    expect(await contentAt(again[0]!, 'a')).toBe('sound')
    await areWhole(again)
  })

  const kinds = isNightly ? 'a key of each kind' : 'a key of each kind besides pieces'
  test(`a random value in ${kinds}: servers live and agree, and a server joins`, async () => {
    const { prefix, all } = await installation()
    const random = randomFrom(seed)
    console.log(`A random value in ${kinds}: FAULT_SEED=${seed}`)
    const isPiece = (key: string): boolean => key.startsWith(`${prefix}/x/`)
    const before = await allBelow(`${prefix}/`)
    for (let round = 0; round < 3; round++)
      for (const [key, value] of before) {
        if (key.endsWith('/format') || (isPiece(key) && !isNightly)) continue
        await put(key, damagedOf(value, random))
      }
    for (const server of all) expect(await isAlive(server)).toBe(200)
    for (const [key, value] of before)
      if (!/\/[pe](\/|$)/.test(key.slice(prefix.length))) await put(key, value)
    // A piece of a content is found by the comparison of each minute, for which only the night waits.
    for (const server of all)
      await expect.poll(() => warningsAt(server), { timeout: 100_000, interval: 500 }).toEqual([])
    await areWhole(all)
    await areWhole([...all, await start(prefix)])
  })

  test('a member that says it has a byte of memory stops no write, and is named', async () => {
    const { prefix, all } = await installation()
    const [, text] = [...(await allBelow(`${prefix}/p/`))][0]!
    const { value, stamp } = JSON.parse(text.toString()) as { value: object; stamp: number }
    const memory = { heapBytes: 1, memoryBytes: 1, contentBytes: 1 }
    const liar = { value: { ...value, port: 9, peerPort: 9, process: 'liar', memory }, stamp }
    const lease = await raw.lease(120)
    const key = `${prefix}/p/127.0.0.1:9`
    const success = [{ do: 'put', key, value: Buffer.from(JSON.stringify(liar)), lease: lease.id } as const]
    await raw.txn({ compare: [], success })
    for (const server of all)
      await expect.poll(() => server.output(), WAIT).toMatch(/127\.0\.0\.1:9.*less memory than the data take/)
    for (const server of all) {
      const dataId = `large-${server.port}`
      await taken(() => publishAt(server, dataId, LARGE))
      await taken(() => register(server, server.port))
      for (const other of all) await expect.poll(() => contentAt(other, dataId), WAIT).toBe(LARGE)
    }
  })

  test('values that are swapped between keys end no server, and can be replaced', async () => {
    const { prefix, all } = await installation()
    await taken(() => publishAt(all[0]!, 'b', 'other'))
    await taken(() => nacos(all[0]!).post('/ns/instance', { serviceName: 'other', ip: '10.0.0.7', port: 70 }))
    const before = await allBelow(`${prefix}/`)
    // With another member's key a server would find its place taken, and stop.
    const letters = ['c', 's', 'i', 'w', 'v', 'r', 'q', 'k', 'a']
    for (const letter of letters) {
      const [one, two] = [...before].filter(([key]) => key.startsWith(`${prefix}/${letter}/`))
      if (two === undefined) continue
      await put(one![0], two[1])
      await put(two[0], one![1])
    }
    for (const server of all) {
      await taken(() => publishAt(server, 'again', `by ${server.port}`))
      expect(await isAlive(server)).toBe(200)
    }
    for (const [key, value] of before) if (!/\/[bp]\//.test(key.slice(prefix.length))) await put(key, value)
    await areWhole(all)
  })

  test('servers that are killed in the middle of a first start leave nothing that stops the next start', async () => {
    for (const wanted of sampled([1, 2, 3, 5, 8, 12])) {
      const prefix = `first-${prefixes++}`
      const children = [await begin(prefix), await begin(prefix)]
      await expect
        .poll(async () => (await allBelow(`${prefix}/`)).size, { timeout: 30_000, interval: 2 })
        .toBeGreaterThanOrEqual(wanted)
      for (const child of children) child.kill('SIGKILL')
      const server = await start(prefix)
      await areWhole([server])
      await server.kill()
    }
  })
})
