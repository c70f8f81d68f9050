import { constants, createHash, generateKeyPairSync, privateDecrypt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { mysqlProbe } from '../../src/probes/mysql-probe.ts'
import type { ProbeResult } from '../../src/probes/conversation.ts'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { fakeMysql, type FakeSession, greeting, moreData, OK, refusal, switchTo } from './fake-mysql.ts'

const PASSWORD = 'top-secret-7'
const openssl = needTool('openssl')
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const KEY_TEXT = publicKey.export({ type: 'spki', format: 'pem' }).toString()
const closers: (() => void)[] = []

afterEach(() => closers.splice(0).forEach((close) => close()))

type Talk = (session: FakeSession) => void | Promise<void>
type Trust = { publicKey?: string; ca?: string; pwd?: string }

async function probeOf(talk: Talk, trust: Trust = {}): Promise<{ result: ProbeResult; received: Buffer }> {
  const server = await fakeMysql(talk)
  closers.push(server.close)
  const checker = { type: 'MYSQL', user: 'u', pwd: PASSWORD, cmd: 'select 1', ...trust } as const
  const result = await mysqlProbe({ host: '127.0.0.1', port: server.port, checker }, 3000)
  return { result, received: server.received() }
}

/** Greets, and asks for `method` where the client tries another one. */
function asks(method: string, then: Talk): Talk {
  return async (session) => {
    session.send(greeting(session.scramble, { method }))
    await session.next()
    session.send(switchTo(method, session.scramble))
    await then(session)
  }
}

const askFully: Talk = async (session) => {
  await session.next()
  session.send(moreData(Buffer.of(4)))
}

/** As a host that wants the password: it offers a key of its own if the client asks for one, and takes anything. */
const offerKey: Talk = async (session) => {
  await session.next()
  session.send(moreData(Buffer.from(KEY_TEXT)))
  await session.next()
  await session.accept()
}

const takeAnything: Talk = async (session) => {
  await session.next()
  await session.accept()
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  return parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
}

function xor(bytes: Buffer, mask: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, i) => byte ^ mask[i % mask.length]!))
}

function decrypted(message: Buffer, scramble: Buffer): string {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return xor(privateDecrypt({ key: privateKey, padding, oaepHash: 'sha1' }, message), scramble).toString()
}

/** The texts that give the password away: itself, or something that only the key of the host opens. */
function expectNoPassword(received: Buffer): void {
  expect(received.includes(PASSWORD)).toBe(false)
  // A text that is encrypted with a key of 2048 bits has 256 bytes. All else before the query is shorter.
  expect(received.length).toBeLessThan(400)
}

describe('the fast path of caching_sha2_password', () => {
  const isProof = (answer: Buffer, scramble: Buffer): boolean => {
    const once = sha256(Buffer.from(PASSWORD))
    return answer.equals(xor(once, sha256(sha256(once), scramble)))
  }

  test('signs in', async () => {
    const { result, received } = await probeOf(
      asks('caching_sha2_password', async (session) => {
        if (!isProof(await session.next(), session.scramble)) return session.send(refusal(1045, 'no'))
        session.send(moreData(Buffer.of(3)), OK)
        await session.next()
        session.send(OK)
      }),
    )
    expect(result).toMatchObject({ outcome: 'up', reason: 'query answered' })
    expectNoPassword(received)
  })

  test('is down at once where the password is wrong', async () => {
    const { result } = await probeOf(
      asks('caching_sha2_password', async (session) => {
        await session.next()
        session.send(refusal(1045, 'Access denied'))
      }),
    )
    expect(result).toMatchObject({ outcome: 'down-now', reason: 'ER_ACCESS_DENIED_ERROR: Access denied' })
  })

  test('sends one zero byte for an empty password', async () => {
    const seen: Buffer[] = []
    const talk = asks('caching_sha2_password', async (session) => {
      seen.push(await session.next())
      await session.accept()
    })
    expect((await probeOf(talk, { pwd: '' })).result).toMatchObject({ outcome: 'up' })
    expect(seen).toEqual([Buffer.of(0)])
  })
})

describe('a host that asks for the password itself', () => {
  test.each<[string, Talk]>([
    [
      'caching_sha2_password',
      async (session) => {
        await askFully(session)
        await offerKey(session)
      },
    ],
    ['sha256_password', offerKey],
    ['mysql_clear_password', takeAnything],
  ])('does not get it with %s, and is up with the reason', async (method, then) => {
    const { result, received } = await probeOf(asks(method, then))
    expect(result).toMatchObject({
      outcome: 'up',
      reason: `not signed in: ${method} asks for the password itself, which needs publicKey or ca`,
    })
    expectNoPassword(received)
  })

  test('does not get it where its greeting names the method', async () => {
    for (const method of ['sha256_password', 'mysql_clear_password', 'caching_sha2_password']) {
      const { received } = await probeOf(async (session) => {
        session.send(greeting(session.scramble, { method }))
        await askFully(session)
        await offerKey(session)
      })
      expectNoPassword(received)
    }
  })

  test('does not get it as the next factor', async () => {
    const { received } = await probeOf(async (session) => {
      const hello = greeting(session.scramble)
      hello.writeUInt16LE(0x1008, hello.indexOf(Buffer.from([45, 2, 0])) + 3)
      session.send(hello)
      await session.next()
      const next = switchTo('mysql_clear_password', session.scramble)
      next[0] = 2
      session.send(next)
      await session.next()
    })
    expectNoPassword(received)
  })

  test.each(['caching_sha2_password', 'sha256_password'])(
    'gets it with %s, encrypted with the key of the checker',
    async (method) => {
      const { result, received } = await probeOf(
        asks(method, async (session) => {
          if (method === 'caching_sha2_password') await askFully(session)
          const text = decrypted(await session.next(), session.scramble)
          if (text !== `${PASSWORD}\0`) return session.send(refusal(1045, text))
          await session.accept()
        }),
        { publicKey: KEY_TEXT },
      )
      expect(result).toMatchObject({ outcome: 'up', reason: 'query answered' })
      expect(received.includes(PASSWORD)).toBe(false)
    },
  )

  test('does not get it with mysql_clear_password, in spite of a key', async () => {
    const talk = asks('mysql_clear_password', takeAnything)
    const { result, received } = await probeOf(talk, { publicKey: KEY_TEXT })
    expect(result.reason).toContain('not signed in')
    expectNoPassword(received)
  })
})

