/** Configurations over gRPC, beside the same over HTTP (grpc-compat.md section 4). */
import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, unique } from '../interface/client.ts'
import type { Body, GrpcClient } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'

const waypost = serverForThisFile()
const connect = grpcClients(() => waypost.server)

/** An item with a name of its own. */
const named = (tenant = ''): { dataId: string; group: string; tenant: string } => {
  return { dataId: unique('over-grpc'), group: 'G', tenant }
}
const done = { resultCode: 200, errorCode: 0, success: true }
const publish = (key: object, content: string, additionMap?: Body) =>
  waypost.nacos.post('/cs/configs', { ...key, content, ...(additionMap as Record<string, string>) })
const read = async (key: Record<string, string>) => waypost.nacos.get('/cs/configs', key)

describe('a query', () => {
  test('has the content of an item and what is known of it', async () => {
    const key = named()
    await publish(key, 'a: 1', { type: 'yaml', encryptedDataKey: 'the key' })
    const client = await connect()
    const { type, body } = await client.ask('ConfigQueryRequest', { ...key, tag: null, requestId: 'q' })
    expect(type).toBe('ConfigQueryResponse')
    expect(body).toEqual({
      ...done,
      requestId: 'q',
      content: 'a: 1',
      contentType: 'yaml',
      md5: md5('a: 1'),
      lastModified: expect.any(Number) as number,
      encryptedDataKey: 'the key',
      beta: false,
    })
  })

  test.each([{}, { tenant: '' }, { tenant: null }, { tenant: 'public' }])(
    'with %j finds what HTTP has published without a tenant',
    async (tenant) => {
      const { dataId, group } = named()
      await waypost.nacos.post('/cs/configs', { dataId, group, content: 'x' })
      const client = await connect()
      const { body } = await client.ask('ConfigQueryRequest', { dataId, group, ...tenant })
      expect(body).toMatchObject({ ...done, content: 'x', contentType: 'text' })
      expect(body['encryptedDataKey']).toBe('')
    },
  )

  test('of an item that is not there says so in its own type', async () => {
    const client = await connect()
    const { type, body } = await client.ask('ConfigQueryRequest', named('dev'))
    expect(type).toBe('ConfigQueryResponse')
    expect(body).toMatchObject({
      resultCode: 500,
      errorCode: 300,
      success: false,
      message: 'config data not exist',
    })
  })

  test('with a tag finds nothing, because no content has one', async () => {
    const key = named()
    await publish(key, 'x')
    const client = await connect()
    const { body } = await client.ask('ConfigQueryRequest', { ...key, tag: 'gray' })
    expect(body).toMatchObject({ errorCode: 300 })
  })

  test.each([[{ group: 'G' }], [{ dataId: 'a b', group: 'G' }], [{ dataId: ['a'], group: 'G' }]])(
    'for %j is refused in its own type',
    async (key) => {
      const client = await connect()
      const { type, body } = await client.ask('ConfigQueryRequest', key)
      expect({ type, ...body }).toMatchObject({
        type: 'ConfigQueryResponse',
        resultCode: 500,
        errorCode: 400,
        success: false,
        message: expect.stringContaining('dataId') as string,
      })
    },
  )
})

