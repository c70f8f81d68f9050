/** Requests of one client or of several that overtake each other. */
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, unique, until } from '../interface/client.ts'
import { frameOf, openCall } from '../support/grpc-client.ts'
import { clientsOfTests, instanceOf, portsOf } from './naming-fixture.ts'

const waypost = serverForThisFile()
const connected = clientsOfTests(waypost)

describe('of requests that are sent without waiting for answers', () => {
  test('the last registration or deregistration of a connection counts', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    for (const last of ['register', 'deregister'] as const) {
      const answers = Array.from({ length: 40 }, (_, index) =>
        index % 2 === 0
          ? client.deregister(serviceName, { port: Math.max(index - 1, 0) })
          : client.register(serviceName, { port: index }),
      )
      if (last === 'deregister') answers.push(client.deregister(serviceName, { port: 39 }))
      await Promise.all(answers)
      expect(portsOf(await client.query(serviceName))).toEqual(last === 'register' ? [39] : [])
    }
  })

  test('the last publish counts, and its listener has its md5', async () => {
    const { grpc } = await connected()
    const key = { dataId: unique('item'), group: 'G', tenant: '' }
    const listen = (digest: string) =>
      grpc.ask('ConfigBatchListenRequest', { configListenContexts: [{ ...key, md5: digest }] })
    await listen('')
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index % 10 === 5
          ? grpc.ask('ConfigRemoveRequest', key)
          : grpc.ask('ConfigPublishRequest', { ...key, content: `${index}` }),
      ),
    )
    expect((await grpc.ask('ConfigQueryRequest', key)).body).toMatchObject({ content: '59', md5: md5('59') })
    expect((await listen(md5('59'))).body['changedConfigs']).toEqual([])
  })

  test('a small one does not overtake a large one that has come before it', async () => {
    const { grpc } = await connected()
    const key = { dataId: unique('item'), group: 'G', tenant: '' }
    const many = Array.from({ length: 250_000 }, () => 1)
    for (let times = 0; times < 3; times++) {
      const large = openCall(grpc.session, '/Request/request').resume()
      const [isSent, isAnswered] = [once(large, 'finish'), once(large, 'end')]
      large.end(frameOf('ConfigPublishRequest', { ...key, content: 'x', many }))
      await isSent
      await Promise.all([grpc.ask('ConfigRemoveRequest', key), isAnswered])
      expect((await grpc.ask('ConfigQueryRequest', key)).body).toMatchObject({ errorCode: 300 })
    }
  })
})

test('a client that leaves while it registers leaves nothing behind', async () => {
  const watcher = await connected()
  const serviceName = unique('svc')
  for (let times = 0; times < 16; times++) {
    const { grpc } = await connected()
    const instances = Array.from({ length: 20 }, (_, port) => instanceOf({ port: times * 100 + port }))
    const call = openCall(grpc.session, '/Request/request').resume()
    call.end(frameOf('BatchInstanceRequest', { serviceName, type: 'batchRegisterInstance', instances }))
    if (times % 3 > 0) await new Promise((resolve) => setTimeout(resolve, times % 3))
    if (times % 8 === 7) grpc.stream!.end()
    else grpc.session.destroy()
    await grpc.ended
  }
  await until(
    () => watcher.query(serviceName),
    ({ hosts }) => hosts.length === 0,
  )
})

test('a list is later after a restart than any before', async () => {
  const serviceName = unique('svc')
  const before = await connected()
  for (let times = 0; times < 50; times++)
    await before.register(serviceName, { port: 1, metadata: { times: `${times}` } })
  const { lastRefTime } = await before.query(serviceName)
  waypost.server = await waypost.server.restart()
  const after = await connected()
  const subscribed = await after.subscribe(serviceName)
  expect(subscribed.lastRefTime).toBeGreaterThan(lastRefTime)
  await after.register(serviceName, { port: 2 })
  expect((await after.query(serviceName)).lastRefTime).toBeGreaterThan(subscribed.lastRefTime)
})

test('a service that is deleted and made again is still pushed to its subscriber', async () => {
  const client = await connected()
  const serviceName = unique('svc')
  const instance = { serviceName, ip: '10.0.0.1' }
  await waypost.nacos.post('/ns/service', { serviceName })
  await client.subscribe(serviceName)
  expect((await waypost.nacos.delete('/ns/service', { serviceName })).text).toBe('ok')
  await waypost.nacos.post('/ns/instance', { ...instance, port: 81 })
  await client.pushedUntil((service) => portsOf(service).includes(81))
})
