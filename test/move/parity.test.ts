/** `waypost parity`: what two servers have, side by side, and what clients read from both. */
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { KNOWN_DIFFERENCES } from '../../src/move/parity/known-differences.ts'
import { type Client, clientsOf, type Json } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { runWaypost, startWaypost, type Waypost } from '../support/waypost.ts'
import { ReplayOfRecordedAnswers, type RecordedVersion } from './replay-of-recorded-answers.ts'

const PASSWORDS = { WAYPOST_FROM_PASSWORD: 'secret', WAYPOST_PASSWORD: 'secret' }
const LIMIT_MS = 90_000
const QUICK = ['--settle', '0', '--rate', '10000']

interface Compared {
  readonly code: number | null
  readonly json: Json
}

async function parity(old: string, other: string, ...more: readonly string[]): Promise<Compared> {
  const args = ['parity', '--old', old, '--new', other, ...QUICK, ...more, '--output', 'json']
  const { code, stdout } = await runWaypost(args, PASSWORDS, LIMIT_MS)
  return { code, json: JSON.parse(stdout) }
}

/** The differences, in a line each. */
const linesOf = ({ json }: Compared): string[] =>
  json.differences.map(({ kind, name, only, field, old, new: other }: Json) =>
    only === undefined ? `${kind} ${name}: ${field}: ${old}, ${other}` : `only ${only}: ${kind} ${name}`,
  )

async function move(from: string, to: string): Promise<void> {
  const env = { WAYPOST_ACCESS_TOKEN: await tokenOf(to) }
  const made = await runWaypost(['move', '--from', from, '--to', to, '--rate', '10000'], env, LIMIT_MS)
  // The plan says what an account may not see, or what was not recorded.
  expect(made).toMatchObject({ code: expect.toBeOneOf([0, 1]) })
  expect(made.stdout).toContain(' 0 refused\n')
}

async function tokenOf(url: string): Promise<string> {
  const client = clientsOf(url).nacos
  const { accessToken } = (await client.post('/auth/login', { username: 'nacos', password: 'secret' })).json()
  client.close()
  return accessToken
}