describe('a publish', () => {
  test('has what the client says beside the content', async () => {
    const key = named('dev')
    const client = await connect()
    const { type, body } = await client.ask('ConfigPublishRequest', {
      ...key,
      content: '<a/>',
      casMd5: '',
      additionMap: {
        type: 'xml',
        tag: null,
        betaIps: '',
        appName: 'shop',
        config_tags: 'one,two',
        desc: 'what it is for',
        src_user: 'ann',
        encryptedDataKey: 'the key',
        unknown: 'ignored',
      },
    })
    expect({ type, ...body }).toMatchObject({ type: 'ConfigPublishResponse', ...done })
    const item = (await read({ ...key, show: 'all' })).json()
    expect(item).toMatchObject({
      content: '<a/>',
      type: 'xml',
      appName: 'shop',
      configTags: 'one,two',
      desc: 'what it is for',
      createUser: 'ann',
      createIp: '127.0.0.1',
    })
    expect((await client.ask('ConfigQueryRequest', key)).body).toMatchObject({ encryptedDataKey: 'the key' })
    const { pageItems } = (await waypost.nacos.get('/cs/history', { search: 'accurate', ...key })).json()
    expect(pageItems[0]).toMatchObject({ srcUser: 'ann', srcIp: '127.0.0.1', opType: 'I ' })
  })

  test('of an unknown type is a text', async () => {
    const key = named()
    const client = await connect()
    await client.ask('ConfigPublishRequest', { ...key, content: 'x', additionMap: { type: 'ini' } })
    expect((await client.ask('ConfigQueryRequest', key)).body).toMatchObject({ contentType: 'text' })
  })

  test('may depend on the current md5', async () => {
    const key = named()
    await publish(key, 'old')
    const client = await connect()
    const change = (casMd5: string, content: string) =>
      client.ask('ConfigPublishRequest', { ...key, content, casMd5 })
    expect((await change(md5('other'), 'lost')).body).toMatchObject({
      resultCode: 500,
      errorCode: 500,
      success: false,
      message: 'Cas publish fail, server md5 may have changed.',
    })
    expect((await change(md5('old'), 'new')).body).toMatchObject(done)
    expect((await change('  ', 'newer')).body).toMatchObject(done)
    expect((await read(key)).text).toBe('newer')
  })

  test('with the casMd5 0 creates an item, and changes none', async () => {
    const key = named()
    const client = await connect()
    const create = (content: string) => client.ask('ConfigPublishRequest', { ...key, content, casMd5: '0' })
    expect((await create('first')).body).toMatchObject(done)
    expect((await create('second')).body).toMatchObject({ resultCode: 500, success: false })
    expect((await read(key)).text).toBe('first')
  })

  test.each([{ betaIps: '10.0.0.1' }, { tag: 'gray' }])(
    'for a few clients (%j) is for nobody else',
    async (addition) => {
      const key = named()
      const client = await connect()
      const request = { ...key, content: 'x', additionMap: addition }
      expect((await client.ask('ConfigPublishRequest', request)).body).toMatchObject(done)
      expect((await read(key)).status).toBe(404)
    },
  )

  test('of 10 MiB is published and read', async () => {
    const key = named()
    const content = 'x'.repeat(10 * 1024 * 1024)
    const client = await connect()
    expect((await client.ask('ConfigPublishRequest', { ...key, content })).body).toMatchObject(done)
    const { body } = await client.ask('ConfigQueryRequest', key)
    expect(body['content'] === content).toBe(true)
  })

  test.each([[{ content: '' }], [{ content: ' ' }], [{ additionMap: [] }], [{ additionMap: { desc: {} } }]])(
    'with %j is refused',
    async (wrong) => {
      const client = await connect()
      const { body } = await client.ask('ConfigPublishRequest', { ...named(), content: 'x', ...wrong })
      expect(body).toMatchObject({ resultCode: 500, errorCode: 400, success: false })
    },
  )
})

test('a removal deletes an item, and is done where there is none', async () => {
  const key = named()
  await publish(key, 'x')
  const client = await connect()
  for (let times = 0; times < 2; times++) {
    const { type, body } = await client.ask('ConfigRemoveRequest', { ...key, tag: '' })
    expect({ type, ...body }).toMatchObject({ type: 'ConfigRemoveResponse', ...done })
  }
  expect((await read(key)).status).toBe(404)
})

