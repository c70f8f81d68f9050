/** Streams of clients on which comes what no library sends. */
import { once } from 'node:events'
import type { ClientHttp2Stream } from 'node:http2'
import { afterEach, describe, expect, test } from 'vitest'
import { type Json, serverForThisFile, unique, until } from '../interface/client.ts'
import { type Body, connectGrpc, framed, frameOf, type GrpcClient, openCall } from '../support/grpc-client.ts'
import { clientsOfTests } from './naming-fixture.ts'

const waypost = serverForThisFile()
const connected = clientsOfTests(waypost)
const open: GrpcClient[] = []
afterEach(async () => {
  for (const { session } of open.splice(0)) session.destroy()
  const faults = waypost.server.output().replaceAll(/.*the event loop stood still.*\n/g, '')
  expect(faults).not.toMatch(/"level":(40|50|60)/)
})

/** A client that has not set its connection up, and its stream. */
async function begun(): Promise<{ client: GrpcClient; stream: ClientHttp2Stream }> {
  const client = await connectGrpc(waypost.server, { setup: false })
  open.push(client)
  return { client, stream: streamOf(client) }
}

function streamOf({ session }: GrpcClient): ClientHttp2Stream {
  return openCall(session, '/BiRequestStream/requestBiStream').resume()
}

const healthOf = async (client: GrpcClient): Promise<string> => (await client.ask('HealthCheckRequest')).type
const shownOf = async ({ connectionId }: GrpcClient): Promise<Json> => {
  const { pageItems } = (await waypost.svc.get('/console/clients', { pageSize: 100 })).json()
  return pageItems.find(({ id }: { id: string }) => id === connectionId)
}
const settled = (client: GrpcClient) =>
  until(
    () => healthOf(client),
    (type) => type === 'HealthCheckResponse',
  )

describe('a setup', () => {
  test.each<[string, Buffer]>([
    ['an acknowledgement', frameOf('NotifySubscriberResponse', { requestId: '1', resultCode: 200 })],
    ['a setup that is no JSON', frameOf('ConnectionSetupRequest', '{')],
    ['a setup that is no object', frameOf('ConnectionSetupRequest', '[]')],
    ['a request', frameOf('ConfigQueryRequest', { dataId: 'a', group: 'b' })],
    ['a message without a type', frameOf('', {})],
  ])('must come first: %s ends the stream, and what comes after it is ignored', async (_, first) => {
    const { client, stream } = await begun()
    stream.write(Buffer.concat([first, frameOf('ConnectionSetupRequest', {})]))
    await once(stream, 'close')
    expect(await healthOf(client)).toBe('ErrorResponse')
    // The client may try again.
    streamOf(client).write(frameOf('ConnectionSetupRequest', {}))
    await settled(client)
  })

  test.each<Body>([
    { clientVersion: 5, labels: { a: 5, module: null, AppName: {} }, tenant: 7, abilityTable: 'x' },
    { clientVersion: null, labels: null, tenant: null, abilityTable: null },
    { labels: [], abilityTable: [] },
  ])('of wrong kinds (%j) is one without them', async (setup) => {
    const { client, stream } = await begun()
    stream.write(frameOf('ConnectionSetupRequest', setup))
    await settled(client)
    expect(await shownOf(client)).toMatchObject({ version: '', appName: '', module: '', labels: {} })
  })

  test('with long texts and many labels keeps a little of them', async () => {
    const { client, stream } = await begun()
    const labels = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 'x']))
    const setup = { clientVersion: 'v'.repeat(4_000), labels: { AppName: 'a'.repeat(4_000), ...labels } }
    stream.write(frameOf('ConnectionSetupRequest', setup))
    await settled(client)
    expect((await waypost.svc.get('/console/clients', { search: 'vvv' })).text.length).toBeLessThan(3_000)
  })

  test('keeps 8 KiB of labels', async () => {
    const { client, stream } = await begun()
    const labels = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`k${index}`, 'x'.repeat(256)]),
    )
    stream.write(frameOf('ConnectionSetupRequest', { labels }))
    await settled(client)
    const kept: Json = (await shownOf(client)).labels
    expect(JSON.stringify(kept).length).toBeLessThan(8_500)
    expect(Object.keys(kept).length).toBeGreaterThan(20)
  })

  test('of more than 16 KiB ends the stream', async () => {
    const { client, stream } = await begun()
    stream.write(frameOf('ConnectionSetupRequest', { labels: { a: 'x'.repeat(17_000) } }))
    await new Promise((resolve) => stream.on('close', resolve))
    expect(await healthOf(client)).toBe('ErrorResponse')
  })

  test('that comes twice, or on a second stream, changes nothing', async () => {
    const { client, stream } = await begun()
    stream.write(frameOf('ConnectionSetupRequest', { clientVersion: 'First:v1' }))
    await settled(client)
    stream.write(frameOf('ConnectionSetupRequest', { clientVersion: 'Second:v1', abilityTable: {} }))
    const second = streamOf(client)
    second.write(frameOf('ConnectionSetupRequest', { clientVersion: 'Third:v1' }))
    second.end()
    await once(second, 'close')
    await settled(client)
    expect(await shownOf(client)).toMatchObject({ version: 'First:v1' })
  })
})

describe('what comes on a stream that is set up', () => {
  test.each([
    ['of ids that nobody has asked with', { requestId: '4711', resultCode: 200 }],
    ['with an id of another kind', { requestId: { a: 1 }, resultCode: 'x' }],
    ['without an id', {}],
    ['with nulls', { requestId: null, resultCode: null }],
  ])('is ignored: acknowledgements %s', async (_, body) => {
    const client = await connected()
    const serviceName = unique('svc')
    await client.subscribe(serviceName)
    for (const type of ['NotifySubscriberResponse', 'ClientDetectionResponse', '', 'ServiceQueryRequest'])
      client.grpc.send(type, body)
    client.grpc.stream!.write(frameOf('NotifySubscriberResponse', 'no JSON'))
    await client.register(serviceName, { port: 1 })
    await client.pushedUntil(({ hosts }) => hosts.length === 1)
  })

  test('ends the connection, with its instances, where it is no message', async () => {
    const [client, other] = [await connected(), await connected()]
    const serviceName = unique('svc')
    await client.register(serviceName)
    client.grpc.stream!.write(framed(Buffer.from('ffffffffff', 'hex')))
    await client.grpc.ended
    expect((await other.query(serviceName)).hosts).toEqual([])
  })
})

test.each(['end', 'reset'])('a stream that its client ends (%s) ends the connection', async (how) => {
  const [client, other] = [await connected(), await connected()]
  const serviceName = unique('svc')
  await client.register(serviceName)
  await client.grpc.ask('ConfigBatchListenRequest', {
    configListenContexts: [{ dataId: serviceName, group: 'G', md5: '' }],
  })
  if (how === 'end') client.grpc.stream!.end()
  else client.grpc.stream!.close(8)
  await client.grpc.ended
  expect((await other.query(serviceName)).hosts).toEqual([])
  const watchers = await waypost.svc.get('/console/config/watchers', { dataId: serviceName, group: 'G' })
  expect(watchers.json().watchers).toEqual([])
})
