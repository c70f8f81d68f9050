/** Several servers with `secrets-key-file`: what etcd has, who can start, rotation, and the tools (docs/cluster.md). */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { clusterForTests } from '../support/cluster.ts'
import { clientOf } from '../support/etcd-client.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { freePort, runWaypost, startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const LIMIT_MS = 90_000
const PASSWORD = 'a password that nobody guesses'

const directory = temporaryDirectory('keys-')
const keyFile = join(directory, 'keys')
const otherFile = join(directory, 'other-keys')

// The servers need their key when they start.
writeFileSync(keyFile, newLine('first'))
writeFileSync(otherFile, newLine('other'))
const cluster = clusterForTests({ servers: 2, settings: { auth: 'on', 'secrets-key-file': keyFile } })
let servers: Waypost[] = []
let etcd: EtcdClient
/** The tools find the data by these, and read the secrets by those. */
let flags: readonly string[]
const keyFlags = ['--secrets-key-file', keyFile]

function newLine(name: string): string {
  return `${name} ${randomBytes(32).toString('base64')}\n`
}

async function send({ url }: Waypost, path: string, form: Record<string, string>): Promise<number> {
  const response = await fetch(`${url}/svc/v1${path}`, { method: 'POST', body: new URLSearchParams(form) })
  await response.arrayBuffer()
  return response.status
}

function signIn(server: Waypost): Promise<number> {
  return send(server, '/auth/login', { username: 'nacos', password: PASSWORD })
}

/** All that etcd has of secrets, by their keys. */
async function secrets(prefix = 'cluster-test'): Promise<Map<string, string>> {
  const ranges = ['r/user/', 'r/signing-key/', 'r/session/'].map((place) => `${prefix}/${place}`)
  const found = new Map<string, string>()
  for (const key of [...ranges, `${prefix}/k/peer-secret`]) {
    const end = key.endsWith('/') ? `${key.slice(0, -1)}0` : `${key}\0`
    const { kvs } = await etcd.range({ key, end })
    for (const kv of kvs) found.set(kv.key, Buffer.from(kv.value).toString())
  }
  return found
}

/** Whether one of the servers has said that all secrets are sealed by the key of this name. */
function isWhole(name: string): boolean {
  const said = new RegExp(`"key":"${name}\\.[0-9a-f]{8}".*all secrets in etcd are sealed`)
  return servers.some((server) => said.test(server.output()))
}

async function sealedBy(name: string): Promise<void> {
  await expect.poll(() => isWhole(name), { timeout: LIMIT_MS }).toBe(true)
  const values = [...(await secrets()).values()]
  expect(values.length).toBeGreaterThanOrEqual(3)
  for (const value of values) expect(value).toMatch(new RegExp(`^sealed:${name}\\.`))
}

