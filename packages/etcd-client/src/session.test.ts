import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GRPC, GrpcError } from './grpc-error.ts'
import { Session } from './session.ts'

const gone = new GrpcError(GRPC.UNAVAILABLE, 'it does not answer in time')

/** Opens a session, and ends it at this moment. Resolves when all its events have come. */
async function endedAt(port: number, moment: (session: Session) => Promise<void>): Promise<Session> {
  let isEnded = false
  const listener = { left: () => {}, ended: () => (isEnded = true), silent: () => {} }
  const session = new Session(`http://127.0.0.1:${port}`, { silentMs: 1_000, listener })
  await moment(session)
  session.end(gone)
  await session.settled
  // An event that comes after the end would throw now.
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
  expect(isEnded).toBe(true)
  return session
}

describe('a session with a member that accepts connections and is silent', () => {
  let server: Server

  beforeEach(async () => {
    server = createServer(() => {})
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterEach(() => server.close())

  // Node emits `connect` late: an attempt that is given up then ended the process.
  test.each([
    ['at once', async () => {}],
    ['in the same turn', async () => Promise.resolve()],
    ['when ticks have run', async () => new Promise<void>((resolve) => process.nextTick(resolve))],
    ['a turn later', async () => new Promise<void>((resolve) => setImmediate(resolve))],
    ['when the member has accepted', async () => void (await once(server, 'connection'))],
  ])('is ended %s without an error that nobody catches', async (_, moment) => {
    const { port } = server.address() as AddressInfo
    const session = await endedAt(port, moment)
    expect(session.isOpen).toBe(false)
    expect(() => session.request({})).toThrow(GrpcError)
  })
})
