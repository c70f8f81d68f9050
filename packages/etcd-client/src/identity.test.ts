import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { GRPC, GrpcError } from './grpc-error.ts'
import { Identity } from './identity.ts'

const identity = () => new Identity({ name: 'ann', password: () => 'secret' })
const wrong = () =>
  Promise.reject(new GrpcError(GRPC.INVALID_ARGUMENT, 'authentication failed, invalid user ID or password'))

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

describe('the token of a user', () => {
  test('is asked for once, and again when it was forgotten', async () => {
    const asked: unknown[] = []
    const ask = (user: unknown) => Promise.resolve(`token ${asked.push(user)}`)
    const own = identity()
    expect(await Promise.all([own.token(ask), own.token(ask)])).toEqual(['token 1', 'token 1'])
    expect(asked).toEqual([{ name: 'ann', password: 'secret' }])
    own.forget('an older one')
    expect(await own.token(ask)).toBe('token 1')
    own.forget('token 1')
    expect(await own.token(ask)).toBe('token 2')
  })

  test('is empty while etcd needs no token', async () => {
    const off = () => Promise.reject(new GrpcError(9, 'etcdserver: authentication is not enabled'))
    expect(await identity().token(off)).toBe('')
  })

  test('is refused without the password in the text; a wrong one is not sent again at once', async () => {
    const own = identity()
    let asked = 0
    const ask = () => (asked++, wrong())
    const refused = { kind: 'untrusted', inDoubt: false, message: expect.not.stringContaining('secret') }
    await expect(own.token(ask)).rejects.toMatchObject(refused)
    await expect(own.token(ask)).rejects.toMatchObject(refused)
    expect(asked).toBe(1)
    vi.advanceTimersByTime(1_500)
    await expect(own.token(ask)).rejects.toMatchObject(refused)
    expect(asked).toBe(2)
    vi.advanceTimersByTime(1_500)
    expect(await own.token(() => Promise.resolve('token'))).toBe('token')
  })

  test('may be unavailable, or its password unreadable: neither is in doubt', async () => {
    const lost = () => Promise.reject(new GrpcError(GRPC.UNAVAILABLE, 'the connection has ended'))
    await expect(identity().token(lost)).rejects.toMatchObject({ kind: 'unavailable', inDoubt: false })
    const own = new Identity({
      name: 'ann',
      password: () => {
        throw new Error('no such file')
      },
    })
    const ask = () => Promise.resolve('token')
    await expect(own.token(ask)).rejects.toMatchObject({
      kind: 'untrusted',
      message: expect.stringContaining('etcd-password-file cannot be read: no such file'),
    })
  })
})
