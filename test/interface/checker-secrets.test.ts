import { createHash, generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeSession, fakeMysql, greeting, OK, refusal, switchTo } from '../probes/fake-mysql.ts'
import { type Client, hostsOf, type Json, serverForThisFile, unique, until } from './client.ts'
import { expectProblem } from './problem.ts'
import { apiDocument } from '../../src/server/doors/api-document.ts'

const waypost = serverForThisFile({ settings: { 'log-level': 'trace' } })
const SECRET = 'secret-of-a-header'
const PASSWORD = 'secret-of-a-user'
const VERDICT_MS = 30_000

/** The headers of each probe by path, and the proofs of each sign-in by user. */
const asked = new Map<string, IncomingHttpHeaders[]>()
const signedIn = new Map<string, boolean[]>()
const http = createServer(({ url, headers }, response) => {
  asked.set(url!, [...(asked.get(url!) ?? []), headers])
  response.writeHead(200).end()
})
let mysql: Awaited<ReturnType<typeof fakeMysql>>
let httpPort = 0

beforeAll(async () => {
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
  httpPort = (http.address() as AddressInfo).port
  mysql = await fakeMysql(signIn)
  const quick = JSON.stringify({ max: 2_000, min: 500, factor: 0 })
  for (const entry of ['httpHealthParams', 'mysqlHealthParams'])
    expect((await waypost.svc.put('/ns/operator/switches', { entry, value: quick })).text).toBe('ok')
})

afterAll(() => {
  http.close()
  mysql.close()
})

async function signIn(session: FakeSession): Promise<void> {
  session.send(greeting(session.scramble, { method: 'mysql_native_password' }))
  const answer = await session.next()
  const end = answer.indexOf(0, 32)
  const user = answer.subarray(32, end).toString()
  const proof = answer.subarray(end + 2, end + 2 + answer[end + 1]!)
  const isRight = proof.equals(proofOf(PASSWORD, session.scramble))
  signedIn.set(user, [...(signedIn.get(user) ?? []), isRight])
  if (!isRight) return session.send(refusal(1045, 'Access denied'))
  await session.accept()
}

function proofOf(password: string, scramble: Buffer): Buffer {
  const sha1 = (...parts: Uint8Array[]): Buffer =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha1')).digest()
  const once = sha1(Buffer.from(password))
  const mask = sha1(scramble, sha1(once))
  return Buffer.from(once.map((byte, i) => byte ^ mask[i]!))
}

async function serviceWith(checker: object, port: number): Promise<{ serviceName: string }> {
  const serviceName = unique('checked')
  expect((await waypost.svc.post('/ns/service', { serviceName })).text).toBe('ok')
  await save(waypost.svc, serviceName, checker)
  await waypost.svc.post('/ns/instance', { serviceName, ip: '127.0.0.1', port, ephemeral: false })
  return { serviceName }
}

function send(client: Client, serviceName: string, checker: object) {
  const cluster = { clusterName: 'DEFAULT', checkPort: 80, useInstancePort4Check: true }
  return client.put('/ns/cluster', { serviceName, ...cluster, healthChecker: JSON.stringify(checker) })
}

async function save(client: Client, serviceName: string, checker: object): Promise<void> {
  const answer = await send(client, serviceName, checker)
  expect(answer.text, answer.text).toBe('ok')
}

/** All answers that show the checker of a service. */
function views(serviceName: string): [string, () => Promise<Json>][] {
  const nacos = async (version: string, path: string): Promise<Json> => {
    const response = await fetch(`${waypost.server.url}/nacos/${version}${path}?serviceName=${serviceName}`)
    return await response.json()
  }
  const svc = async (path: string) => (await waypost.svc.get(path, { serviceName })).json()
  return [
    ['svc service', async () => (await svc('/ns/service')).clusters[0].healthChecker],
    ['svc catalog', async () => (await svc('/ns/catalog/service')).clusters[0].healthChecker],
    ['v1 service', async () => (await nacos('v1', '/ns/service')).clusters[0].healthChecker],
    ['v1 catalog', async () => (await nacos('v1', '/ns/catalog/service')).clusters[0].healthChecker],
    ['v2 service', async () => (await nacos('v2', '/ns/service')).data.clusterMap.DEFAULT.healthChecker],
  ]
}

