/** Gray versions for connected clients: by the address that they say, their tag and their labels. */
import { describe, expect, test } from 'vitest'
import { md5, type Params, serverForThisFile, unique } from '../interface/client.ts'
import type { Body, GrpcClient } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'

const waypost = serverForThisFile()
const connect = grpcClients(() => waypost.server)

const done = { resultCode: 200, errorCode: 0, success: true }
const NOTIFY = 'ConfigChangeNotifyRequest'

const labelled = (labels: Record<string, string>, clientVersion = 'Test-Client:v1.0.0') =>
  connect({ setup: { clientVersion, labels: { source: 'sdk', module: 'config', ...labels } } })

const named = (): { dataId: string; group: string } => ({ dataId: unique('gray'), group: 'G' })
const publish = (
  key: Params,
  content: string,
  { headers = {}, ...more }: { headers?: Record<string, string>; [parameter: string]: unknown } = {},
) => waypost.nacos.post('/cs/configs', { ...key, content, ...(more as Params) }, headers)
const query = async (client: GrpcClient, key: Body): Promise<Body> =>
  (await client.ask('ConfigQueryRequest', key)).body
const listen = async (client: GrpcClient, key: Body, content: string): Promise<unknown> => {
  const configListenContexts = [{ ...key, md5: content === '' ? '' : md5(content) }]
  const { body } = await client.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
  return body['changedConfigs']
}

describe('a version for some addresses', () => {
  test('is for the address that a client says of itself', async () => {
    const key = named()
    await publish(key, 'formal')
    await publish(key, 'beta', { headers: { betaIps: '10.0.0.7' } })
    const meant = await connect({ clientIp: '10.0.0.7' })
    const other = await connect({ clientIp: '10.0.0.8' })
    expect(await query(meant, key)).toMatchObject({ content: 'beta', md5: md5('beta'), beta: true })
    expect(await query(other, key)).toMatchObject({ content: 'formal', beta: false })
  })

  test('is pushed to those whose view has changed, and only to them', async () => {
    const key = named()
    await publish(key, 'formal')
    const meant = await connect({ clientIp: '10.0.0.7' })
    const other = await connect({ clientIp: '10.0.0.8' })
    for (const client of [meant, other]) expect(await listen(client, key, 'formal')).toEqual([])
    const additionMap = { betaIps: '10.0.0.7', tag: '', type: 'yaml' }
    const request = { ...key, content: 'beta', casMd5: '', additionMap }
    expect((await meant.ask('ConfigPublishRequest', request)).body).toMatchObject(done)
    expect((await meant.next(NOTIFY)).body).toMatchObject(key)
    expect(await listen(meant, key, 'beta')).toEqual([])
    await publish(key, 'newer')
    expect((await other.next(NOTIFY)).body).toMatchObject(key)
    expect(await listen(other, key, 'newer')).toEqual([])
    // Taken out of the list: it gets the formal version.
    await publish(key, 'beta', { headers: { betaIps: '10.0.0.8' } })
    for (const client of [meant, other]) expect((await client.next(NOTIFY)).body).toMatchObject(key)
    expect(await query(meant, key)).toMatchObject({ content: 'newer' })
    for (const client of [meant, other]) expect(client.waiting).toEqual([])
  })
})

