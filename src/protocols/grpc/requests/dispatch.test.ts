import type { Identity } from '../../../core/access/identity.ts'
import { describe, expect, test } from 'vitest'
import { ANONYMOUS } from '../../../core/access/identity.ts'
import { Refusal } from '../../../core/refusal.ts'
import { bodyOf, fakeConnection, FakeSession } from '../connections/connection.test-support.ts'
import { ConnectionBook } from '../connections/connection-book.ts'
import { BodyTurns } from './body-turns.ts'
import { Dispatch, type DispatchParts } from './dispatch.ts'
import { type RequestContext, requestType } from './request-type.ts'

/** Answers its own body; `refuse` and `fail` make it throw. */
const ECHO = requestType({
  type: 'EchoRequest',
  answer: 'EchoResponse',
  permission: { action: 'read', resource: 'config' },
  read: (body) => body,
  run(body, { caller, headers }: RequestContext) {
    if (body['refuse'] !== undefined) throw new Refusal('forbidden', 'No.')
    if (body['fail'] !== undefined) throw new Error('a fault')
    return { echo: body['text'], ip: caller.ip, app: headers.get('app') }
  },
})

function dispatched(parts: Partial<DispatchParts> = {}) {
  const book = new ConnectionBook()
  const { connection, session } = fakeConnection()
  book.add(connection)
  const counted: string[] = []
  const dispatch = new Dispatch({
    types: [ECHO],
    book,
    bodies: new BodyTurns({ soon: setImmediate }),
    monotonicMs: () => 5,
    notServing: () => undefined,
    gate: () => undefined,
    identify: () => ANONYMOUS,
    strangers: undefined,
    report: (error, type) => counted.push(`${type}: ${String(error)}`),
    onAnswer: (type, errorCode) => counted.push(`${type} ${errorCode}`),
    ...parts,
  })
  const ask = async (type: string, body: object | string, from = session) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const headers = new Map([['app', 'shop']])
    const message = { type, headers, clientIp: '', body: Buffer.from(text) }
    const sent = await dispatch.answer(message, from)
    return { type: sent.type, ...bodyOf(sent) }
  }
  return { ask, counted, connection, dispatch, session }
}

