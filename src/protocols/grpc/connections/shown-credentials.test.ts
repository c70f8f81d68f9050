import { expect, test } from 'vitest'
import { fakeConnection } from './connection.test-support.ts'
import { ShownCredentials } from './shown-credentials.ts'

const UNKNOWN = { kind: 'not-signed-in', code: 'token-invalid' } as const

test('a connection whose tokens do not count is ended after five seconds', () => {
  const { connection, session } = fakeConnection()
  const credentials = new ShownCredentials()
  credentials.refused(connection, UNKNOWN, 0)
  credentials.tick(4_999)
  expect(session.isClosed).toBe(false)
  credentials.tick(5_000)
  expect(session.isClosed).toBe(true)
})

test('a client that is refused again and again is ended when it has paused for a second, or after 15 s', () => {
  const [pausing, busy] = [fakeConnection(), fakeConnection()]
  const credentials = new ShownCredentials()
  credentials.refused(busy.connection, UNKNOWN, 0)
  credentials.refused(pausing.connection, UNKNOWN, 0)
  for (let nowMs = 0; nowMs < 15_000; nowMs += 500) {
    credentials.refused(busy.connection, UNKNOWN, nowMs)
    if (nowMs <= 6_000) credentials.refused(pausing.connection, UNKNOWN, nowMs)
    credentials.tick(nowMs)
    expect([nowMs, busy.session.isClosed, pausing.session.isClosed]).toEqual([nowMs, false, nowMs >= 7_000])
  }
  credentials.tick(15_000)
  expect(busy.session.isClosed).toBe(true)
})