test('a host that asks again and again gets few answers', async () => {
  let answers = 0
  const { result } = await probeOf(
    async (session) => {
      session.send(greeting(session.scramble))
      await session.next()
      session.send(switchTo('caching_sha2_password', session.scramble))
      for (;;) {
        await session.next()
        answers++
        session.send(moreData(Buffer.of(4)))
      }
    },
    { publicKey: KEY_TEXT },
  )
  expect(result).toMatchObject({
    outcome: 'down',
    reason: 'the answer is not valid: the sign-in does not end',
  })
  expect(answers).toBeLessThan(10)
})

describe.skipIf(openssl.skip)('TLS', () => {
  const overTls = (files: { cert: string; key: string }, then: Talk): Talk => {
    const context = { cert: readFileSync(files.cert), key: readFileSync(files.key) }
    return async (session) => {
      session.send(greeting(session.scramble, { tls: true }))
      await session.next()
      session.startTls(context)
      await session.next()
      session.send(switchTo('mysql_clear_password', session.scramble))
      await then(session)
    }
  }

  test('with a verified certificate lets the password through', async () => {
    const authority = new Authority()
    let seen = ''
    const talk = overTls(authority.forServer(), async (session) => {
      seen = (await session.next()).toString()
      await session.accept()
    })
    const { result } = await probeOf(talk, { ca: authority.ca })
    expect(result).toMatchObject({ outcome: 'up', reason: 'query answered' })
    expect(seen).toBe(`${PASSWORD}\0`)
  })

  test('with a certificate of another authority is down, and the host gets nothing', async () => {
    const { result, received } = await probeOf(overTls(new Authority().forServer(), takeAnything), {
      ca: new Authority().ca,
    })
    expect(result.outcome).toBe('down')
    expect(result.reason).toMatch(/SIGNED|VERIFY|ISSUER/)
    expect(received.includes(PASSWORD)).toBe(false)
  })

  test('with a certificate of another host or an expired one is down', async () => {
    const authority = new Authority()
    const forAnother = await probeOf(overTls(authority.forSubject('/CN=elsewhere'), takeAnything), {
      ca: authority.ca,
    })
    expect(forAnother.result.outcome).toBe('down')
    const expired = await probeOf(overTls(authority.expired(), takeAnything), { ca: authority.ca })
    expect(expired.result).toMatchObject({ outcome: 'down', reason: 'CERT_HAS_EXPIRED' })
  })

  test('is required where the checker has certificates', async () => {
    const talk = asks('mysql_clear_password', takeAnything)
    const { result, received } = await probeOf(talk, { ca: new Authority().ca })
    expect(result).toMatchObject({ outcome: 'down', reason: 'HANDSHAKE_NO_SSL_SUPPORT' })
    expectNoPassword(received)
  })

  test('begins before anything else is read', async () => {
    const { result, received } = await probeOf(
      (session) => session.send(greeting(session.scramble, { tls: true }), OK, OK),
      { ca: new Authority().ca },
    )
    expect(result).toMatchObject({ outcome: 'down', reason: 'the answer is not valid: data before TLS' })
    expectNoPassword(received)
  })
})

test('the text of a failed query is not shown: it may hold data of the database', async () => {
  const { result } = await probeOf(async (session) => {
    session.send(greeting(session.scramble, { method: 'mysql_native_password' }))
    await session.next()
    session.send(OK)
    await session.next()
    session.send(refusal(1105, "XPATH syntax error: ':salary of ann'"))
  })
  expect(result).toMatchObject({ outcome: 'down-now', reason: 'ER_UNKNOWN_ERROR' })
})

test.each([
  // The driver has no name for the numbers of MariaDB, TiDB and proxies.
  [1146, 'ER_NO_SUCH_TABLE'],
  [9001, 'error 9001'],
  [65_535, 'error 65535'],
])('the error %i is a reason, at the sign-in and of the query', async (errno, name) => {
  const failed = await probeOf(async (session) => {
    session.send(greeting(session.scramble, { method: 'mysql_native_password' }))
    await session.next()
    session.send(refusal(errno, 'why'))
  })
  expect(failed.result).toMatchObject({ outcome: 'down-now', reason: `${name}: why` })
  const queried = await probeOf(async (session) => {
    session.send(greeting(session.scramble, { method: 'mysql_native_password' }))
    await session.next()
    session.send(OK)
    await session.next()
    session.send(refusal(errno, 'why'))
  })
  expect(queried.result).toMatchObject({ outcome: 'down-now', reason: name })
})