describe('two servers of this kind', () => {
  let source: Waypost
  let target: ManagedWaypost
  let old: Client
  beforeAll(async () => {
    source = await startWaypost()
    target = await startManaged()
    old = clientsOf(source.url).nacos
    const namespace = { customNamespaceId: 'dev', namespaceName: 'Dev', namespaceDesc: 'd' }
    await old.post('/console/namespaces', namespace)
    const publish = (index: number) =>
      old.post('/cs/configs', {
        ...(index % 2 === 0 && { tenant: 'dev' }),
        group: 'Größe',
        dataId: `日本-${index}.yml`,
        content: `ключ: ⚙ ${index}\r\n`,
        type: 'yaml',
        config_tags: 'x,y',
      })
    await Promise.all(Array.from({ length: 20 }, (_, index) => publish(index)))
    // Otherwise the probes of each server find the instance ill at times of their own.
    await old.put('/ns/operator/switches', { entry: 'healthCheckEnabled', value: 'false' })
    const service = { namespaceId: 'dev', serviceName: 'db', groupName: 'G', protectThreshold: 0.5 }
    await old.post('/ns/service', { ...service, metadata: '{"a":"b"}' })
    const instance = { namespaceId: 'dev', serviceName: 'G@@db', clusterName: 'c', ip: '10.0.0.1' }
    await old.post('/ns/instance', { ...instance, port: 80, ephemeral: false, weight: 2.5 })
    await old.post('/ns/instance', { ...instance, ip: '10.0.0.2', port: 81 })
    await move(source.url, target.waypost.url)
  })
  afterAll(async () => {
    old?.close()
    await source?.stop()
    await target?.waypost.stop()
  })
  const compared = (...more: readonly string[]) =>
    parity(source.url, target.waypost.url, '--new-username', 'nacos', ...more)

  test('are equal after a move, but that one of them asks for a sign-in', async () => {
    // The old one does not show its users: that the new one has some is no difference.
    const found = await compared()
    expect(found.json.notCompared).toContainEqual(expect.objectContaining({ about: 'user (old)' }))
    const left = { about: 'instance (old)', reason: expect.stringMatching(/^1 of dev\/G@@db: /) }
    expect(found.json.notCompared).toContainEqual(expect.objectContaining(left))
    expect(linesOf(found)).toEqual([expect.stringMatching(/^read without sign-in .*: status: 200, 403$/)])
    expect(found.code).toBe(1)
    expect(found.json.notFoundOut).toEqual([])
    const counts = Object.fromEntries(found.json.counts.map((row: Json) => [row.kind, [row.old, row.new]]))
    expect(counts).toMatchObject({
      namespace: [1, 1],
      config: [20, 20],
      service: [1, 1],
      instance: [1, 1],
      'read of a configuration': [20, 20],
      listener: [20, 20],
      'list of instances': [1, 1],
    })
  })

  test('a server and itself are equal: exit code 0', async () => {
    const args = ['parity', '--old', source.url, '--new', source.url, '--ephemeral', ...QUICK]
    const { code, stdout } = await runWaypost(args, {}, LIMIT_MS)
    expect(code).toBe(0)
    expect(stdout).toMatch(/ 20 +20 +0 {2}config\n/)
    expect(stdout).toContain('concerns you: A service may hold ephemeral and persistent instances at once.')
    expect(stdout).toMatch(/\nequal\n$/)
  })

  test('each thing and each note that differs has a line', async () => {
    const ask = (method: string, path: string, form: Record<string, string>) =>
      target.ask(method, `/nacos/v1${path}`, form)
    const item = { group: 'Größe', type: 'yaml' }
    await ask('POST', '/cs/configs', { ...item, dataId: '日本-1.yml', content: 'other' })
    await ask('POST', '/cs/configs', {
      ...item,
      dataId: '日本-3.yml',
      content: 'ключ: ⚙ 3\r\n',
      desc: 'new',
    })
    await ask('POST', '/cs/configs', { ...item, dataId: 'only-here', content: 'x' })
    await ask('DELETE', `/cs/configs?${new URLSearchParams({ group: 'Größe', dataId: '日本-5.yml' })}`, {})
    await ask('PUT', '/console/namespaces', {
      namespace: 'dev',
      namespaceShowName: 'Other',
      namespaceDesc: 'd',
    })
    await ask('PUT', '/ns/service', {
      namespaceId: 'dev',
      serviceName: 'db',
      groupName: 'G',
      protectThreshold: '0.7',
    })
    await ask('PUT', '/ns/instance', {
      namespaceId: 'dev',
      serviceName: 'G@@db',
      clusterName: 'c',
      ip: '10.0.0.1',
      port: '80',
      ephemeral: 'false',
      weight: '3',
    })
    const found = await compared('--skip', 'user,role,permission')
    expect(found).toMatchObject({ code: 1, json: { result: 'differs', notFoundOut: [] } })
    const lines = linesOf(found)
    expect(lines).toEqual(
      expect.arrayContaining([
        'namespace dev: name: Dev, Other',
        'config public/Größe/日本-3.yml: desc: , new',
        'only new: config public/Größe/only-here',
        'only old: config public/Größe/日本-5.yml',
        expect.stringMatching(/^service dev\/G@@db: protectThreshold: 0.5, 0.7$/),
        'instance dev/G@@db 10.0.0.1:80#c: weight: 2.5, 3',
      ]),
    )
    const ofChanged = lines.filter((line) => line.includes('日本-1.yml') && !line.includes('sign-in'))
    expect(ofChanged).toEqual([
      expect.stringMatching(/^config .*: content: \S{32}, \S{32}$/),
      expect.stringMatching(/^config .*: md5: \S{32}, \S{32}$/),
      expect.stringMatching(/^read of a configuration .*: content: /),
      expect.stringMatching(/^read of a configuration .*: content-md5: /),
    ])
    expect(lines.filter((line) => line.startsWith('list of instances'))).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('listener'))).toEqual([])
  })

  test('a wrong word or number of a flag is named, and so is a server that is none', async () => {
    const failing = async (...more: readonly string[]) => {
      const args = ['parity', '--old', source.url, '--new', source.url, ...more]
      const { code, stderr } = await runWaypost(args)
      expect(code).toBe(2)
      return stderr
    }
    expect(await failing('--skip', 'configs')).toContain('--skip takes namespace, switch, ')
    expect(await failing('--settle', 'soon')).toContain('--settle must be seconds from 0 to 3600')
    expect(await failing('--rate', '0')).toContain('--rate must be from 1 to 10000')
    expect(await failing('--new', 'http://127.0.0.1:1')).toMatch(/has no answer after 4 tries/)
  })
})

