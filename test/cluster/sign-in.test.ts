/** Sign-in over all servers: users, keys and sessions are in etcd (docs/cluster.md). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { runWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const cluster = clusterForTests({ settings: { auth: 'on' } })

/** `call`: method and path, such as `GET /svc/v1/auth/users`. */
async function send(server: Waypost, call: string, form: Record<string, string> = {}) {
  const [method = '', path = ''] = call.split(' ')
  const query = new URLSearchParams(form)
  const url = method === 'GET' ? `${server.url}${path}?${query}` : `${server.url}${path}`
  const response = await fetch(url, { method, ...(method === 'GET' ? {} : { body: query }) })
  const text = await response.text()
  return { status: response.status, text }
}

async function tokenOf(server: Waypost, username: string, password: string): Promise<string> {
  const { text } = await send(server, 'POST /svc/v1/auth/login', { username, password })
  return (JSON.parse(text) as { accessToken: string }).accessToken
}

const users = (server: Waypost, accessToken: string) =>
  send(server, 'GET /svc/v1/auth/users', { pageNo: '1', pageSize: '10', accessToken })

/** The headers that a browser sends to the session of a page of this server. */
async function session(server: Waypost, method: string, { form = {}, cookie = '' } = {}) {
  const headers = { origin: server.url, 'sec-fetch-site': 'same-origin', ...(cookie !== '' && { cookie }) }
  const body = method === 'POST' ? { body: new URLSearchParams(form) } : {}
  const response = await fetch(`${server.url}/svc/v1/console/session`, { method, headers, ...body })
  await response.arrayBuffer()
  return { status: response.status, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' }
}

describeOnEtcd('three servers that ask for sign-in', 90_000, () => {
  let token: string

  beforeAll(async () => {
    const [one] = cluster.servers
    const code = /"code":"([^"]+)"/.exec(one!.output())?.[1] ?? ''
    const form = { code, password: 'first password' }
    expect(await send(one!, 'POST /svc/v1/auth/users/admin', form)).toMatchObject({ status: 200 })
    token = await tokenOf(cluster.servers[1]!, 'nacos', 'first password').catch(() => '')
  }, ETCD_HOOK_MS)

  test('of several tools that make the first administrator of an empty store, one does', async () => {
    const file = join(temporaryDirectory('secret-'), 'password')
    writeFileSync(file, 'a good password\n')
    const args = ['user', 'add', 'ann', '--first', '--password-file', file]
    const flags = [`--etcd-endpoints=${cluster.etcd.endpoints.join(',')}`, '--etcd-prefix=first']
    const made = await Promise.all([1, 2, 3].map(() => runWaypost([...args, ...flags])))
    expect(made.map(({ code, stderr }) => [code, stderr])).toEqual([1, 2, 3].map(() => [0, '']))
    const said = made.map(({ stdout }) => stdout).toSorted()
    const already = 'There is an administrator already: nothing was changed.\n'
    expect(said).toEqual(['The user ann is the first administrator.\n', already, already])
    const listed = await runWaypost(['user', 'list', '--json', ...flags])
    expect(JSON.parse(listed.stdout)).toEqual([{ username: 'ann', roles: ['ROLE_ADMIN'] }])
  })

  test('a token of one server counts on all of them', async () => {
    for (const server of cluster.servers) expect(await users(server, token)).toMatchObject({ status: 200 })
  })

  test('the session of a browser continues at another server, and ends on all when it signs out at one', async () => {
    const [one, two, three] = cluster.servers
    const form = { username: 'nacos', password: 'first password' }
    const { status, cookie } = await session(one!, 'POST', { form })
    expect([status, cookie]).toEqual([200, expect.stringMatching(/^waypost-session=/)])
    for (const server of [two!, three!])
      await expect.poll(() => session(server, 'GET', { cookie })).toMatchObject({ status: 200 })
    expect(await session(three!, 'GET')).toMatchObject({ status: 403 })
    expect(await session(two!, 'DELETE', { cookie })).toMatchObject({ status: 200 })
    for (const server of [one!, three!])
      await expect.poll(() => session(server, 'GET', { cookie })).toMatchObject({ status: 403 })
  })

  test('a user that is removed by a tool is nobody on every server', async () => {
    const add = { username: 'ann', password: 'a password', accessToken: token }
    expect(await send(cluster.servers[0]!, 'POST /svc/v1/auth/users', add)).toMatchObject({ status: 200 })
    const ofAnn = await tokenOf(cluster.servers[2]!, 'ann', 'a password')
    const { code, stderr } = await runWaypost(['user', 'remove', 'ann', ...cluster.flags])
    expect([code, stderr]).toEqual([0, ''])
    for (const server of cluster.servers)
      await expect.poll(async () => (await users(server, ofAnn)).text).toContain('token-invalid')
  })

  test('a server that asks for no sign-in is refused, and names the server that it differs from', async () => {
    await expect(cluster.join({ auth: 'off' })).rejects.toThrow(/auth/)
    for (const server of cluster.servers) expect(await users(server, token)).toMatchObject({ status: 200 })
  })

  test('of two servers that each remove one of the last two administrators, one refuses', async () => {
    const [one, two] = cluster.servers
    const role = { role: 'ROLE_ADMIN', username: 'second', accessToken: token }
    await send(one!, 'POST /svc/v1/auth/users', { username: 'second', password: 'p', accessToken: token })
    await send(one!, 'POST /svc/v1/auth/roles', role)
    await expect
      .poll(() => tokenOf(two!, 'second', 'p').then((own) => users(two!, own)))
      .toMatchObject({ status: 200 })
    const removals = await Promise.all([
      send(one!, 'DELETE /svc/v1/auth/roles', { ...role, username: 'nacos' }),
      send(two!, 'DELETE /svc/v1/auth/roles', role),
    ])
    // 403: the caller was no administrator any more when the second one was looked at.
    const statuses = removals.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, statuses[1] === 403 ? 403 : 400])
  })
})
