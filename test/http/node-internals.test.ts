/** Behaviour of Node that the server relies on although it is not documented: each test fails when Node changes it. */
import { once } from 'node:events'
import { createServer, type Server, type ServerOptions } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { OK_TEXT } from '../../src/protocols/http/routing/answers.ts'
import { isTested } from '../../src/protocols/http/transport/node-internals/node-version.ts'
import { WholeResponse } from '../../src/protocols/http/transport/node-internals/whole-response.ts'
import { finish, raw, SETTINGS, start, until } from './http-fixture.ts'

const open: { close(): unknown }[] = []
afterEach(() => {
  for (const each of open.splice(0).toReversed()) each.close()
})

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'
const NOBODY = { answerSent: () => undefined }

/** A server of Node's that hands the responses over, and a connection to it. */
async function connected(options: ServerOptions = {}): Promise<{
  server: Server
  socket: Socket
  responses: WholeResponse[]
  text: () => string
}> {
  const responses: WholeResponse[] = []
  const server = createServer({ ...options, ServerResponse: WholeResponse }, (_, response) => {
    responses.push(response as WholeResponse)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  open.push(
    { close: () => (server.closeAllConnections(), server.close()) },
    { close: () => socket.destroy() },
  )
  return { server, socket, responses, text: () => text }
}

describe('a response that is sent with one write', () => {
  test('has headersSent after its head is set, and cannot start twice', async () => {
    const { socket, responses } = await connected()
    socket.write(GET)
    await until(() => responses.length === 1)
    const response = responses[0]!
    expect(response.headersSent).toBe(false)
    expect(response.takeWhole(HEAD, OK_TEXT, NOBODY)).toBe(true)
    expect(response.headersSent).toBe(true)
    expect(() => response.writeHead(200)).toThrow('after they are sent')
    expect(response.takeWhole(HEAD, OK_TEXT, NOBODY)).toBe(false)
  })

  test('is complete for Node: the next request arrives, and `close` is emitted', async () => {
    const { socket, responses, text } = await connected()
    for (let round = 0; round < 3; round++) {
      socket.write(GET)
      await until(() => responses.length === round + 1)
      const closed = once(responses[round]!, 'close')
      responses[round]!.takeWhole(HEAD, OK_TEXT, NOBODY)
      responses[round]!.run()
      await closed
    }
    await until(() => text() === `${HEAD}ok`.repeat(3))
  })

  test('is complete for Node: the idle connection ends after the keep-alive timeout', async () => {
    const { socket, responses } = await connected({ keepAliveTimeout: 50 })
    socket.write(GET)
    await until(() => responses.length === 1)
    responses[0]!.takeWhole(HEAD, OK_TEXT, NOBODY)
    responses[0]!.run()
    await once(socket, 'close')
  })

  test('has no socket while an earlier answer is missing, and gets it with the end of that', async () => {
    const { socket, responses, text } = await connected()
    socket.write(GET + GET)
    await until(() => responses.length === 2)
    expect(responses[1]!.socket).toBeNull()
    expect(responses[1]!.takeWhole(HEAD, OK_TEXT, NOBODY)).toBe(false)
    responses[0]!.takeWhole(HEAD, OK_TEXT, NOBODY)
    responses[0]!.run()
    expect(responses[1]!.takeWhole(HEAD, OK_TEXT, NOBODY)).toBe(true)
    responses[1]!.run()
    await until(() => text() === `${HEAD}ok`.repeat(2))
  })

  test.each([
    ['whose client wants the connection closed', GET.replace('x\r\n', 'x\r\nConnection: close\r\n')],
    ['to HTTP/1.0', GET.replace('1.1', '1.0')],
  ])('is not for a request %s', async (_, request) => {
    const { socket, responses } = await connected()
    socket.write(request)
    await until(() => responses.length === 1)
    expect(responses[0]!.takeWhole(HEAD, OK_TEXT, NOBODY)).toBe(false)
  })
})

describe('the version of Node.js', () => {
  test.each([
    ['20.19.0', true],
    ['26.10.0', true],
    ['2.0.0', false],
    ['27.0.0', false],
    ['200.1.0', false],
    ['25.0.0-nightly', false],
  ])('%s is tested: %s', (version, tested) => {
    expect(isTested(version)).toBe(tested)
  })

  const warnings: object[] = []
  const log = { error: () => undefined, warn: (facts: object) => void warnings.push(facts) }
  /** Node writes the fields in the order in which they are given, the server in its own. */
  const isNodesWay = (answer: string): boolean => /^HTTP\/1.1 200 OK\r\nContent-Type/.test(answer)

  test.each([
    { version: '99.1.0', nodeStreams: false, warned: 1, streams: true },
    { version: '22.0.0', nodeStreams: false, warned: 0, streams: false },
    { version: '22.0.0', nodeStreams: true, warned: 0, streams: true },
  ])('$version with node-streams $nodeStreams: $warned warnings, streams $streams', async (given) => {
    warnings.length = 0
    await start({ nodeVersion: given.version, log }, { ...SETTINGS, nodeStreams: given.nodeStreams })
    const answer = await raw(GET.replace('/', '/svc/v1/ok'))
    expect(answer).toMatch(/\r\n\r\nok$/)
    expect(isNodesWay(answer)).toBe(given.streams)
    expect(warnings).toHaveLength(given.warned)
    await finish()
  })
})