test('an account signs in on both, and a wrong password on none', async () => {
  const [one, two] = await Promise.all([startManaged(), startManaged()])
  const ann = (password: string) => ({ username: 'ann', password, permissions: { 'dev:*:*': 'r' } as const })
  try {
    await one.addUser(ann('secret'))
    await two.addUser(ann('other'))
    const { url } = two.waypost
    const equal = await parity(one.waypost.url, url, '--username', 'nacos')
    expect(equal).toMatchObject({ code: 0, json: { result: 'equal', differences: [] } })
    const counts = equal.json.counts.filter(({ kind }: Json) => kind === 'user' || kind === 'sign-in')
    expect(counts).toMatchObject([{ old: 2 }, { old: 2 }])
    await one.ask('POST', '/svc/v1/auth/roles', { username: 'ann', role: 'ROLE_ADMIN' })
    const other = await parity(one.waypost.url, url, '--username', 'ann', '--new-username', 'nacos')
    expect(linesOf(other)).toEqual([
      'only old: role ann ROLE_ADMIN',
      'sign-in ann: status: 200, 403',
      'sign-in ann: token: yes, no',
    ])
  } finally {
    await Promise.all([one.waypost.stop(), two.waypost.stop()])
  }
})

describe('a Java server, whose answers are replayed, and the server that has moved from it', () => {
  const running: { stop(): Promise<unknown> }[] = []
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()))
  })
  async function moved(version: RecordedVersion): Promise<{ replay: ReplayOfRecordedAnswers; url: string }> {
    const replay = await ReplayOfRecordedAnswers.start(version)
    running.push(replay)
    const { waypost } = await startManaged()
    running.push(waypost)
    await move(replay.url, waypost.url)
    replay.instead.set('/v1/cs/configs/listener', (_, body) => ({
      status: 200,
      body: body.includes('%0000000') || body.includes('00000000') ? 'sh.x%02G%01\n' : '',
    }))
    return { replay, url: waypost.url }
  }
  const read = (old: string, other: string) =>
    parity(old, other, '--new-username', 'nacos', '--skip', 'user,role,permission,switch,gray')

  const asksForSignIn = 'read without sign-in public/G/sh.x: status: 200, 403'

  test.each(['1.4.8', '2.5.1'] as const)(
    '%s: who gets the beta version of an item reads and listens to the same',
    async (version) => {
      const { replay, url } = await moved(version)
      const found = await read(replay.url, url)
      expect(linesOf(found)).toEqual([asksForSignIn])
      expect(found.json.old).toMatchObject({ kind: `java-${version[0]}`, version })
      expect(found.json.counts).toContainEqual({ kind: 'listener', old: 1, new: 1, differences: 0 })
      // The services are in the list, and their details were not recorded.
      expect(found.json.notFoundOut).toMatchObject([{ about: 'service (old)' }, { about: 'service (old)' }])
      expect(found.json.concerns).toContainEqual({
        text: 'Deleting an item ends its gray versions',
        concerns: 'yes',
        because: '1 gray versions are there',
      })
    },
  )

  test('3.0.3: clients read by the interface of generation 3, and listen over gRPC', async () => {
    const { replay, url } = await moved('3.0.3-admin')
    replay.instead.set('/v3/client/ns/instance/list', () => ({ status: 200, body: '{"code":0,"data":[]}' }))
    const found = await read(replay.url, url)
    expect(linesOf(found)).toEqual([asksForSignIn])
    expect(found.json.counts.map(({ kind }: Json) => kind)).not.toContain('listener')
  })

  test('a listener that tells changes of what has not changed is found', async () => {
    const { replay, url } = await moved('1.4.8')
    replay.instead.set('/v1/cs/configs/listener', () => ({ status: 200, body: 'sh.x%02G%02%01' }))
    expect(linesOf(await read(replay.url, url))).toContain(
      'listener public/G/sh.x: with the right md5: changed, unchanged',
    )
    replay.instead.set('/v1/cs/configs/listener', () => ({ status: 400, body: 'no' }))
    const found = await read(replay.url, url)
    expect(found.json.notFoundOut).toContainEqual(
      expect.objectContaining({
        about: 'listener',
        reason: expect.stringMatching(/listener answers 400: no$/),
      }),
    )
  })
})

test('each difference of docs/compatibility.md is known to the command, and no other', () => {
  const document = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8')
  const part = (heading: string) => document.split(`\n${heading}\n`)[1]!.split(/\n#+ /)[0]!
  const rows = [...part('## Not yet').matchAll(/^\| (.*?) +\|/gm)].map(([, cell]) => cell!)
  const points = part('## Differences from Nacos')
    .split(/^- /m)
    .slice(1)
    .map((point) => point.replaceAll(/\s+/g, ' '))
  const missing = [...rows.slice(2), ...points].filter(
    (words) => !KNOWN_DIFFERENCES.some(({ text }) => words.startsWith(text)),
  )
  expect(missing).toEqual([])
  const all = [...rows, ...points]
  expect(KNOWN_DIFFERENCES.filter(({ text }) => !all.some((words) => words.startsWith(text)))).toEqual([])
})
