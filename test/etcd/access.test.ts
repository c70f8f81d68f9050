/** TLS to etcd, and users of etcd: the client, and whole servers. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '@waypost/etcd-client/clock'
import { connectTo, type EtcdAccess } from '@waypost/etcd-client/connection'
import { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { Txn } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { Authority } from '../support/certificates.ts'
import { describeOnEtcd, ETCD_HOOK_MS, etcdTools, startEtcd, type Etcd } from '../support/etcd.ts'
import { needTool } from '../support/need-tool.ts'
import { runWaypost, startWaypost, temporaryDirectory, freePort } from '../support/waypost.ts'
import { changePassword, turnOnAuth } from './etcd-users.ts'
import { recordWatch } from './watch-record.ts'

const openssl = needTool('openssl')
const skip = etcdTools.skip || openssl.skip
const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''
const TEST_MS = 120_000
/** Time limits that busy machines keep too. */
const LIMITS = { callMs: 20_000, attemptMs: 5_000 }

const PREFIX = 'waypost/'
const PASSWORD = 'a secret of etcd'
const put = (key: string): Txn => ({ compare: [], success: [{ do: 'put', key, value: Buffer.from('v') }] })

const clients: EtcdClient[] = []
afterEach(() => clients.splice(0).forEach((client) => client.close()))

function clientOf(
  endpoints: readonly string[],
  access: EtcdAccess,
  { refused, limits = LIMITS }: { refused?: (error: EtcdError) => void; limits?: typeof LIMITS } = {},
): EtcdClient {
  const client = new EtcdClient({
    endpoints,
    clock: systemClock,
    random: () => 0,
    open: connectTo(systemClock, access),
    limits,
    proofKey: `${PREFIX}format`,
    ...(refused && { refused }),
  })
  clients.push(client)
  return client
}

/** Why a start with this access fails. */
async function failure(endpoint: string, access: EtcdAccess): Promise<string> {
  const client = clientOf([endpoint], access)
  const error = await client.checkVersions().then(
    () => undefined,
    (reason: unknown) => reason as EtcdError,
  )
  return error === undefined ? 'none' : `${error.kind}: ${error.message}`
}

describe.skipIf(skip)(`etcd that asks for certificates${note}`, { timeout: TEST_MS }, () => {
  let authority: Authority
  let stranger: Authority
  let etcd: Etcd
  beforeAll(async () => {
    authority = new Authority()
    stranger = new Authority()
    etcd = await startEtcd({ tls: { ...authority.forServer(), clientCa: authority.caFile } })
  }, ETCD_HOOK_MS)
  afterAll(() => etcd?.stop())

  test('is used by a client with a certificate, and its files are read again for each connection', async () => {
    const directory = temporaryDirectory('renewed-')
    const tls = { ca: join(directory, 'ca'), cert: join(directory, 'cert'), key: join(directory, 'key') }
    const use = (files: { cert: string; key: string }): void => {
      copyFileSync(files.cert, tls.cert)
      copyFileSync(files.key, tls.key)
    }
    copyFileSync(authority.caFile, tls.ca)
    use(authority.forUser('server'))
    const refusals: string[] = []
    const client = clientOf(etcd.endpoints, { tls }, { refused: ({ message }) => refusals.push(message) })
    const first = await client.txn(put('t/1'))
    // The present connection stays. The next one is refused, and the one after that is not.
    use(stranger.forUser('server'))
    await client.txn(put('t/2'))
    await etcd.members[0]!.restart()
    const renewed = client.range({ key: 't/1' })
    await expect.poll(() => refusals.length, { timeout: TEST_MS }).toBeGreaterThan(0)
    use(authority.forUser('server'))
    expect((await renewed).kvs[0]!.modRevision).toBe(first.revision)
  })

  test('refuses a client without a certificate, or with that of another authority', async () => {
    const { caFile: ca } = authority
    expect(await failure(etcd.endpoints[0]!, { tls: { ca } })).toMatch(/^untrusted: .*etcd-cert and etcd-key/)
    expect(await failure(etcd.endpoints[0]!, { tls: { ca, ...stranger.forUser('x') } })).toMatch(
      /^untrusted: .*refuses the certificate of etcd-cert/,
    )
    expect(await failure(etcd.endpoints[0]!, { tls: { ca, ...authority.expired() } })).toMatch(
      /^untrusted: the certificate of etcd-cert has expired/,
    )
  })

  test('starts a whole server; a wrong authority ends the start and says so', async () => {
    const { cert, key } = authority.forUser('server')
    const settings = {
      store: 'etcd',
      'etcd-endpoints': etcd.endpoints.join(','),
      'etcd-prefix': 'whole',
      'etcd-ca': authority.caFile,
      'etcd-cert': cert,
      'etcd-key': key,
      'peer-port': await freePort(),
    }
    const server = await startWaypost({ settings })
    const body = new URLSearchParams({ dataId: 'a', group: 'g', content: 'over TLS' })
    const answer = await fetch(`${server.url}/svc/v1/cs/configs`, { method: 'POST', body })
    expect(answer.status).toBe(200)
    await server.stop()
    const flags = Object.entries({ ...settings, 'etcd-ca': stranger.caFile, port: await freePort() })
    const { code, stderr } = await runWaypost([
      'start',
      ...flags.map(([name, value]) => `--${name}=${value}`),
    ])
    expect(code).toBe(1)
    expect(stderr).toContain('its certificate is not signed by an authority of etcd-ca')
  })
})

