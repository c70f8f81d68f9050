import { describe, expect, test } from 'vitest'
import { Asks } from './asks.ts'
import type { Question } from './client-connection.ts'
import { bodyOf, fakeConnection, type FakeOutlet, nextOf } from './connection.test-support.ts'

const QUESTION: Question = { type: 'NotifySubscriberRequest', body: { serviceInfo: {} } }

function requestIdOf(outlet: FakeOutlet): string {
  return bodyOf(nextOf(outlet)!)['requestId'] as string
}

describe('a question', () => {
  test('is sent with an id of its own, which is a text', async () => {
    const { connection, outlet } = fakeConnection()
    void connection.ask(QUESTION, 1_000)
    void connection.ask(QUESTION, 1_000)
    const first = bodyOf(nextOf(outlet)!)
    expect(first).toEqual({
      headers: {},
      module: 'naming',
      requestId: expect.any(String) as string,
      serviceInfo: {},
    })
    expect(requestIdOf(outlet)).not.toBe(first['requestId'])
  })

  test('is acknowledged by a reply with its id and the code 200, whatever its type', async () => {
    const { connection, outlet } = fakeConnection()
    const acknowledged = connection.ask(QUESTION, 1_000)
    connection.replied(requestIdOf(outlet), 200)
    expect(await acknowledged).toBe(true)
  })

  test('is not acknowledged by a reply with another code', async () => {
    const { connection, outlet } = fakeConnection()
    const acknowledged = connection.ask(QUESTION, 1_000)
    connection.replied(requestIdOf(outlet), 500)
    expect(await acknowledged).toBe(false)
  })

  test('is given up when its time is over', async () => {
    const asks = new Asks(() => 0)
    const { connection } = fakeConnection({ asks })
    const acknowledged = connection.ask(QUESTION, 1_000)
    asks.tick(999)
    asks.tick(1_000)
    expect(await acknowledged).toBe(false)
    expect(asks.counts).toEqual({ asked: 1, acknowledged: 0, unanswered: 1 })
  })

  test('is not acknowledged by a client that leaves, or has left', async () => {
    const { connection } = fakeConnection()
    const acknowledged = connection.ask(QUESTION, 1_000)
    connection.end('left')
    expect(await acknowledged).toBe(false)
    expect(await connection.ask(QUESTION, 1_000)).toBe(false)
  })
})

test('a reply that nobody waits for is ignored', async () => {
  const { connection, outlet } = fakeConnection()
  connection.replied('77', 200)
  const acknowledged = connection.ask(QUESTION, 1_000)
  const requestId = requestIdOf(outlet)
  connection.replied(requestId, 200)
  connection.replied(requestId, 500)
  expect(await acknowledged).toBe(true)
})

describe('the end of a connection', () => {
  test('is reported once, with its first reason, also to those who ask later', () => {
    const { connection, session } = fakeConnection()
    const reasons: string[] = []
    connection.onEnd((why) => reasons.push(why))
    connection.end('stopping')
    connection.end('left')
    connection.onEnd((why) => reasons.push(`later ${why}`))
    expect(reasons).toEqual(['stopping', 'later stopping'])
    expect(session.isClosed).toBe(true)
  })

  test('comes when its client leaves too much unread', () => {
    const { connection, outlet } = fakeConnection()
    connection.send('SetupAckRequest', undefined, {})
    expect(connection.hasEnded).toBe(false)
    outlet.isFull = true
    connection.send('SetupAckRequest', undefined, {})
    expect(connection.endedBy).toBe('unread')
  })

  test('after it was sent away has that reason, whatever ends it', async () => {
    const { connection, outlet } = fakeConnection()
    const reasons: string[] = []
    connection.onEnd((why) => reasons.push(why))
    connection.sendAway('moved', { ip: '10.0.0.9', port: 8848 }, 1_000)
    expect(bodyOf(nextOf(outlet)!)).toMatchObject({ serverIp: '10.0.0.9', serverPort: '8848' })
    connection.end('left')
    expect(reasons).toEqual(['moved'])
  })
})
