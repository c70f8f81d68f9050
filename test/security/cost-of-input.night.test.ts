/**
 * No text costs the server much more than plain letters of its length: neither as the value of any parameter of any operation,
 * nor as the largest form, content, archive or message. The server's processor time is measured, not the time of the clock.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { zipChunks, type ZipFile } from '../../src/archive/zip-writer.ts'
import type { Route } from '../../src/protocols/http/routing/route.ts'
import { Client } from '../interface/client.ts'
import { nameOf, neededBy, routesFor, sample } from '../routes/route-table.ts'
import { startManaged } from '../support/administrator.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'
import { hasThreadTimes } from '../support/processor-time.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { InputCosts, type Reader, settled, type TooDear } from './input-costs.ts'
import {
  asJson,
  asParameters,
  FORM_SHAPES,
  LETTERS_IN_LINES,
  LINE_SHAPES,
  repeated,
  SHAPES,
} from './input-shapes.ts'

const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE
const LIMIT_MS = 600_000

/** These end sessions or processes, or wait: they have no place in a loop over all operations. */
const LEFT_OUT = ['GET /svc/v1/console/events']

/** The shapes as values of parameters, by their bytes as they are sent. */
const VALUES = asParameters(SHAPES)
/** The shapes as fields of messages. */
const MESSAGES = asJson({ ...SHAPES, ...LINE_SHAPES })

let waypost: Waypost
let client: Client
let costs: InputCosts

beforeAll(async () => {
  waypost = await startWaypost({ settings: { 'max-connections-per-address': 1_000 } })
  client = new Client(waypost.url)
  costs = new InputCosts(waypost)
  await settled(waypost)
})

afterAll(async () => {
  console.log(`The longest pause of the event loop: ${costs.longestPauseMs.toFixed(0)} ms.`)
  await waypost.stop()
})

/** The inputs that cost too much, in words for the message of a failure. */
const shown = (found: readonly TooDear[]): string =>
  found
    .map(
      ({ reader, shape, quarter, whole, letters }) =>
        `${reader}: ${shape} ${whole.toFixed(1)} ms, a quarter of it ${quarter.toFixed(1)} ms, letters ${letters.toFixed(1)} ms`,
    )
    .join('; ')

describe.skipIf(!hasThreadTimes())('64 KiB cost as much as letters', () => {
  const routes = routesFor({ isOn: false, allows: () => true }).filter(
    (route) => !LEFT_OUT.includes(nameOf(route)) && route.body !== 'raw',
  )

  test.each(routes.map((route) => [nameOf(route), route] as const))(
    '%s',
    async (name, route) => {
      const found: TooDear[] = []
      for (const parameter of Object.keys(route.params.properties)) {
        const title = `${name} ${parameter}`
        found.push(
          ...(await costs.tooDear(title, senderOf(route, parameter), {
            shapes: VALUES,
            bytes: 64 * KIBIBYTE,
          })),
        )
      }
      expect(shown(found)).toBe('')
    },
    LIMIT_MS,
  )
})

/** Sends a text as the value of a parameter of a route, with what the route needs besides. */
function senderOf(route: Route, parameter: string): Reader {
  const names = [...neededBy(route), ...(route.variant === undefined ? [] : [route.variant])]
  const texts = sample(route, names)
  return (text) => {
    const call = { ...texts, [parameter]: text }
    return client.call(route.method, route.path, route.method === 'POST' ? { form: call } : { query: call })
  }
}

