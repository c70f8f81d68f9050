/** What an import makes of a server that is closed, of callers without rights, and of lines that no server would have written. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problemType } from '../../src/protocols/http/errors/problem.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'

const HEAD = { kind: 'plan', format: 1, madeMs: 1, sources: [], counts: {}, lastRefMs: 0 }

let server: ManagedWaypost
beforeAll(async () => void (server = await startManaged()))
afterAll(() => server?.waypost.stop())

async function tokenOf(username = 'nacos'): Promise<string> {
  const body = new URLSearchParams({ username, password: 'secret' })
  const response = await fetch(`${server.waypost.url}/svc/v1/auth/login`, { method: 'POST', body })
  return ((await response.json()) as { accessToken: string }).accessToken
}

interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

async function sent(body: string | Buffer, token?: string): Promise<Answer> {
  const response = await fetch(`${server.waypost.url}/svc/v1/operator/import`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-ndjson',
      authorization: `Bearer ${token ?? (await tokenOf())}`,
    },
    body,
  })
  return { status: response.status, json: JSON.parse(await response.text()) as Answer['json'] }
}

const importing = (lines: readonly object[]) =>
  sent([HEAD, ...lines].map((line) => JSON.stringify(line)).join('\n'))

const namespace = (id: string) => ({ kind: 'namespace', id, name: 'n', desc: '' })
const service = (name: string) => ({
  kind: 'service',
  namespace: '',
  group: 'G',
  name,
  protectThreshold: 0.5,
  selector: { type: 'none', expression: '' },
  metadata: {},
  clusters: [],
  ephemeral: null,
})
const instance = (name: string) => ({
  kind: 'instance',
  namespace: '',
  group: 'G',
  service: name,
  cluster: 'DEFAULT',
  ip: '10.0.0.1',
  port: 80,
  ephemeral: false,
  weight: 1,
  enabled: true,
  healthy: true,
  metadata: {},
  app: '',
  seenMs: 1,
})

describe('while an operator has closed naming', () => {
  const setStatus = (value: string) =>
    server.ask('PUT', '/svc/v1/ns/operator/switches', {
      entry: 'overriddenServerStatus',
      value,
      debug: 'false',
    })

  test.each([
    ['READ_ONLY', 'service', service('closed')],
    ['DOWN', 'instance', instance('closed')],
  ])(
    '%s refuses a line of kind %s as all writes of naming, and takes the others',
    async (status, _, line) => {
      await setStatus(status)
      expect(await importing([namespace(`during-${status}`), line])).toMatchObject({
        status: 503,
        json: {
          type: problemType('server-status'),
          detail: expect.stringContaining(`The server is ${status}`),
        },
      })
      expect(await importing([namespace(`during-${status}`)])).toMatchObject({ json: { unchanged: 1 } })
      await setStatus('UP')
      expect(await importing([line])).toMatchObject({ status: 200, json: { taken: 1 } })
    },
  )
})

test('a permission for what no server has is refused for itself, and the lines beside it are taken', async () => {
  const permission = (resource: string) => ({ kind: 'permission', role: 'devs', resource, action: 'r' })
  const { status, json } = await importing([
    namespace('beside-permissions'),
    permission('(((a*)*)*'),
    permission(''),
    { kind: 'role', username: 'nacos', role: 'devs' },
    permission('public:*:*'),
  ])
  expect({ status, json }).toMatchObject({ status: 200, json: { taken: 3, refused: 2 } })
  expect(json['lines']).toMatchObject([
    { line: 3, reason: expect.stringContaining('resource must be') },
    { line: 4, reason: expect.stringContaining('resource is required') },
  ])
})

test('a name with blanks around it is refused, because no request could reach it', async () => {
  const names = ['x ', ' x', 'x\t', 'x\n', '\u00a0x']
  const { json } = await importing([
    ...names.map(service),
    { ...service('y'), group: 'G ' },
    service('fine'),
    { kind: 'namespace', id: 'described', name: 'n', desc: 'ends with a blank ' },
  ])
  expect(json).toMatchObject({ taken: 2, refused: names.length + 1 })
  expect(json['lines']).toContainEqual({
    line: 2,
    outcome: 'refused',
    reason: expect.stringMatching(/must not begin or end with a blank, but is "x "/),
  })
})