describe('a request', () => {
  test('is answered in its own type, with its id', async () => {
    const { ask, counted, connection } = dispatched()
    expect(await ask('EchoRequest', { requestId: '7', text: 'x' })).toEqual({
      type: 'EchoResponse',
      resultCode: 200,
      errorCode: 0,
      success: true,
      requestId: '7',
      echo: 'x',
      ip: '10.0.0.1',
      app: 'shop',
    })
    expect(counted).toEqual(['EchoRequest 0'])
    expect(connection.heardMs).toBe(5)
  })

  test('without an id is answered without one', async () => {
    expect(Object.keys(await dispatched().ask('EchoRequest', {}))).not.toContain('requestId')
  })

  test('that is refused gets the answer of its type with an errorCode', async () => {
    const { ask, counted } = dispatched()
    expect(await ask('EchoRequest', { requestId: '7', refuse: true })).toEqual({
      type: 'EchoResponse',
      resultCode: 500,
      errorCode: 403,
      success: false,
      requestId: '7',
      message: 'authorization failed!',
    })
    expect(counted).toEqual(['EchoRequest 403'])
  })

  test('of a large body is answered in a later turn, and refused where it cannot be read', async () => {
    const { ask } = dispatched()
    const text = 'x'.repeat(100_000)
    expect(await ask('EchoRequest', { requestId: '7', text })).toMatchObject({ requestId: '7', echo: text })
    expect(await ask('EchoRequest', { refuse: true, text })).toMatchObject({ errorCode: 403 })
    expect(await ask('EchoRequest', `{"text":"${text}"`)).toMatchObject({
      type: 'ErrorResponse',
      errorCode: 502,
    })
  })

  test('is carried out after those that came before it on its connection', async () => {
    const read: unknown[] = []
    const reading = requestType({ ...ECHO, read: (body) => (read.push(body['requestId']), body) })
    const { ask } = dispatched({ types: [reading] })
    const many = Array.from({ length: 100_000 }, () => 1)
    await Promise.all([
      ask('EchoRequest', { requestId: 'large', many }),
      ask('EchoRequest', { requestId: 'small' }),
    ])
    expect(read).toEqual(['large', 'small'])
  })

  test.each([undefined, new Refusal('token-invalid', 'No.')])(
    'whose call is over before it is read is not counted (%s)',
    async (refusal) => {
      const unread: unknown[] = []
      const strangers = {
        refusalOf: () => refusal,
        refusedUnread: (...facts: unknown[]) => unread.push(facts),
      }
      const { counted, dispatch, session } = dispatched({ strangers })
      const message = { type: 'EchoRequest', headers: new Map(), clientIp: '', body: new Uint8Array() }
      await dispatch.answer({ ...message, isOver: true }, session)
      expect([counted, unread]).toEqual([[], []])
    },
  )

  test('that finds no place among the bodies that wait is to be tried again', async () => {
    const refusal = new Refusal('body-memory', 'Try again.', { allowed: 'few' })
    const bodies = { read: () => Promise.reject(refusal) } as unknown as BodyTurns
    expect(await dispatched({ bodies }).ask('EchoRequest', {})).toMatchObject({
      type: 'EchoResponse',
      errorCode: 503,
      message: 'Try again.',
    })
  })

  test('that meets a fault gets the answer of its type, and the fault is reported', async () => {
    const { ask, counted } = dispatched()
    expect(await ask('EchoRequest', { fail: true })).toMatchObject({ type: 'EchoResponse', errorCode: 500 })
    expect(counted).toEqual(['EchoRequest: Error: a fault', 'EchoRequest 500'])
  })

  test('that the server does not serve now is refused in its type', async () => {
    const gate = (): void => {
      throw new Refusal('cut-off', 'Use another server.')
    }
    expect(await dispatched({ gate }).ask('EchoRequest', {})).toMatchObject({
      type: 'EchoResponse',
      errorCode: 503,
      message: 'Use another server.',
    })
  })
})

describe('an error of the message or the connection is an ErrorResponse with the code', () => {
  const stranger = new FakeSession('2_10.0.0.2_50000')

  test('300 while nobody is served, whatever is asked', async () => {
    const { ask } = dispatched({ notServing: () => 'The server is stopping.' })
    expect(await ask('ServerCheckRequest', {})).toMatchObject({ type: 'ErrorResponse', errorCode: 300 })
    expect(await ask('EchoRequest', '{')).toMatchObject({ type: 'ErrorResponse', errorCode: 300 })
  })

  test('302 for an unknown type, also on a connection that is not set up', async () => {
    const { ask, counted } = dispatched()
    expect(await ask('OtherRequest', {}, stranger)).toMatchObject({ type: 'ErrorResponse', errorCode: 302 })
    expect(await ask('OtherRequest', '{')).toMatchObject({ type: 'ErrorResponse', errorCode: 302 })
    expect(counted).toEqual(['unknown 302', 'unknown 302'])
  })

  test('301 on a connection that is not set up, even if the body cannot be read', async () => {
    const { ask } = dispatched()
    expect(await ask('EchoRequest', '{', stranger)).toMatchObject({ type: 'ErrorResponse', errorCode: 301 })
  })

  test('500 for a health check there, because some clients take 301 for healthy', async () => {
    const { ask } = dispatched()
    expect(await ask('HealthCheckRequest', {}, stranger)).toMatchObject({
      type: 'ErrorResponse',
      errorCode: 500,
    })
  })

  test.each(['{', '[]', '"x"', '\u0000'])('502 for the body %j', async (body) => {
    expect(await dispatched().ask('EchoRequest', body)).toMatchObject({
      type: 'ErrorResponse',
      errorCode: 502,
    })
  })
})

