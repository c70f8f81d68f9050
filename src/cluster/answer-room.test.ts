import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { AnswerRoom } from './answer-room.ts'
import { LIST, SMALL } from './bounded-message.ts'
import { PeerClient } from './peer-client.ts'
import { type PeerQuestion, STANDING, WATCHERS_OF } from './peer-question.ts'
import { peerSecretOf, type PeerSecrets } from './peer-secret.ts'
import { digestOf, HEADERS, signatureOf } from './peer-signature.ts'
import { answeringTls } from './peer-tls.ts'

const SECRET = 'the secret of all servers'
const SECRETS: PeerSecrets = () => [peerSecretOf(SECRET)]
const closing: (() => void)[] = []

afterEach(() => closing.splice(0).forEach((close) => close()))

/** A member that answers every question with this text, as somebody who knows the secret. */
async function memberSaying(text: string): Promise<MemberFacts> {
  const body = Buffer.from(text)
  const server = createServer(answeringTls(SECRETS), ({ headers, url }, response) => {
    const nonce = String(headers[HEADERS.nonce])
    const about = { process: 'p', question: url!.slice(1), nonce, digest: digestOf(body) }
    response.setHeader(HEADERS.signature, signatureOf(SECRET, { kind: 'answer', ...about }))
    response.end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => void (server.closeAllConnections(), server.close()))
  const { port: peerPort } = server.address() as AddressInfo
  const facts = { port: 8848, site: '', version: '', process: 'p', auth: 'on', versions: VERSIONS } as const
  return { ip: '127.0.0.1', peerPort, ...facts }
}

test('all answers together have room, small ones need none, and marks count as the bytes that they take', () => {
  const room = new AnswerRoom(2 * LIST.bytes, 1_000)
  for (let count = 0; count < 1_000; count++) room.begin().has(SMALL)
  for (const size of [
    { bytes: LIST.bytes, marks: 0 },
    { bytes: 1_000_000, marks: LIST.marks },
  ])
    room.begin().has(size)
  const one = room.begin()
  one.has(SMALL)
  expect(() => one.has({ bytes: 1_000_000, marks: 0 })).toThrow('the answers of all servers have more than')
})

test('an answer that grows counts once, and for a while after it was read', async () => {
  const room = new AnswerRoom(LIST.bytes, 20)
  const one = room.begin()
  for (let bytes = 0; bytes <= LIST.bytes; bytes += 1_000_000) one.has({ bytes, marks: 0 })
  one.end()
  const next = (): void => room.begin().has({ bytes: LIST.bytes, marks: 0 })
  expect(next).toThrow('the answers of all servers')
  await expect.poll(() => next() === undefined).toBe(true)
})

test('of many liars as many are read as have room, and others are heard meanwhile', async () => {
  const honest = await memberSaying('{"hasStore":true}')
  const largest = `["${'x'.repeat(LIST.bytes - 4)}"]`
  const liars = await Promise.all(Array.from({ length: 6 }, () => memberSaying(largest)))
  const told: { problem: string }[] = []
  const client = new PeerClient({
    secrets: SECRETS,
    timeoutMs: 20_000,
    log: { warn: (facts) => void told.push(facts as { problem: string }) },
    room: new AnswerRoom(2 * LIST.bytes, 100),
  })
  closing.push(() => client.close())
  const any = { ...WATCHERS_OF, readAnswer: (json: unknown) => json } as PeerQuestion<unknown, unknown>
  const all = liars.map((liar) => client.ask(liar, any, {}))
  expect(await client.ask(honest, STANDING, {})).toEqual({ hasStore: true })
  const heard = (await Promise.all(all)).filter((answer) => answer !== undefined)
  expect(heard.length).toBeLessThanOrEqual(2)
  expect(told[0]?.problem).toContain('the answers of all servers')
  await expect.poll(() => client.ask(liars[0]!, any, {})).toHaveLength(1)
})
