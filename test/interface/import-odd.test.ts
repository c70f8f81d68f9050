/** An import into a server that is closed, by callers without rights, and of lines that no server would have written. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problemType } from '../../src/protocols/http/errors/problem.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import {
  configLine,
  grayLine,
  historyLine,
  instanceLine,
  namespaceLine,
  PLAN_HEAD,
  planOf,
  sendPlan,
  serviceLine,
} from '../support/plan-lines.ts'

let server: ManagedWaypost
beforeAll(async () => void (server = await startManaged()))
afterAll(() => server?.waypost.stop())

const sent = (body: string | Buffer, token?: string) =>
  sendPlan(server, body, token === undefined ? {} : { token })
const importing = (lines: readonly object[]) => sent(planOf(lines))

describe('while an operator has closed naming', () => {
  const setStatus = (value: string) =>
    server.ask('PUT', '/svc/v1/ns/operator/switches', {
      entry: 'overriddenServerStatus',
      value,
      debug: 'false',
    })

  test.each([
    ['READ_ONLY', 'service', serviceLine('closed')],
    ['DOWN', 'instance', instanceLine('closed')],
  ])(
    '%s refuses a line of kind %s as all writes of naming, and takes the others',
    async (status, _, line) => {
      await setStatus(status)
      expect(await importing([namespaceLine(`during-${status}`), line])).toMatchObject({
        status: 503,
        json: {
          type: problemType('server-status'),
          detail: expect.stringContaining(`The server is ${status}`),
        },
      })
      expect(await importing([namespaceLine(`during-${status}`)])).toMatchObject({ json: { unchanged: 1 } })
      await setStatus('UP')
      expect(await importing([line])).toMatchObject({ status: 200, json: { taken: 1 } })
    },
  )
})

test('a permission for what no server has is refused for itself, and the lines beside it are taken', async () => {
  const permission = (resource: string) => ({ kind: 'permission', role: 'devs', resource, action: 'r' })
  const { status, json } = await importing([
    namespaceLine('beside-permissions'),
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

describe('an import is refused, and nothing of it is taken,', () => {
  const large = Buffer.alloc(70_000_000, ' ')

  test('for callers without rights, whatever they send', async () => {
    await server.addUser({ username: 'guest', password: 'secret', permissions: { '*:*:*': 'rw' } })
    for (const body of [planOf([]), 'no JSON', large.subarray(0, 50_000_000)]) {
      expect(await sent(body, '')).toMatchObject({
        status: 403,
        json: { type: problemType('not-signed-in') },
      })
      expect(await sent(body, 'no token')).toMatchObject({ status: 403 })
      expect(await sent(body, await server.tokenOf('guest'))).toMatchObject({
        status: 403,
        json: { type: problemType('forbidden') },
      })
    }
  })

  const head = planOf([])
  test.each<[string, string | Buffer, number]>([
    ['no body', '', 400],
    ['no head', JSON.stringify(configLine('none')), 400],
    ['a line that is cut', `${head}\n{"kind":"config"`, 400],
    ['a body that is too large', large, 413],
    ['a body of blanks', large.subarray(0, 50_000_000), 400],
    ['empty lines', `${head}\n\n\n`, 400],
    ['bytes that are no text', Buffer.from(`${head}\n{"kind":"\xe4"}`, 'latin1'), 400],
    ['two heads', `${head}\n${head}`, 400],
    ['a deep list', `${head}\n${'['.repeat(5_000_000)}`, 400],
    ['a deep list that ends', `${head}\n${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}`, 400],
    ['a wide object', `${head}\n{${'"a":1,'.repeat(5_000_000)}"kind":"end"}`, 400],
    ['a kind of every object', `${head}\n{"kind":"__proto__"}`, 400],
    ['a time before all times', `${head}\n${JSON.stringify(configLine('times', { modifiedMs: -1 }))}`, 400],
    ['an id that is too long', `${head}\n${JSON.stringify(historyLine('ids', '9'.repeat(21)))}`, 400],
    ['a clock of another age', JSON.stringify({ ...PLAN_HEAD, lastRefMs: 8_640_000_000_000_000 }), 400],
  ])('for %s', async (_, body, status) => {
    const answer = await sent(body)
    expect(answer, JSON.stringify(answer)).toMatchObject({ status })
    expect((await fetch(`${server.waypost.url}/healthz`)).status).toBe(200)
  })
})

test('odd names, numbers and times are refused line by line, and the others are taken', async () => {
  const names = ['a b', 'a ', ' a', '../a', 'a\u0000', 'a\nb', 'x'.repeat(300), '\u202e', '%00', ' ', '*']
  const odd = [
    ...names.flatMap((name) => [
      configLine(name),
      instanceLine('odd', { cluster: name }),
      namespaceLine(name),
    ]),
    instanceLine('odd', { weight: -1 }),
    serviceLine('odd', { protectThreshold: 1e300 }),
    { kind: 'switch', name: 'toString', value: '1' },
    { kind: 'switch', name: 'checkTimes', value: '-1' },
  ]
  const nested = { type: 'HTTP', path: '/up', more: JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`) }
  const cluster = { name: 'c', checkPort: 0, useInstancePort: true, metadata: {}, checker: nested }
  const fine = [
    // Such times become the time of the import.
    historyLine('odd-time', '1', { atMs: 8_640_000_000_000_000 }),
    configLine('odd-time', { modifiedMs: 8_640_000_000_000_000 }),
    // It has no item, and no record before it.
    historyLine('only-history', '99999999999999999999', { op: 'D' }),
    grayLine('only-gray', { name: 'beta', rule: 'beta', expression: '10.0.0.9' }),
    serviceLine('nested', { metadata: JSON.parse('{"__proto__":"x"}'), clusters: [cluster] }),
    instanceLine('without-a-line-for-its-service'),
  ]
  const { status, json } = await importing([...odd, ...fine])
  expect(status).toBe(200)
  const refused = (json['lines'] as { line: number; reason: string }[]).map(({ line }) => line)
  const takenOdd = odd.filter((_, index) => !refused.includes(index + 2))
  expect(takenOdd, JSON.stringify(json)).toEqual([])
  expect(json).toMatchObject({ taken: fine.length, refused: odd.length })
})

test('many thousand lines in one call are all judged, while others are served', async () => {
  const lines = [
    ...Array.from({ length: 3_000 }, (_, index) => configLine(`many-${index}`)),
    ...Array.from({ length: 3_000 }, (_, index) =>
      historyLine('one-of-many', String(index + 1), { atMs: index + 1 }),
    ),
    ...Array.from({ length: 3_000 }, (_, index) => configLine(`bad name ${index}?`)),
  ]
  let isRunning = true
  let answered = 0
  const others = (async () => {
    while (isRunning) {
      expect((await fetch(`${server.waypost.url}/healthz`)).status).toBe(200)
      answered++
    }
  })()
  expect(await importing(lines)).toMatchObject({ status: 200, json: { taken: 6_000, refused: 3_000 } })
  isRunning = false
  await others
  // One answer before and one after are no service.
  expect(answered).toBeGreaterThan(10)
  expect(await importing(lines)).toMatchObject({ status: 200, json: { unchanged: 6_000, refused: 3_000 } })
})
