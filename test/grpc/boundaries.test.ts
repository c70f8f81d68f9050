/** Faults of what answers calls end the call, and never the process. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Argument, type Expression, type FunctionBody, parseSync, Visitor } from 'oxc-parser'
import { afterEach, describe, expect, test } from 'vitest'
import { reportFaultsTo } from '../../src/core/unexpected.ts'
import type { ClientServices } from '../../src/protocols/grpc/transport/call-parts.ts'
import { GrpcServer } from '../../src/protocols/grpc/transport/grpc-server.ts'
import { toSend } from '../../src/protocols/grpc/wire/payload.ts'
import { until } from '../interface/client.ts'
import { frameOf } from '../support/grpc-client.ts'
import {
  begin,
  CALL,
  callTo,
  connectRaw,
  END_HEADERS,
  END_STREAM,
  FRAME,
  http2Frame,
  INITIAL_WINDOW,
  reset,
  setup,
  whole,
} from '../support/raw-http2.ts'

const SENT = toSend('SomeResponse', {}, {})
const WELL: ClientServices = {
  answer: (_message, session) => {
    session.isKnown = true
    return SENT
  },
  judge: () => undefined,
  open: () => ({ received: () => undefined, ended: () => undefined }),
}

const fail = (): never => {
  throw new Error('a fault')
}

let server: GrpcServer | undefined
afterEach(async () => {
  await server?.stop()
  reportFaultsTo(undefined)
})

async function start(services: Partial<ClientServices>) {
  const reported: unknown[] = []
  reportFaultsTo({ caught: (_boundary, error) => reported.push(error), fatal: () => undefined })
  const made = new GrpcServer({
    services: { ...WELL, ...services },
    settings: {
      maxConnections: 100,
      maxConnectionsPerAddress: 0,
      maxBodyMemoryBytes: 2 ** 20,
      requestTimeoutMs: 30_000,
    },
    tls: undefined,
    isSetUp: () => true,
    wallMs: () => 0,
    monotonicMs: () => 0,
    log: { warn: () => undefined },
  })
  server = made
  return { server: made, reported, port: await made.listen({ host: '127.0.0.1', port: 0 }) }
}

describe('a fault is reported, and the next call is answered', () => {
  const large = Buffer.concat([
    begin(1),
    http2Frame(FRAME.data, 1, {
      body: frameOf('SomeRequest', { text: 'x'.repeat(50_000) }).subarray(0, 16_000),
    }),
    http2Frame(FRAME.data, 1, { body: Buffer.alloc(1_000) }),
  ])
  test.each<[string, Partial<ClientServices>, Buffer]>([
    ['of an answer', { answer: fail }, whole(1, 'SomeRequest')],
    ['of an answer that is awaited', { answer: async () => fail() }, whole(1, 'SomeRequest')],
    ['of a verdict', { judge: fail }, large],
    ['of a verdict that is awaited', { judge: async () => fail() }, large],
    ['of a stream that begins', { open: fail }, setup(1)],
    ['of what comes on a stream', { open: () => ({ received: fail, ended: () => undefined }) }, setup(1)],
    [
      'of the end of a stream',
      { open: () => ({ received: () => undefined, ended: fail }) },
      Buffer.concat([setup(1), reset(1, 0)]),
    ],
    [
      'of the end of a stream, without an error',
      { open: () => ({ received: () => undefined, ended: fail }) },
      Buffer.concat([setup(1), http2Frame(FRAME.data, 1, { flags: END_STREAM })]),
    ],
  ])('%s', async (_, services, bytes) => {
    const { port, reported } = await start(services)
    const connection = await connectRaw(port)
    await connection.send(bytes)
    await until(async () => reported.length, Boolean)
    expect(String(reported[0])).toBe('Error: a fault')
    const { answer } = services
    const other = await connectRaw(port)
    await other.send(answer === undefined ? whole(1, 'SomeRequest') : setup(1))
    await (answer === undefined ? other.answered(1) : other.settled())
    expect(other.socket.destroyed).toBe(false)
    for (const { socket } of [connection, other]) socket.destroy()
  })
})

test('calls that their clients reset leave nothing, whatever the code', async () => {
  const { server, port, reported } = await start({ answer: () => new Promise(() => undefined) })
  const connection = await connectRaw(port, { settings: [[INITIAL_WINDOW, 0]] })
  const half = frameOf('SomeRequest', {}).subarray(0, 9)
  for (let id = 1; id < 400; id += 2) {
    const head = http2Frame(FRAME.headers, id, {
      flags: END_HEADERS,
      body: id % 3 === 0 ? CALL.stream : CALL.request,
    })
    const data = id % 5 === 0 ? [] : [http2Frame(FRAME.data, id, { body: half })]
    await connection.send(Buffer.concat([head, ...data, reset(id, id % 7 === 0 ? 8 : 0)]))
    await connection.settled()
  }
  await until(
    async () => server.unknownBytes,
    (bytes) => bytes === 0,
  )
  expect(reported).toEqual([])
  connection.socket.destroy()
})

describe('callers who have shown nothing hold little', () => {
  test.each(['application/grpc', 'text/plain'])(
    'the oldest call is given up for the next: %s',
    async (type) => {
      // A quarter of 1 MiB, and each call counts as 8 KiB.
      const { server, port } = await start({})
      const first = await connectRaw(port)
      const block = callTo('/Request/request', type)
      await first.send(begin(1, block))
      await first.settled()
      const others = await Promise.all(Array.from({ length: 4 }, () => connectRaw(port)))
      for (const other of others) {
        for (let id = 1; id < 40; id += 2) await other.send(begin(id, block))
        await other.settled()
      }
      await first.answered(1)
      expect(server.unknownBytes).toBeLessThanOrEqual(2 ** 18)
      // A call that is complete is answered all the same.
      const proper = await connectRaw(port)
      await proper.send(whole(1, 'SomeRequest'))
      await proper.answered(1)
      expect(proper.came).not.toContain(FRAME.reset)
      for (const { socket } of [first, proper, ...others]) socket.destroy()
    },
  )
})

test('whatever listens to what Node emits is inside a catch, so that no handler can end the process', () => {
  const folder = fileURLToPath(new URL('../../src/protocols/grpc/transport', import.meta.url))
  const found: string[] = []
  for (const file of readdirSync(folder).filter((name) => !name.includes('.test'))) {
    const { program } = parseSync(file, readFileSync(join(folder, file), 'utf8'))
    new Visitor({
      CallExpression({ callee, arguments: [event, handler] }) {
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
        const isListening = /^(on|once|addListener|prependListener)$/.test(callee.property.name)
        if (isListening && event?.type === 'Literal' && !isCaught(handler))
          found.push(`${file}: ${callee.property.name} ${String(event.value)}`)
      },
    }).visit(program)
  }
  expect(found).toEqual([])
})

const CATCHES = ['guarded', 'guard', 'contained']

/** Whether a handler is made by a catch, or calls nothing but one, or does nothing. */
function isCaught(handler: Argument | undefined): boolean {
  if (handler?.type === 'Identifier') return handler.name === 'nothing'
  if (handler?.type === 'ArrowFunctionExpression') return handler.expression && isCatch(handler.body)
  return handler !== undefined && isCatch(handler)
}

function isCatch(node: Argument | FunctionBody | Expression): boolean {
  if (node.type !== 'CallExpression') return false
  const { callee } = node
  const name = callee.type === 'MemberExpression' ? callee.property : callee
  return (name.type === 'Identifier' || name.type === 'PrivateIdentifier') && CATCHES.includes(name.name)
}