describe.each(['svc', 'nacos'] as const)('a checker that is read and written back under /%s', (dialect) => {
  test('sends the same headers', async () => {
    const path = `/${unique('up')}`
    const headers = `X-Token:${SECRET}|x-plain:1`
    const checker = { type: 'HTTP', path, headers, expectedResponseCode: 200 }
    const { serviceName } = await serviceWith(checker, httpPort)
    for (const [name, read] of views(serviceName)) {
      const shown = await read()
      expect(shown, name).toEqual({ ...checker, headers: 'X-Token|x-plain' })
      await save(waypost[dialect], serviceName, shown)
    }
    const known = asked.get(path)?.length ?? 0
    await expect.poll(() => asked.get(path)?.length ?? 0, { timeout: VERDICT_MS }).toBeGreaterThan(known)
    expect(asked.get(path)!.at(-1)).toMatchObject({ 'x-token': SECRET, 'x-plain': '1' })
  })

  test('signs in with the same password', async () => {
    const user = unique('u')
    const checker = { type: 'MYSQL', user, pwd: PASSWORD, cmd: 'select 1' }
    const { serviceName } = await serviceWith(checker, mysql.port)
    for (const [name, read] of views(serviceName)) {
      const shown = await read()
      expect(shown, name).toEqual({ type: 'MYSQL', user, cmd: 'select 1' })
      await save(waypost[dialect], serviceName, shown)
    }
    const known = signedIn.get(user)?.length ?? 0
    await expect.poll(() => signedIn.get(user)?.length ?? 0, { timeout: VERDICT_MS }).toBeGreaterThan(known)
    expect(signedIn.get(user)!.at(-1)).toBe(true)
    expect(await hostsOf(waypost.svc, { serviceName })).toMatchObject([{ healthy: true }])
  })

  test('loses its secrets if they would go elsewhere', async () => {
    const [path, user] = [`/${unique('up')}`, unique('u')]
    const { serviceName } = await serviceWith(
      { type: 'HTTP', path: '/', headers: `x-token:${SECRET}`, expectedResponseCode: 200 },
      httpPort,
    )
    const answer = await send(waypost[dialect], serviceName, { type: 'HTTP', path, headers: 'x-token' })
    expect(answer.status).toBe(400)
    await save(waypost[dialect], serviceName, { type: 'HTTP', path, headers: 'x-token:' })
    await expect.poll(() => asked.get(path)?.length ?? 0, { timeout: VERDICT_MS }).toBeGreaterThan(0)
    expect(asked.get(path)![0]).toMatchObject({ 'x-token': '' })

    const other = await serviceWith({ type: 'MYSQL', user: 'first', pwd: PASSWORD, cmd: '' }, mysql.port)
    await save(waypost[dialect], other.serviceName, { type: 'MYSQL', user, cmd: '' })
    await expect.poll(() => signedIn.get(user)?.length ?? 0, { timeout: VERDICT_MS }).toBeGreaterThan(0)
    expect(signedIn.get(user)).not.toContain(true)
  })
})

test('the public key of a checker is shown, and must be one', async () => {
  const { serviceName } = await serviceWith({ type: 'TCP' }, httpPort)
  const { publicKey: pair } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = pair.export({ type: 'spki', format: 'pem' }).toString().trim()
  const checker = { type: 'MYSQL', user: 'u', cmd: '' }
  await save(waypost.svc, serviceName, { ...checker, pwd: PASSWORD, publicKey: key })
  for (const [name, read] of views(serviceName))
    expect(await read(), name).toEqual({ ...checker, publicKey: key })
  for (const publicKey of ['x', key.replaceAll('PUBLIC', 'PRIVATE'), key.slice(0, 200), 7])
    expectProblem(
      await send(waypost.svc, serviceName, { ...checker, publicKey }),
      400,
      'healthChecker.publicKey',
    )
  expectProblem(await send(waypost.svc, serviceName, { ...checker, ca: key }), 400, 'healthChecker.ca')
})