describeOnEtcd('servers that seal their secrets', 2 * LIMIT_MS, () => {
  beforeAll(async () => {
    flags = cluster.flags
    servers = [...cluster.servers]
    etcd = clientOf(cluster.etcd)
    const [one] = cluster.servers
    const code = /"code":"([^"]+)"/.exec(one!.output())?.[1] ?? ''
    expect(await send(one!, '/auth/users/admin', { code, password: PASSWORD })).toBe(200)
  }, ETCD_HOOK_MS)

  afterAll(async () => {
    etcd?.close()
    for (const server of servers) await server.kill()
  })

  test('show none in etcd, and sign users in as before', async () => {
    await sealedBy('first')
    for (const server of servers) expect(await signIn(server)).toBe(200)
  })

  test('can be joined and used only with the key', async () => {
    const start = ['start', '--store=etcd', '--auth', ...flags, `--port=${await freePort()}`]
    expect(await runWaypost(start)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /sealed with the key first\.[0-9a-f]{8}\. There is no key here\. Add this key/,
      ) as string,
    })
    expect(await runWaypost([...start, '--secrets-key-file', otherFile])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/The keys here are other\./) as string,
    })
    for (const tool of [
      ['user', 'list'],
      ['doctor', '--store', 'etcd'],
      ['backup', '--to', join(directory, 'none')],
    ]) {
      const { code, stderr } = await runWaypost([...tool, ...flags])
      expect([code, stderr], tool.join(' ')).toEqual([
        2,
        expect.stringContaining('sealed with the key first.'),
      ])
      expect(stderr).not.toContain('    at ')
    }
    const key = readFileSync(keyFile, 'utf8')
    expect(await runWaypost(['user', 'list', ...flags], { WAYPOST_SECRETS_KEYS: key })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nacos') as string,
    })
    expect(await runWaypost(['doctor', '--store', 'etcd', ...flags, ...keyFlags])).toMatchObject({ code: 0 })
  })

  test('are judged by the doctor, which names one that somebody has moved, and one in clear', async () => {
    const user = [...(await secrets())].find(([key]) => key.endsWith('/r/user/nacos'))![1]
    const puts = [
      ['broken/format', '4'],
      ['broken/k/secrets-key', /^sealed:([^:]+)/.exec(user)![1]!],
      ['broken/r/user/ann', user],
      ['broken/r/user/bob', '{"value":{"passwordHash":"h","credentialStamp":1},"stamp":1}'],
    ].map(([key, value]) => ({ do: 'put', key: key!, value: Buffer.from(value!) }) as const)
    await etcd.txn({ compare: [], success: puts })
    const place = ['--etcd-endpoints', cluster.etcd.endpoints.join(','), '--etcd-prefix', 'broken']
    const { code, stdout } = await runWaypost(['doctor', '--store', 'etcd', ...place, ...keyFlags])
    expect(code).toBe(1)
    expect(stdout).toMatch(/broken\/r\/user\/ann[^]*changed or moved/)
    expect(stdout).toMatch(/broken\/r\/user\/bob[^]*not sealed/)
  })

  test('are copied and backed up with the key, and another installation seals with its own', async () => {
    const backup = join(directory, 'backup')
    const copy = join(directory, 'copy')
    expect(await runWaypost(['backup', '--to', backup, ...flags, ...keyFlags])).toMatchObject({ code: 0 })
    const copying = ['copy-store', '--from', 'etcd', '--to', copy, ...flags, ...keyFlags]
    expect(await runWaypost(copying)).toMatchObject({ code: 0 })
    const onDirectory = await startWaypost({ dataDir: copy, settings: { auth: 'on' } })
    expect(await signIn(onDirectory)).toBe(200)
    await onDirectory.stop()
    const other = ['--etcd-endpoints', cluster.etcd.endpoints.join(','), '--etcd-prefix', 'restored']
    const otherKeys = ['--secrets-key-file', otherFile]
    const restoring = ['restore', '--from', backup, '--store', 'etcd', ...other, ...otherKeys]
    expect(await runWaypost(restoring)).toMatchObject({ code: 0 })
    for (const value of (await secrets('restored')).values()) expect(value).toMatch(/^sealed:other\./)
    const restored = await startWaypost({
      settings: {
        store: 'etcd',
        auth: 'on',
        'etcd-endpoints': cluster.etcd.endpoints.join(','),
        'etcd-prefix': 'restored',
        'peer-port': await freePort(),
        'secrets-key-file': otherFile,
      },
    })
    expect(await signIn(restored)).toBe(200)
    await restored.stop()
  })

  test('move to another key one after the other', async () => {
    const [next, first] = [newLine('next'), readFileSync(keyFile, 'utf8')]
    writeFileSync(keyFile, `${next}${first}`)
    for (const [index, server] of servers.entries()) {
      await server.stop()
      servers[index] = await server.restart()
      for (const each of servers) expect(await signIn(each)).toBe(200)
    }
    await sealedBy('next')
    writeFileSync(keyFile, next)
    servers.push(await cluster.join())
    for (const server of servers) expect(await signIn(server)).toBe(200)
  })
})

test('a server with a directory refuses a key that it would not use', async () => {
  writeFileSync(otherFile, newLine('other'))
  const start = ['start', '--data-dir', join(directory, 'data'), '--secrets-key-file', otherFile]
  expect(await runWaypost([...start, `--port=${await freePort()}`])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('secrets-key-file is for store=etcd') as string,
  })
})