describe.skipIf(!hasThreadTimes())('the largest texts cost as much as letters', () => {
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

  test.each([
    ['/svc/v1/cs/configs', 31 * MEBIBYTE],
    ['/nacos/v1/cs/configs', 31 * MEBIBYTE],
    ['/svc/v1/ns/instance', 2 * MEBIBYTE - 1],
    ['/nacos/v1/cs/configs/listener', 2 * MEBIBYTE - 1],
  ])(
    'a form to %s',
    async (path, bytes) => {
      const send: Reader = (body) => client.call('POST', path, { body, headers: FORM })
      expect(shown(await costs.tooDear(path, send, { shapes: FORM_SHAPES, bytes }))).toBe('')
    },
    LIMIT_MS,
  )

  test(
    'a form that is refused for its token',
    async () => {
      const { waypost: guarded } = await startManaged()
      const guardedClient = new Client(guarded.url)
      const send: Reader = async (text) => {
        const body = Buffer.from(`${text}&accessToken=wrong`, 'latin1')
        const { status } = await guardedClient.call('POST', '/nacos/v1/cs/configs', { body, headers: FORM })
        expect([400, 403]).toContain(status)
      }
      const shapes = {
        ...FORM_SHAPES,
        'empty fields': repeated('a=&'),
        'fields without a value': repeated('&a'),
        'bytes that are no text': repeated('\xff'),
      }
      const found = await new InputCosts(guarded).tooDear('refused', send, { shapes, bytes: 31 * MEBIBYTE })
      await guarded.stop()
      expect(shown(found)).toBe('')
    },
    LIMIT_MS,
  )

  test.each([
    ['/nacos/v1/cs/configs/listener', 'Listening-Configs'],
    ['/svc/v1/cs/configs/listener', 'Listening-Configs'],
    ['/svc/v1/ns/instance', 'metadata'],
    ['/nacos/v1/ns/instance', 'metadata'],
    ['/svc/v1/ns/service', 'selector'],
    ['/svc/v1/cs/configs', 'config_tags'],
  ])(
    '%s %s',
    async (path, parameter) => {
      const others = {
        serviceName: 'dear',
        ip: '10.0.0.1',
        port: 80,
        dataId: 'dear',
        group: 'G',
        content: 'c',
      }
      const send: Reader = (text) => client.post(path, { ...others, [parameter]: text })
      const found = await costs.tooDear(`${path} ${parameter}`, send, {
        shapes: VALUES,
        bytes: 1.5 * MEBIBYTE,
      })
      expect(shown(found)).toBe('')
    },
    LIMIT_MS,
  )

  test.each([
    ['content', 'none such'],
    ['key', 'none.such'],
    ['key', 'k.a'],
  ])(
    'a content that is searched by %s=%s',
    async (parameter, wanted) => {
      // Publishing is counted as well: for all shapes alike.
      const send: Reader = async (content) => {
        await client.post('/svc/v1/cs/configs', { dataId: 'searched', group: 'G', content })
        await client.get('/svc/v1/console/configs', { [parameter]: wanted, namespaceId: 'public' })
      }
      const found = await costs.tooDear(`search by ${parameter}`, send, {
        shapes: asParameters(LINE_SHAPES),
        letters: LETTERS_IN_LINES,
        bytes: 3 * MEBIBYTE,
      })
      expect(shown(found)).toBe('')
    },
    LIMIT_MS,
  )

  test.each([
    ['.meta.yml', repeated('k=abcdef\n')],
    ['.metadata.yml', LETTERS_IN_LINES],
  ])(
    'an archive with %s',
    async (name, letters) => {
      const head = name === '.metadata.yml' ? 'metadata:\n- dataId: a\n  group: G\n' : ''
      const send: Reader = async (text) => {
        const zip = await zipOf([
          { name: 'G/a', content: Buffer.from('a'), modifiedMs: 0 },
          { name, content: Buffer.from(head + text), modifiedMs: 0 },
        ])
        return client.call('POST', '/nacos/v1/cs/configs', {
          query: { import: true },
          body: multipartOf(zip),
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
        })
      }
      expect(
        shown(
          await costs.tooDear(name, send, {
            shapes: LINE_SHAPES,
            bytes: 4 * MEBIBYTE,
            letters,
          }),
        ),
      ).toBe('')
    },
    LIMIT_MS,
  )

  describe('over gRPC', () => {
    let connected: GrpcClient
    beforeAll(async () => {
      connected = await connectGrpc(waypost)
    })
    afterAll(() => connected.close())

    test.each([
      ['ConfigPublishRequest', 'content', 4 * MEBIBYTE],
      ['ConfigPublishRequest', 'dataId', MEBIBYTE],
      ['ConfigQueryRequest', 'group', MEBIBYTE],
      ['InstanceRequest', 'serviceName', MEBIBYTE],
      ['ServiceQueryRequest', 'cluster', MEBIBYTE],
      ['SubscribeServiceRequest', 'clusters', MEBIBYTE],
      ['ServiceListRequest', 'selector', MEBIBYTE],
    ])(
      '%s %s',
      async (type, field, bytes) => {
        const send: Reader = (text) =>
          connected.ask(type, { dataId: 'd', group: 'G', serviceName: 's', content: 'c', [field]: text })
        const found = await costs.tooDear(`${type} ${field}`, send, {
          shapes: MESSAGES,
          bytes,
        })
        expect(shown(found)).toBe('')
      },
      LIMIT_MS,
    )
  })
})

async function zipOf(files: readonly ZipFile[]): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of zipChunks(files)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function multipartOf(zip: Buffer): Buffer {
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f.zip"\r\n\r\n'
  return Buffer.concat([Buffer.from(head), zip, Buffer.from('\r\n--b--\r\n')])
}
