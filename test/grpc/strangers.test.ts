/** The rights of a caller without credentials: no connection that is set up, or no token. */
import { once } from 'node:events'
import { toBinary, create } from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { MetadataSchema } from '../support/generated/client_pb.js'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { connectGrpc, framed, frameOf, type GrpcClient, openCall } from '../support/grpc-client.ts'

let managed: ManagedWaypost
let token: string
const open: GrpcClient[] = []
beforeAll(async () => {
  managed = await startManaged()
  await managed.addUser({ username: 'shop', password: 'secret', permissions: { ':G:config/*': 'rw' } })
  const body = new URLSearchParams({ username: 'shop', password: 'secret' })
  const answer = await fetch(`${managed.waypost.url}/nacos/v1/auth/users/login`, { method: 'POST', body })
  token = ((await answer.json()) as { accessToken: string }).accessToken
})
afterEach(() => open.splice(0).forEach(({ session }) => session.destroy()))
afterAll(() => managed.waypost.stop())

async function connect(setup?: false): Promise<GrpcClient> {
  const client = await connectGrpc(managed.waypost, setup === false ? { setup } : {})
  open.push(client)
  return client
}

const MIB = 1024 * 1024
const ITEM = { dataId: 'item', group: 'G', tenant: '' }
const publish = (bytes: number) => ({ ...ITEM, content: 'x'.repeat(bytes) })

/** Sends all but the end of a message and leaves the call open: the answer must not wait for the rest. */
async function answerToBegin({ session }: GrpcClient, frame: Buffer, sent: number): Promise<string> {
  const stream = openCall(session, '/Request/request')
  stream.write(frame.subarray(0, sent))
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(stream, 'close')
  return Buffer.concat(chunks).toString()
}

describe('a caller who has not set its connection up', () => {
  test.each(['ConfigPublishRequest', 'HealthCheckRequest', 'MakeCoffeeRequest'])(
    'is refused by the begin of a large %s',
    async (type) => {
      const client = await connect(false)
      const answer = await answerToBegin(client, frameOf(type, publish(5 * MIB)), 40_000)
      expect(answer).toMatch(/ErrorResponse.*"errorCode":(301|302|500)/s)
      expect((await client.ask('ServerCheckRequest')).type).toBe('ServerCheckResponse')
    },
  )

  test('is refused by the size of a message whose head comes last', async () => {
    const answer = await answerToBegin(
      await connect(false),
      bodyFirst('ConfigPublishRequest', 5 * MIB),
      40_000,
    )
    expect(answer).toContain('"errorCode":301')
  })

  test('gets the id of a small request back, and none of a large one', async () => {
    const client = await connect(false)
    const { body } = await client.ask('ConfigQueryRequest', { requestId: '7' })
    expect(body).toMatchObject({ requestId: '7', errorCode: 301 })
    for (const type of [
      'ServerCheckRequest',
      'HealthCheckRequest',
      'MakeCoffeeRequest',
      'ConfigQueryRequest',
    ]) {
      const large = await client.ask(type, { requestId: '7', more: 'x'.repeat(5_000) })
      expect(large.body['requestId']).toBeUndefined()
    }
  })
})

describe('a caller without a token that counts', () => {
  const REFUSED = { type: 'ConfigPublishResponse', body: { errorCode: 403, success: false } }

  test.each([
    ['none', {}],
    ['a wrong one', { accessToken: 'wrong' }],
    ['a forged one', { accessToken: 'eyJhbGciOiJIUzI1NiJ9.e30.x' }],
  ])('is refused by the begin of a large request: %s', async (_, headers) => {
    const client = await connect()
    const answer = await answerToBegin(
      client,
      frameOf('ConfigPublishRequest', publish(9 * MIB), headers),
      40_000,
    )
    expect(answer).toMatch(/ConfigPublishResponse.*"errorCode":403/s)
    expect(await client.ask('ConfigPublishRequest', publish(5 * MIB), headers)).toMatchObject(REFUSED)
  })

  test('is refused whatever its body is', async () => {
    const client = await connect()
    for (const body of ['{', '[]', '{"dataId":5}'])
      expect((await rawAsk(client, frameOf('ConfigPublishRequest', body))).toString()).toContain(
        '"errorCode":403',
      )
    expect(await client.ask('ConfigBatchListenRequest', { configListenContexts: [] })).toMatchObject({
      type: 'ConfigChangeBatchListenResponse',
      body: { errorCode: 403 },
    })
  })

  test('is in the audit, by its item where the request is small', async () => {
    const client = await connect()
    // Refusals of one operation are one event, with the item of the first.
    await client.ask('ConfigRemoveRequest', publish(10))
    await client.ask('ConfigPublishRequest', publish(1 * MIB))
    await expect
      .poll(() => refusals())
      .toEqual(
        expect.arrayContaining([
          expect.objectContaining({ operation: 'delete config', item: 'public:G:config/item' }),
          expect.objectContaining({ operation: 'publish config', item: '' }),
        ]),
      )
  })

  async function refusals(): Promise<unknown[]> {
    const text = await managed.ask('GET', '/svc/v1/audit?result=refused&pageSize=50')
    return (JSON.parse(text) as { events: unknown[] }).events
  }
})

describe('a caller with a token', () => {
  test('publishes 10 MiB with its first request', async () => {
    const client = await connect()
    const { body } = await client.ask('ConfigPublishRequest', publish(10 * MIB), { accessToken: token })
    expect(body).toMatchObject({ success: true })
  })

  test('publishes many large items at once', async () => {
    const client = await connect()
    const all = Array.from({ length: 20 }, (_, index) =>
      client.ask(
        'ConfigPublishRequest',
        { ...publish(MIB), dataId: `item-${index}` },
        { accessToken: token },
      ),
    )
    for (const { body } of await Promise.all(all)) expect(body).toMatchObject({ success: true })
  })

  test('may send the head of a message after its body', async () => {
    const client = await connect()
    const answer = await rawAsk(client, bodyFirst('ConfigPublishRequest', 9 * MIB, token))
    expect(answer.toString()).toMatch(/ConfigPublishResponse.*"success":true/s)
  })

  test('counts by the last head of a message', async () => {
    const client = await connect()
    const frame = frameOf('ConfigPublishRequest', publish(MIB), { accessToken: token })
    const late = metadataOf('ConfigPublishRequest', { accessToken: 'wrong' })
    const both = Buffer.concat([frame.subarray(5), late])
    expect((await rawAsk(client, framed(both))).toString()).toContain('"errorCode":403')
  })
})

async function rawAsk({ session }: GrpcClient, frame: Buffer): Promise<Buffer> {
  const stream = openCall(session, '/Request/request')
  stream.end(frame)
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(stream, 'close')
  return Buffer.concat(chunks)
}

/** A field of Payload: 2 is the metadata, 3 the body. */
function fieldOf(number: number, bytes: Uint8Array): Buffer {
  const length: number[] = []
  for (let left = bytes.length; ; left >>>= 7) {
    if (left < 0x80) return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, left]), bytes])
    length.push((left & 0x7f) | 0x80)
  }
}

function metadataOf(type: string, headers: Record<string, string>): Buffer {
  return fieldOf(2, toBinary(MetadataSchema, create(MetadataSchema, { type, headers })))
}

/** A message in another order than the order of clients. */
function bodyFirst(type: string, bytes: number, accessToken = ''): Buffer {
  const value = Buffer.from(JSON.stringify(publish(bytes)))
  const body = fieldOf(3, toBinary(AnySchema, create(AnySchema, { value })))
  return framed(Buffer.concat([body, metadataOf(type, { accessToken })]))
}
