import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { PEER_SECRETS } from '../core/engine/remembered-values.ts'
import { ShapeError } from '../core/records/shape.ts'
import { newSecretText, peerSecretOf } from './peer-secret.ts'
import {
  beginRotation,
  type SeenValue,
  SharedSecrets,
  STEP_MS,
  firstSecrets,
  secretsText,
} from './shared-secrets.ts'

const SECRET = newSecretText()
const FIRST = secretsText({ origin: '0123456789ab', inUse: SECRET })

let stored: SeenValue | undefined
let nowMs: number
let logged: string[]
beforeEach(() => {
  stored = { value: FIRST, revision: 1 }
  nowMs = 0
  logged = []
})

const store = {
  agree: (_name: string, make: () => string) => {
    stored ??= { value: make(), revision: 1 }
    return Promise.resolve(stored.value)
  },
  seen: () => Promise.resolve(stored),
  replace: (_name: string, { revision }: SeenValue, value: string) => {
    if (revision !== stored?.revision) return Promise.resolve(false)
    stored = { value, revision: revision + 1 }
    return Promise.resolve(true)
  },
}

function server(): SharedSecrets {
  const note = (_facts: object, text: string) => void logged.push(text)
  const log = { info: note, error: note }
  return new SharedSecrets({ store, monotonicMs: () => nowMs, log }, stored!.value)
}

/** The ids of the secrets that a server accepts; it asks with the first. */
function idsOf(secrets: SharedSecrets): string[] {
  return secrets.current().map(({ id }) => id)
}

async function pass(ms: number, servers: readonly SharedSecrets[]): Promise<void> {
  for (const untilMs = nowMs + ms; nowMs < untilMs; nowMs += 500)
    for (const [index, each] of servers.entries()) await each.look(index === 0)
}

describe('a rotation', () => {
  test('replaces the secret in three steps, led by the elected server', async () => {
    const servers = [server(), server(), server()]
    const { origin } = servers[0]!
    const first = peerSecretOf(SECRET).id
    expect(await beginRotation(store)).toBe('begun')
    const next = peerSecretOf(PEER_SECRETS.read(stored!.value).next!).id
    await pass(3_000, servers)
    for (const each of servers) expect(idsOf(each)).toEqual([first, next])
    await pass(STEP_MS, servers)
    for (const each of servers) expect(idsOf(each)).toEqual([next, first])
    await pass(STEP_MS + 3_000, servers)
    for (const each of [...servers, server()]) expect([...idsOf(each), each.origin]).toEqual([next, origin])
    await pass(10 * STEP_MS, servers)
    expect(idsOf(servers[0]!)).toEqual([next])
    expect(logged).toEqual(Array.from({ length: 9 }, () => 'the secret of the peer channel rotates'))
  })

  test('is one at a time', async () => {
    expect(await beginRotation(store)).toBe('begun')
    expect(await beginRotation(store)).toBe('underway')
    await pass(STEP_MS + 4_000, [server()])
    expect(await beginRotation(store)).toBe('underway')
    await pass(STEP_MS + 4_000, [server()])
    expect(await beginRotation(store)).toBe('begun')
  })

  test('needs a secret', async () => {
    stored = undefined
    expect(await beginRotation(store)).toBe('none')
  })

  test('goes no further without an elected server', async () => {
    await beginRotation(store)
    const waiting = server()
    for (; nowMs < 3 * STEP_MS; nowMs += 500) await waiting.look(false)
    expect(PEER_SECRETS.read(stored!.value).next).toBeDefined()
  })

  test('is written again where it is missing', async () => {
    const each = server()
    stored = undefined
    await each.look(false)
    expect(stored).toMatchObject({ value: FIRST })
    expect(logged).toEqual([expect.stringContaining('is written again')])
  })

  test('survives a store that is away', async () => {
    await beginRotation(store)
    const away = { ...store, seen: () => Promise.reject(new Error('away')) }
    const each = new SharedSecrets(
      { store: away, monotonicMs: () => nowMs, log: { info: () => {}, error: () => {} } },
      FIRST,
    )
    await expect(each.look(true)).rejects.toThrow('away')
    expect(idsOf(each)).toEqual([peerSecretOf(SECRET).id])
  })

  test.each([
    '',
    '{',
    'null',
    '{}',
    '{"origin":"0123456789ab","inUse":""}',
    '{"origin":"0123456789ab","inUse":"a"}',
  ])('stays as it was while the stored value is %s, and goes on after it', async (value) => {
    const servers = [server(), server()]
    await pass(3_000, servers)
    const sound = stored!
    stored = { value, revision: 7 }
    for (const each of servers) {
      nowMs += 3_000
      await expect(each.look(true)).rejects.toThrow(ShapeError)
      expect(idsOf(each)).toEqual([peerSecretOf(SECRET).id])
      expect(
        () =>
          new SharedSecrets(
            { store, monotonicMs: () => nowMs, log: { info: () => {}, error: () => {} } },
            value,
          ),
      ).toThrow(ShapeError)
    }
    await expect(beginRotation(store)).rejects.toThrow(ShapeError)
    stored = { value: sound.value, revision: 8 }
    expect(await beginRotation(store)).toBe('begun')
    await pass(3 * STEP_MS, servers)
    for (const each of servers) expect(idsOf(each)).not.toContain(peerSecretOf(SECRET).id)
  })

  test('never parts servers that look before a step is over, whoever is elected', async () => {
    // In each turn time passes, and a server looks, which may be the elected one.
    const turn = fc.record({
      ms: fc.integer({ min: 0, max: 3_000 }),
      server: fc.integer({ min: 0, max: 2 }),
      isElected: fc.boolean(),
      begins: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 120 }), async (turns) => {
        stored = { value: FIRST, revision: 1 }
        nowMs = 0
        const servers = [server(), server(), server()]
        const lookedMs = [0, 0, 0]
        for (const { ms, server: index, isElected, begins } of turns) {
          nowMs += ms
          // A server that has not looked for so long has lost its lease: it is no member until it looks.
          for (const [at, each] of servers.entries())
            if (at === index || nowMs - lookedMs[at]! > 10_000) {
              await each.look(at === index && isElected)
              lookedMs[at] = nowMs
            }
          if (begins) await beginRotation(store)
          for (const asking of servers)
            for (const asked of servers) expect(idsOf(asked)).toContain(idsOf(asking)[0])
        }
      }),
    )
  })
})

test('stored secrets are read as they were written', () => {
  const text = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => Buffer.from(bytes).toString('base64url'))
  fc.assert(
    fc.property(text, text, fc.constantFrom('next', 'previous', 'none'), (inUse, other, which) => {
      const secrets = { origin: '0123456789ab', inUse, ...(which === 'none' ? {} : { [which]: other }) }
      expect(PEER_SECRETS.read(secretsText(secrets))).toEqual(secrets)
    }),
  )
  expect(() => PEER_SECRETS.read('{}')).toThrow('origin')
  const first = firstSecrets()
  expect(first).toEqual({
    origin: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
    inUse: expect.stringMatching(/^[\w-]{43}$/) as string,
  })
  expect(firstSecrets().inUse).not.toBe(first.inUse)
})