describe.skipIf(openssl.skip)('certificates that are wrong', { timeout: TEST_MS }, () => {
  /** A server with this certificate that never answers. */
  async function failureWith(files: { cert: string; key: string }, access: EtcdAccess): Promise<string> {
    const server = createSecureServer({ cert: readFileSync(files.cert), key: readFileSync(files.key) })
    server.on('sessionError', () => {}).on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      return await failure(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, access)
    } finally {
      server.close()
    }
  }

  test('are each told apart', async () => {
    const authority = new Authority()
    const tls = { ca: authority.caFile }
    const good = authority.forServer()
    expect(await failureWith(authority.forOtherServer(), { tls })).toMatch(/^untrusted: .*for other names/)
    expect(await failureWith(authority.expired(), { tls })).toMatch(
      /^untrusted: .*its certificate has expired/,
    )
    expect(await failureWith(new Authority().forServer(), { tls })).toMatch(
      /^untrusted: .*authority of etcd-ca/,
    )
    expect(await failureWith(good, {})).toMatch(/^untrusted: .*authority of etcd-ca/)
    expect(await failureWith(good, { tls: { ca: '/nowhere' } })).toMatch(
      /^untrusted: the file of etcd-ca cannot be read/,
    )
    expect(await failureWith(good, { tls: { ca: good.key } })).toMatch(
      /^untrusted: the file of etcd-ca holds no certificate/,
    )
    const mixed = { ...tls, cert: good.cert, key: authority.forUser('x').key }
    expect(await failureWith(good, { tls: mixed })).toMatch(/^untrusted: .*etcd-key does not belong/)
  })
})

describeOnEtcd('etcd with users', TEST_MS, () => {
  let etcd: Etcd
  beforeAll(async () => {
    etcd = await startEtcd({ flags: { 'auth-token-ttl': '2' } })
    await turnOnAuth(etcd.endpoints[0]!, { user: 'server', password: PASSWORD, prefix: PREFIX })
  }, ETCD_HOOK_MS)
  afterAll(() => etcd?.stop())

  const user = { name: 'server', password: () => PASSWORD }

  test('lets a user in; a token that has ended is replaced, for calls and watches', async () => {
    const client = clientOf(etcd.endpoints, { user })
    const watching = clientOf(etcd.endpoints, { user })
    const { revision: from } = await client.txn(put(`${PREFIX}u/1`))
    const lease = await client.lease(60)
    await watching.range({ key: `${PREFIX}u/1` })
    // etcd forgets tokens that were not used for this time, one or two seconds later.
    await sleep(6_000)
    // The first call after that is a watch.
    const watched = recordWatch(watching, { key: `${PREFIX}u/`, end: prefixEnd(`${PREFIX}u/`), from })
    await watched.until((seen) => seen.revisions.length === 1)
    await client.txn(put(`${PREFIX}u/2`))
    await lease.renew()
    const record = recordWatch(client, { key: `${PREFIX}u/`, end: prefixEnd(`${PREFIX}u/`), from })
    await record.until((seen) => seen.revisions.length === 2)
    await etcd.members[0]!.restart()
    await client.txn(put(`${PREFIX}u/3`))
    await record.until((seen) => seen.revisions.length === 3)
  })

  test('refuses what a user may not, a wrong password, an unknown user, and no user', async () => {
    const refusals: EtcdError[] = []
    const refused = (error: EtcdError): void => void refusals.push(error)
    const client = clientOf(etcd.endpoints, { user }, { refused })
    await expect(client.txn(put('elsewhere'))).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringMatching(/permission denied.*etcd-prefix/),
    })
    expect(refusals.map(({ kind }) => kind)).toEqual(['denied'])
    const [endpoint] = etcd.endpoints as [string]
    const wrong = { name: 'server', password: () => 'wrong' }
    expect(await failure(endpoint, { user: wrong })).toMatch(/^untrusted: .*user server: .*password is wrong/)
    expect(await failure(endpoint, { user: { ...wrong, name: 'nobody' } })).toMatch(
      /^untrusted: .*user nobody: /,
    )
    await expect(clientOf(etcd.endpoints, {}).range({ key: `${PREFIX}u/1` })).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('set etcd-user'),
    })
  })

  test('a whole server and the commands use a user; the password is shown nowhere', async () => {
    const file = join(temporaryDirectory('password-'), 'password')
    writeFileSync(file, `${PASSWORD}\n`)
    const place = { 'etcd-endpoints': etcd.endpoints.join(','), 'etcd-user': 'server' }
    const settings = { store: 'etcd', ...place, 'etcd-password-file': file, 'log-level': 'trace' }
    const server = await startWaypost({ settings: { ...settings, 'peer-port': await freePort() } })
    const flags = Object.entries(place).map(([name, value]) => `--${name}=${value}`)
    const made = await runWaypost(['key', 'rotate', ...flags], { WAYPOST_ETCD_PASSWORD: PASSWORD })
    expect(made).toMatchObject({ code: 0 })
    const listed = await runWaypost(['user', 'list', ...flags, `--etcd-password-file=${file}`])
    expect(listed).toMatchObject({ code: 0 })
    // The password is changed in etcd, and then in the file: the server goes on by itself.
    await changePassword(etcd.endpoints[0]!, 'server', 'another one')
    await etcd.members[0]!.restart()
    await expect
      .poll(() => server.output(), { timeout: TEST_MS })
      .toContain('etcd does not let this server in')
    writeFileSync(file, 'another one')
    await expect
      .poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: TEST_MS })
      .toBe(200)
    await server.stop()
    expect(`${server.output()}${made.stderr}`).not.toMatch(new RegExp(`${PASSWORD}|another one`))
    writeFileSync(file, 'wrong')
    const start = [...flags, `--etcd-password-file=${file}`, '--store=etcd', `--port=${await freePort()}`]
    const { code, stderr } = await runWaypost(['start', ...start])
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the password is wrong'),
    })
  })
})