describe('a listener', () => {
  const listen = async (client: GrpcClient, contexts: readonly Body[], more: Body = {}) => {
    const { type, body } = await client.ask('ConfigBatchListenRequest', {
      configListenContexts: contexts,
      ...more,
    })
    expect({ type, ...body }).toMatchObject({ type: 'ConfigChangeBatchListenResponse', ...done })
    return body['changedConfigs']
  }

  test('is answered with what differs, in its own words', async () => {
    const key = named()
    await publish(key, 'new')
    const { dataId, group } = key
    const client = await connect()
    const changed = await listen(client, [
      { dataId, group, md5: '' },
      { ...named('public'), md5: '' },
    ])
    expect(changed).toEqual([{ dataId, group }])
    expect(await listen(client, [{ ...key, tenant: 'public', md5: 'old' }])).toEqual([
      { ...key, tenant: 'public' },
    ])
    expect(await listen(client, [{ ...key, md5: md5('new') }])).toEqual([])
  })

  test.each([{}, { tenant: '' }, { tenant: 'public' }])(
    'with %j hears of a publish and a deletion by HTTP, in the same words',
    async (tenant) => {
      const { dataId, group } = named()
      const client = await connect()
      await listen(client, [{ dataId, group, ...tenant, md5: '' }])
      await waypost.nacos.post('/cs/configs', { dataId, group, content: 'x' })
      const published = await client.next('ConfigChangeNotifyRequest')
      expect(published.body).toEqual({
        dataId,
        group,
        ...tenant,
        headers: {},
        module: 'config',
        requestId: expect.stringMatching(/./) as string,
      })
      await waypost.nacos.delete('/cs/configs', { dataId, group })
      expect((await client.next('ConfigChangeNotifyRequest')).body).toMatchObject({ dataId })
    },
  )

  test('that publishes itself is notified too', async () => {
    const key = named('dev')
    const client = await connect()
    await listen(client, [{ ...key, md5: '' }])
    await client.ask('ConfigPublishRequest', { ...key, content: 'x' })
    expect((await client.next('ConfigChangeNotifyRequest')).body).toMatchObject(key)
  })

  test('is not notified any more of what it has left', async () => {
    const [left, kept] = [named(), named()]
    const client = await connect()
    await listen(client, [
      { ...left, md5: '' },
      { ...kept, md5: '' },
    ])
    await listen(client, [{ ...left, md5: '' }], { listen: false })
    await publish(left, 'x')
    await publish(kept, 'x')
    await client.next('ConfigChangeNotifyRequest')
    expect(client.waiting).toEqual([])
  })

  test('of an item that is pushed again if it was not acknowledged', async () => {
    const key = named()
    let replies = 0
    const client = await connect({
      reply: ({ type }) => (type === 'ConfigChangeNotifyRequest' && replies++ === 0 ? undefined : {}),
    })
    await listen(client, [{ ...key, md5: '' }])
    await publish(key, 'x')
    await client.next('ConfigChangeNotifyRequest')
    expect((await client.next('ConfigChangeNotifyRequest')).body).toMatchObject(key)
  })

  test('of no item is answered', async () => {
    const client = await connect()
    expect(await listen(client, [])).toEqual([])
  })

  test.each([[{ configListenContexts: [{ group: 'G' }] }], [{ configListenContexts: 'all' }]])(
    'of %j is refused in its own type',
    async (request) => {
      const client = await connect()
      const { type, body } = await client.ask('ConfigBatchListenRequest', request)
      expect({ type, ...body }).toMatchObject({
        type: 'ConfigChangeBatchListenResponse',
        resultCode: 500,
        errorCode: 400,
      })
    },
  )

  test('is shown among those who have an item, with its library and what it has', async () => {
    const key = named()
    await publish(key, 'x')
    const client = await connect({ setup: { clientVersion: 'Nacos-Java-Client:v3.0.3' } })
    await listen(client, [{ ...key, md5: md5('x') }])
    const { dataId, group } = key
    const answer = await waypost.svc.get('/console/config/watchers', { dataId, group })
    expect(answer.json()).toMatchObject({
      upToDate: 1,
      watchers: [
        {
          ip: '127.0.0.1',
          port: expect.any(Number) as number,
          agent: 'Nacos-Java-Client:v3.0.3',
          via: 'stream',
        },
      ],
    })
    for (const dialect of [waypost.svc, waypost.nacos]) {
      const ofItem = await dialect.get('/cs/configs/listener', { dataId, group })
      expect(ofItem.json().lisentersGroupkeyStatus).toEqual({ '127.0.0.1': md5('x') })
      const ofClient = await dialect.get('/cs/listener', { ip: '127.0.0.1' })
      expect(ofClient.json().lisentersGroupkeyStatus).toMatchObject({ [`${dataId}+${group}`]: md5('x') })
    }
    await client.close()
    const after = await waypost.svc.get('/console/config/watchers', { dataId, group })
    expect(after.json().watchers).toEqual([])
  })
})

test('a publish over gRPC answers a poll that HTTP holds', async () => {
  const { dataId, group } = named()
  const items = `${[dataId, group, ''].join('\u0002')}\u0001`
  const headers = { 'Long-Pulling-Timeout': '30000' }
  const poll = waypost.nacos.post('/cs/configs/listener', { 'Listening-Configs': items }, headers)
  const client = await connect()
  await client.ask('ConfigPublishRequest', { dataId, group, content: 'x' })
  expect((await poll).text).toBe(`${dataId}%02${group}%01\n`)
})
