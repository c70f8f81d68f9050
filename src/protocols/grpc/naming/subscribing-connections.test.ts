import { expect, test } from 'vitest'
import type { ClientConnection, Question } from '../connections/client-connection.ts'
import { joinJson, type ReadyJson } from '../wire/json.ts'
import { textOf } from '../wire/sent-json.test-support.ts'
import { SubscribingConnections } from './naming-requests.ts'

function connection(id: string, client: Partial<ClientConnection['client']> = {}) {
  const asked: Question[] = []
  const ask = async (question: Question) => asked.push(question) > 0
  const facts = { version: 'Nacos-Go-Client:v2.3.5', appName: '', clientIp: '', ...client }
  const one = { id, ip: '127.0.0.1', port: 7, client: facts, ask, onEnd: () => {} }
  return { connection: one as unknown as ClientConnection, asked }
}

test('a connection is one subscriber, with the facts of its client', () => {
  const subscribers = new SubscribingConnections()
  const { connection: plain } = connection('1')
  expect(subscribers.of(plain)).toMatchObject({
    id: '1',
    address: '127.0.0.1',
    port: 7,
    agent: 'Nacos-Go-Client:v2.3.5',
    app: 'unknown',
    consumerIp: '127.0.0.1',
  })
  expect(subscribers.of(plain)).toBe(subscribers.of(plain))
  const { connection: other } = connection('2', { appName: 'shop', clientIp: '10.0.0.9' })
  expect(subscribers.of(other)).toMatchObject({ app: 'shop', consumerIp: '10.0.0.9', address: '127.0.0.1' })
})

test('the body of a push is made once for all who get the same list', async () => {
  const subscribers = new SubscribingConnections()
  const all = ['1', '2', '3'].map((id) => connection(id))
  const push = (list: Buffer | string) =>
    Promise.all(all.map(({ connection: one }) => subscribers.of(one).push(list, 5_000)))
  await push('{"name":"a"}')
  await push(Buffer.from('{"name":"ü"}'))
  const bodies = all.map(({ asked }) => asked.map(({ body }) => body as ReadyJson))
  expect(new Set(bodies.map(([first]) => first)).size).toBe(1)
  expect(bodies[0]!.map((body) => textOf(joinJson({}, body)))).toEqual([
    '{"serviceInfo":{"name":"a"}}',
    '{"serviceInfo":{"name":"ü"}}',
  ])
  expect(all[0]!.asked.map(({ type }) => type)).toEqual([
    'NotifySubscriberRequest',
    'NotifySubscriberRequest',
  ])
})