test('an instance whose MySQL asks for the password itself is healthy, with the reason, and does not get it', async () => {
  const curious = await fakeMysql(async (session) => {
    session.send(greeting(session.scramble))
    await session.next()
    session.send(switchTo('mysql_clear_password', session.scramble))
  })
  const checker = { type: 'MYSQL', user: 'u', pwd: PASSWORD, cmd: '' }
  const { serviceName } = await serviceWith(checker, curious.port)
  const query = { namespaceId: 'public', serviceName, pageNo: 1, pageSize: 10 }
  const shown = await until(
    async () => (await waypost.svc.get('/console/instances', query)).json().pageItems[0],
    ({ health }) => health.check !== null,
    VERDICT_MS,
  )
  expect(shown).toMatchObject({
    healthy: true,
    health: { check: { up: true, text: expect.stringContaining('asks for the password itself') } },
  })
  expect(curious.received().includes(PASSWORD)).toBe(false)
  curious.close()
})

test('an answer and a truncated error in one segment do not end the server', async () => {
  const odd = await fakeMysql(async (session) => {
    session.send(greeting(session.scramble, { method: 'mysql_native_password' }))
    await session.next()
    session.send(OK)
    await session.next()
    session.send(OK, Buffer.of(0xff))
  })
  const { serviceName } = await serviceWith({ type: 'MYSQL', user: 'u', pwd: 'p', cmd: '' }, odd.port)
  await expect.poll(() => odd.received().includes('SELECT 1'), { timeout: VERDICT_MS }).toBe(true)
  await until(
    () => hostsOf(waypost.svc, { serviceName }),
    ([host]) => host?.healthy === true,
    VERDICT_MS,
  )
  odd.close()
})

test('no answer to a GET, no event and no line of the log has a secret', async () => {
  const namespaceId = 'public'
  const { serviceName } = await serviceWith(
    { type: 'HTTP', path: '/', headers: `x-token:${SECRET}`, expectedResponseCode: 204 },
    httpPort,
  )
  const wrong = { type: 'MYSQL', user: 'nobody', pwd: `${PASSWORD}2`, cmd: '' }
  const other = await serviceWith(wrong, mysql.port)
  for (const one of [serviceName, other.serviceName])
    await until(
      () => hostsOf(waypost.svc, { serviceName: one }),
      ([host]) => host?.healthy === false,
      VERDICT_MS,
    )
  const answers = readsOfApi().map(async (path) => {
    const texts = [serviceName, other.serviceName].map((name) =>
      read(path, { namespaceId, serviceName: name }),
    )
    expect((await Promise.all(texts)).join(), path).not.toContain('secret-of')
  })
  await save(waypost.svc, serviceName, {
    type: 'HTTP',
    path: '/',
    headers: 'x-token',
    expectedResponseCode: 205,
  })
  expect(answers.length).toBeGreaterThan(70)
  await Promise.all(answers)
  expect(waypost.server.output()).not.toContain('secret-of')
}, 60_000)

function readsOfApi(): string[] {
  const { paths } = JSON.parse(apiDocument()) as Json
  return Object.keys(paths).filter((path) => 'get' in paths[path])
}

/** The bytes that come within a second; streams of events do not end. */
async function read(path: string, names: { namespaceId: string; serviceName: string }): Promise<string> {
  const address = { ip: '127.0.0.1', port: String(httpPort), cluster: 'DEFAULT', clusterName: 'DEFAULT' }
  const query = new URLSearchParams({
    ...names,
    ...address,
    dom: names.serviceName,
    pageNo: '1',
    pageSize: '10',
  })
  let text = ''
  try {
    const signal = AbortSignal.timeout(1_000)
    const response = await fetch(`${waypost.server.url}${path}?${query}`, { signal })
    for await (const chunk of response.body!) text += Buffer.from(chunk).toString()
  } catch {
    // The end of the second, or of the connection.
  }
  return text
}