describe('a version for a tag', () => {
  test.each([{ 'app_Vipserver-Tag': 'x' }, { 'Vipserver-Tag': 'x' }])(
    'is for the label %j',
    async (labels) => {
      const key = named()
      await publish(key, 'formal')
      const client = await labelled(labels)
      expect(await listen(client, key, 'formal')).toEqual([])
      const tagged = { ...key, content: 'tagged', additionMap: { tag: 'x' } }
      expect((await client.ask('ConfigPublishRequest', tagged)).body).toMatchObject(done)
      expect((await client.next(NOTIFY)).body).toMatchObject(key)
      expect(await query(client, key)).toMatchObject({ content: 'tagged', beta: false })
      expect(await query(await connect(), key)).toMatchObject({ content: 'formal' })
      expect((await client.ask('ConfigRemoveRequest', { ...key, tag: 'x' })).body).toMatchObject(done)
      expect(await query(client, key)).toMatchObject({ content: 'formal' })
    },
  )

  test('is for a header, and for who asks for it', async () => {
    const key = named()
    await publish(key, 'formal')
    await publish(key, 'tagged', { tag: 'x' })
    const client = await connect()
    const ask = (body: Body, headers: Record<string, string> = {}) =>
      client.ask('ConfigQueryRequest', { ...key, ...body }, headers)
    expect((await ask({ tag: 'x' })).body).toMatchObject({ content: 'tagged' })
    expect((await ask({ tag: 'y' })).body).toMatchObject({ errorCode: 300 })
    expect((await ask({}, { 'Vipserver-Tag': 'x' })).body).toMatchObject({ content: 'tagged' })
  })

  test('is for a client whose listening names the tag in a header, from then on', async () => {
    const key = named()
    const other = named()
    for (const each of [key, other]) await publish(each, 'formal')
    const client = await connect()
    expect(await listen(client, key, 'formal')).toEqual([])
    await publish(key, 'tagged', { tag: 'x' })
    const configListenContexts = [{ ...other, md5: md5('formal') }]
    const tagged = { 'Vipserver-Tag': 'x' }
    const ask = (headers: Record<string, string>) =>
      client.ask('ConfigBatchListenRequest', { listen: true, configListenContexts }, headers)
    expect((await ask(tagged)).body['changedConfigs']).toEqual([])
    // What it has listened to before is another version for it by now.
    expect((await client.next(NOTIFY)).body).toMatchObject(key)
    await publish(other, 'other', { tag: 'x' })
    expect((await client.next(NOTIFY)).body).toMatchObject(other)
    expect((await ask(tagged)).body['changedConfigs']).toEqual([other])
    expect((await ask({})).body['changedConfigs']).toEqual([])
    expect((await client.next(NOTIFY)).body).toMatchObject(key)
  })

  test('is named to Java alone: Go and Python fail on it', async () => {
    const key = named()
    await publish(key, 'tagged', { tag: 'x' })
    const ofTag = { ...key, tag: 'x' }
    const java = await labelled({}, 'Nacos-Java-Client:v2.5.1')
    expect(await query(java, ofTag)).toMatchObject({ content: 'tagged', tag: 'x' })
    for (const version of ['Nacos-Go-Client:v2.3.0', 'Nacos-Python-Client:v3.0.0', ''])
      expect(await query(await labelled({}, version), ofTag)).not.toHaveProperty('tag')
  })
})

describe('a read by who has a text', () => {
  test('is answered without the text where that is what the client sees', async () => {
    const key = named()
    await publish(key, 'formal', { type: 'yaml' })
    await publish(key, 'beta', { headers: { betaIps: '10.0.0.7' } })
    const meant = await connect({ clientIp: '10.0.0.7' })
    const other = await connect({ clientIp: '10.0.0.8' })
    const has = (content: string): Body => ({ ...key, localMd5: md5(content) })
    const notModified = { resultCode: 500, errorCode: 304, success: false, contentType: 'yaml' }
    const beta = await query(meant, has('beta'))
    expect(beta).toMatchObject({ ...notModified, md5: md5('beta'), beta: true })
    expect(beta).not.toHaveProperty('content')
    expect(await query(other, has('formal'))).toMatchObject({ ...notModified, md5: md5('formal') })
    expect(await query(other, has('beta'))).toMatchObject({ ...done, content: 'formal' })
    expect(await query(meant, has('formal'))).toMatchObject({ ...done, content: 'beta' })
    for (const localMd5 of ['', null])
      expect(await query(meant, { ...key, localMd5 })).toMatchObject({ content: 'beta' })
    expect(await query(other, { ...key, tag: 'x', localMd5: md5('formal') })).toMatchObject({
      errorCode: 300,
    })
  })
})

test('who has an item says by what rules know a client, so that the answer can be explained', async () => {
  const key = named()
  await publish(key, 'formal')
  const release = { grayName: 'test', grayType: 'tagv2', grayMatchRuleExp: 'env=test' }
  await waypost.svc.post('/cs/configs/gray', { ...key, ...release, content: 'new' })
  const client = await labelled({ app_env: 'test', app_zone: 'a,b=c', 'Vipserver-Tag': 'x' })
  await listen(client, key, 'new')
  const { watchers, shares } = (await waypost.svc.get('/console/config/watchers', key)).json()
  expect(shares).toEqual({ gray: 1, formal: 0, behind: 0, away: 0, unknown: 0 })
  const [{ has, grayName, ruleIp: ip, ruleTag: tag, ruleLabels: labels }] = watchers
  expect([has, grayName, tag]).toEqual(['gray', 'test', 'x'])
  expect(labels).toContain('env=test,zone=a\\,b=c')
  const explained = await waypost.svc.get('/cs/configs/gray/explain', { ...key, ip, tag, labels })
  expect(explained.json()).toMatchObject({ grayName: 'test' })
})
