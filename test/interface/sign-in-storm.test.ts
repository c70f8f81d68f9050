/** A thousand clients that sign in at once, while one address floods the server with passwords of nobody. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const CLIENTS = 1_000
const USERS = 12
/** More than the hashes that may wait. */
const STRANGERS = 400
const LIMIT_MS = 120_000

const BEAT =
  '/nacos/v1/ns/instance/beat?serviceName=s&beat=' +
  encodeURIComponent('{"ip":"10.0.0.1","port":80,"cluster":"DEFAULT"}')

let waypost: Waypost
let token: string

interface LoginOf {
  readonly username: string
  readonly password: string
  readonly ip: string
}

const login = ({ username, password, ip }: LoginOf) =>
  fetch(`${waypost.url}/nacos/v1/auth/login`, {
    method: 'POST',
    headers: { 'x-forwarded-for': ip },
    body: new URLSearchParams({ username, password }),
  })

beforeAll(async () => {
  waypost = await startWaypost({ settings: { auth: 'on', 'trusted-proxies': '127.0.0.1' } })
  const code = /code=([\w-]+)/.exec(waypost.output())?.[1]
  const body = new URLSearchParams(`code=${code}&password=secret`)
  await fetch(`${waypost.url}/nacos/v1/auth/users/admin`, { method: 'POST', body })
  token = (await tokenOf({ username: 'nacos', password: 'secret', ip: '10.0.0.1' })).accessToken
  for (let user = 0; user < USERS; user++) {
    const path = `/nacos/v1/auth/users?username=user${user}&password=secret${user}&accessToken=${token}`
    expect((await fetch(`${waypost.url}${path}`, { method: 'POST' })).status).toBe(200)
  }
}, LIMIT_MS)
afterAll(() => waypost.kill())

/** Signs in, and waits as long as the server says where it has no place. */
async function tokenOf(pair: LoginOf): Promise<{ accessToken: string; username: string }> {
  for (;;) {
    const response = await login(pair)
    if (response.status === 200) return (await response.json()) as { accessToken: string; username: string }
    expect([response.status, await response.text()]).toEqual([429, expect.stringContaining('try again')])
    await sleep(1_000 * Number(response.headers.get('retry-after')))
  }
}

/** Sends a request every 20 ms until `ends`, and gives the statuses. */
async function statusesWhile(ends: { now: boolean }, path: string, method: string): Promise<number[]> {
  const statuses: number[] = []
  while (!ends.now) {
    const response = await fetch(`${waypost.url}${path}`, { method })
    await response.text()
    statuses.push(response.status)
    await sleep(20)
  }
  return statuses
}

test(
  'all clients get a token, and the server goes on answering',
  async () => {
    const strangers = Array.from({ length: STRANGERS }, (_, stranger) =>
      login({ username: `stranger${stranger}`, password: 'x', ip: '10.66.6.6' }).then(
        (response) => response.status,
        () => 0,
      ),
    )
    const ends = { now: false }
    const health = statusesWhile(ends, '/healthz', 'GET')
    const beats = statusesWhile(ends, `${BEAT}&accessToken=${token}`, 'PUT')
    const clients = Array.from({ length: CLIENTS }, (_, client) => ({
      username: `user${client % USERS}`,
      password: `secret${client % USERS}`,
      ip: `10.1.${client >> 8}.${client & 255}`,
    }))
    const answers = await Promise.all(clients.map(tokenOf))
    ends.now = true
    expect(answers.map(({ username }) => username)).toEqual(clients.map(({ username }) => username))
    for (const statuses of [await health, await beats]) {
      expect(new Set(statuses)).toEqual(new Set([200]))
      expect(statuses.length).toBeGreaterThan(10)
    }
    const read = await fetch(`${waypost.url}/svc/v1/auth/users?accessToken=${answers[0]!.accessToken}`)
    expect(read.status).toBe(403)
    // Callers that found no place got an answer that says so; the others still wait.
    const refused = await Promise.all(
      strangers.slice(201).map((status) => Promise.race([status, sleep(0, 0)])),
    )
    expect(refused.filter((status) => status === 429).length).toBeGreaterThan(100)
  },
  LIMIT_MS,
)