describe('who sends a request', () => {
  test.each([
    [new Map([['accesstoken', 'abc']]), 'abc'],
    [new Map([['authorization', 'Bearer abc']]), 'abc'],
    [new Map([['authorization', 'Basic abc']]), undefined],
    [new Map([['accesstoken', '']]), undefined],
  ])('is read from its headers %j', async (headers, token) => {
    const tokens: unknown[] = []
    const book = new ConnectionBook()
    const { connection, session } = fakeConnection()
    book.add(connection)
    const dispatch = new Dispatch({
      types: [ECHO],
      book,
      bodies: new BodyTurns({ soon: setImmediate }),
      monotonicMs: () => 0,
      notServing: () => undefined,
      gate: () => undefined,
      identify: (credentials) => (tokens.push(credentials.token), ANONYMOUS),
      strangers: undefined,
      report: () => undefined,
    })
    await dispatch.answer({ type: 'EchoRequest', headers, clientIp: '', body: Buffer.from('{}') }, session)
    expect(tokens).toEqual([token])
  })
})

describe('a caller who does not count', () => {
  const refusal = new Refusal('token-invalid', 'No.')
  function strange() {
    const unread: string[] = []
    const read: unknown[] = []
    const reading = requestType({ ...ECHO, read: (body) => (read.push(body), body) })
    const strangers = {
      refusalOf: () => refusal,
      refusedUnread: (_caller: unknown, { action }: { action: string }) => void unread.push(action),
    }
    return { ...dispatched({ types: [reading], strangers }), unread, read }
  }

  test('is refused, and its small request is read for the audit', async () => {
    const { ask, unread, read } = strange()
    expect(await ask('EchoRequest', { requestId: '7' })).toMatchObject({ errorCode: 403, requestId: '7' })
    expect([unread, read]).toEqual([[], [{ requestId: '7' }]])
  })

  test.each([['x'.repeat(5_000)], ['{']])('is refused without its request being read', async (body) => {
    const { ask, unread, read } = strange()
    expect(await ask('EchoRequest', body)).toMatchObject({ type: 'EchoResponse', errorCode: 403 })
    expect([unread, read]).toEqual([['read'], []])
  })
})

describe('a request of which only the head has come', () => {
  const head = { type: 'EchoRequest', headers: new Map<string, string>(), clientIp: '' }
  const stranger = new FakeSession('2_10.0.0.2_50000')

  test('may go on where its caller counts, and makes its session known', async () => {
    const ann = { kind: 'user', username: 'ann' } as Identity
    const { dispatch, session } = dispatched({ identify: () => ann })
    expect(await dispatch.judge(head, session)).toBeUndefined()
    expect(session).toMatchObject({ isKnown: true, owner: 'user ann' })
  })

  test.each([head, undefined])('is refused on a connection that is not set up (%j)', async (each) => {
    const { dispatch } = dispatched()
    expect(bodyOf((await dispatch.judge(each, stranger))!)).toMatchObject({ errorCode: 301 })
    expect(stranger.isKnown).toBe(false)
  })

  test('continues without a head on one that is', () => {
    const { dispatch, session } = dispatched()
    expect(dispatch.judge(undefined, session)).toBeUndefined()
    expect(session.isKnown).toBe(false)
  })

  test('is refused where its type is unknown, or its caller does not count', async () => {
    const strangers = { refusalOf: () => new Refusal('token-invalid', 'No.'), refusedUnread: () => undefined }
    const { dispatch, session } = dispatched({ strangers })
    expect(bodyOf((await dispatch.judge({ ...head, type: 'X' }, session))!)).toMatchObject({ errorCode: 302 })
    expect(bodyOf((await dispatch.judge(head, session))!)).toMatchObject({ errorCode: 403 })
    expect(session.isKnown).toBe(false)
  })
})
