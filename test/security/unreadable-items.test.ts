/** A caller learns nothing of items that it may not read, at any interface. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../interface/client.ts'
import { type AsAdministrator, startManaged } from '../support/administrator.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import type { Waypost } from '../support/waypost.ts'

const SVC = '/svc/v1'
const SECRET = 'what nobody else may know'
const MD5 = createHash('md5').update(SECRET).digest('hex')
const WRONG = '0'.repeat(32)

let waypost: Waypost
let ask: AsAdministrator
const tokens: Record<string, string> = {}

beforeAll(async () => {
  const managed = await startManaged()
  ask = managed.ask
  waypost = managed.waypost
  const users = { writer: { 'written:*:*': 'w' }, owner: { 'own:*:*': 'rw', 'shown:*:*': 'r' } } as const
  for (const [username, permissions] of Object.entries(users)) {
    await managed.addUser({ username, password: username, permissions })
    const { text } = await send(`POST ${SVC}/auth/login`, { username, password: username })
    tokens[username] = JSON.parse(text).accessToken
  }
  for (const tenant of ['written', 'own', 'shown', 'hidden']) {
    await ask('POST', `${SVC}/cs/configs`, { ...keyIn(tenant), content: 'before' })
    await ask('POST', `${SVC}/cs/configs`, { ...keyIn(tenant), content: SECRET })
  }
})
afterAll(() => waypost?.stop())

const keyIn = (tenant: string) => ({ dataId: 'd', group: 'G', tenant })

async function send(operation: string, params: Record<string, string>, user?: string) {
  const [method = '', path = ''] = operation.split(' ')
  const isForm = method === 'POST'
  const fields = new URLSearchParams(params)
  const token = user === undefined ? '' : tokens[user]!
  const response = await fetch(`${waypost.url}${path}${isForm ? '' : `?${fields}`}`, {
    method,
    ...(token !== '' && { headers: { authorization: `Bearer ${token}`, ...casHeader(params) } }),
    ...(isForm && { body: fields }),
  })
  return { status: response.status, text: await response.text() }
}

/** Clients of Nacos send it as a header. */
const casHeader = ({ casMd5 }: Record<string, string>) => (casMd5 === undefined ? undefined : { casMd5 })

async function idsOf(tenant: string): Promise<{ item: string; record: string }> {
  const fields = new URLSearchParams(keyIn(tenant))
  const item = JSON.parse(await ask('GET', `/nacos/v1/cs/configs?${fields}&show=all`)).id
  const { pageItems } = JSON.parse(await ask('GET', `${SVC}/cs/history?${fields}&search=accurate`))
  return { item: String(item), record: String(pageItems[0].id) }
}

describe('who may write and not read', () => {
  test('learns no md5 from a wrong one over HTTP', async () => {
    const { record } = await idsOf('written')
    const wrong = { ...keyIn('written'), casMd5: WRONG }
    const answers = [
      await send(`POST ${SVC}/cs/configs`, { ...wrong, content: 'x' }, 'writer'),
      await send('POST /nacos/v1/cs/configs', { ...wrong, content: 'x' }, 'writer'),
      await send('POST /nacos/v2/cs/config', { ...namedV2(wrong), content: 'x' }, 'writer'),
      await send(`DELETE ${SVC}/cs/configs`, wrong, 'writer'),
      await send(`POST ${SVC}/console/config/restore`, { ...wrong, historyId: record }, 'writer'),
    ]
    for (const { status, text } of answers) {
      expect(status).toBe(409)
      expect(text).not.toContain(MD5)
    }
  })

  test('learns no md5 from a wrong one over gRPC', async () => {
    const client = await connectGrpc(waypost)
    const request = { ...keyIn('written'), content: 'x', casMd5: WRONG }
    const headers = { accessToken: tokens['writer']! }
    const answer = await client.ask('ConfigPublishRequest', request, headers)
    expect(JSON.stringify(answer)).not.toContain(MD5)
    expect(answer.body).toMatchObject({ resultCode: 500 })
    await client.close()
  })

  test('learns no md5 of the text that it restores', async () => {
    const { record } = await idsOf('written')
    const params = { ...keyIn('written'), historyId: record, casMd5: MD5 }
    const { status, text } = await send(`POST ${SVC}/console/config/restore`, params, 'writer')
    expect([status, text]).toEqual([200, expect.not.stringContaining('md5')])
  })
})

const namedV2 = ({ tenant, ...others }: Record<string, string>) => ({ ...others, namespaceId: tenant! })

test('the id of an item that may not be deleted is skipped, and the audit says so', async () => {
  const remove = (...ids: string[]) =>
    send('DELETE /nacos/v1/cs/configs', { delType: 'ids', ids: ids.join(',') }, 'owner')
  const [own, hidden] = [(await idsOf('own')).item, (await idsOf('hidden')).item]
  const left = (...ids: string[]) => ({
    status: 200,
    text: JSON.stringify({
      code: 200,
      message: `not deleted, unknown or not permitted: ${ids.toSorted((a, b) => Number(a) - Number(b)).join(', ')}`,
      data: true,
    }),
  })
  expect(await remove('99999998')).toEqual(left('99999998'))
  expect(await remove(hidden)).toEqual(left(hidden))
  expect(await remove(hidden, own, '99999998')).toEqual(left(hidden, '99999998'))
  expect(await ask('GET', `${SVC}/cs/configs?${new URLSearchParams(keyIn('hidden'))}`)).toBe(SECRET)
  const { status } = await send(`GET ${SVC}/cs/configs`, keyIn('own'), 'owner')
  expect(status).toBe(404)
  const { events } = await until(
    async () => JSON.parse(await ask('GET', `${SVC}/audit?operation=delete%20configs`)),
    (audit) => audit.events.length >= 3,
  )
  expect(events).toMatchObject([
    {
      result: 'done',
      detail: 'deleted 1, unknown 1, not permitted 1',
      items: ['own:G:config/d', 'hidden:G:config/d', 'id 99999998'],
      unchangedItems: ['hidden:G:config/d', 'id 99999998'],
    },
    {
      result: 'refused',
      code: 'forbidden',
      detail: 'deleted 0, unknown 0, not permitted 1',
      unchangedItems: ['hidden:G:config/d'],
    },
    { result: 'done', detail: 'deleted 0, unknown 1, not permitted 0', unchangedItems: ['id 99999998'] },
  ])
})
