import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { Keys } from '../keys/keys.ts'
import { MissingSecretsKey, Sealing } from './sealing.ts'
import { readSecretsKeys } from './secrets-keys.ts'

const keys = new Keys('w/')
const [FIRST, NEXT] = readSecretsKeys(`first ${base64()}\nnext ${base64()}`, 'test')
const USER = 'w/r/user/ann'

function base64(): string {
  return randomBytes(32).toString('base64')
}

function sealingWith(...own: (typeof FIRST)[]): Sealing {
  const sealing = new Sealing(
    keys,
    own.map((key) => key!),
  )
  sealing.writeWith(own[0]?.id)
  return sealing
}

function kv(key: string, value: Uint8Array): KeyValue {
  return { key, value, createRevision: 1, modRevision: 1, version: 1, lease: 0n }
}

describe('sealed values', () => {
  test('are read as they were written, by all who have the key', () => {
    const name = fc.constantFrom(USER, 'w/r/user/', 'w/r/signing-key/k', 'w/r/session/s', 'w/k/peer-secret')
    fc.assert(
      fc.property(name, fc.uint8Array(), (key, value) => {
        const kept = sealingWith(FIRST).kept(key, value)
        expect(Buffer.from(kept).toString()).toMatch(/^sealed:first\.[0-9a-f]{8}:/)
        const { value: read, sealedBy } = sealingWith(NEXT, FIRST).read(kv(key, kept))
        expect([Buffer.from(read), sealedBy]).toEqual([Buffer.from(value), FIRST!.id])
      }),
    )
  })

  test('are different each time, and do not contain the written value', () => {
    const value = Buffer.from('{"value":{"passwordHash":"scrypt$1"}}')
    const [one, two] = [0, 1].map(() => Buffer.from(sealingWith(FIRST).kept(USER, value)))
    expect(one!.equals(two!)).toBe(false)
    expect(Buffer.from(one!.toString().split(':')[2]!, 'base64').includes('scrypt')).toBe(false)
  })

  test('are not read at another key, and not when a bit has changed', () => {
    const sealing = sealingWith(FIRST)
    const kept = Buffer.from(sealing.kept(USER, Buffer.from('a value')))
    expect(() => sealing.read(kv('w/r/user/bob', kept)).value).toThrow(/w\/r\/user\/bob .*changed or moved/)
    const at = kept.lastIndexOf(':') + 1
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 34 }), fc.integer({ min: 0, max: 7 }), (byte, bit) => {
        const sealed = Buffer.from(kept.subarray(at).toString(), 'base64')
        sealed[byte]! ^= 1 << bit
        const changed = Buffer.concat([kept.subarray(0, at), Buffer.from(sealed.toString('base64'))])
        expect(() => sealing.read(kv(USER, changed)).value).toThrow('is not as it was sealed')
      }),
    )
    for (const cut of ['sealed:', `sealed:${FIRST!.id}:`, kept.subarray(0, -8)])
      expect(() => sealing.read(kv(USER, Buffer.from(cut))).value).toThrow(/sealed with/)
  })

  test('name the missing key, with advice', () => {
    const kept = sealingWith(FIRST).kept(USER, Buffer.from('a value'))
    const readBy = (...own: (typeof FIRST)[]) => sealingWith(...own).read(kv(USER, kept))
    expect(() => readBy().value).toThrow(MissingSecretsKey)
    expect(() => readBy().value).toThrow(
      new RegExp(`${USER} .*sealed with the key ${FIRST!.id}\\. There is no key here\\. .*secrets-key-file`),
    )
    expect(() => readBy(NEXT).value).toThrow(`The keys here are ${NEXT!.id}`)
    const [other] = readSecretsKeys(`first ${base64()}`, 'test')
    expect(() => readBy(other).value).toThrow('the one of the name first is another key')
    expect(() => sealingWith(NEXT).writeWith(FIRST!.id)).toThrow(MissingSecretsKey)
  })
})

describe('values that are no secrets', () => {
  test('are kept and read as they are, also where they look like sealed ones', () => {
    const text = fc.string().map((end) => Buffer.from(`sealed:${end}`))
    const places = ['w/c/public/g/d', 'w/x/1/0', 'w/r/user-role/ann', 'w/k/secrets-key', 'other/r/user/ann']
    fc.assert(
      fc.property(fc.constantFrom(...places), text, (key, value) => {
        const sealing = sealingWith(FIRST)
        expect(sealing.kept(key, value)).toBe(value)
        expect(sealing.read(kv(key, value)).value).toBe(value)
      }),
    )
  })

  test('and secrets that were never sealed are read as they are', () => {
    for (const value of ['{"value":1,"stamp":2}', 'seal', 's', '', 'sealed-by-nobody'])
      expect(Buffer.from(sealingWith(FIRST).read(kv(USER, Buffer.from(value))).value).toString()).toBe(value)
    const plain = sealingWith()
    const value = Buffer.from('v')
    expect(plain.kept(USER, value)).toBe(value)
  })
})

describe('the file of keys', () => {
  test('has a name and a key on each line, or all on one', () => {
    const [one, two] = [base64(), base64()]
    const ids = (text: string) => readSecretsKeys(text, 'file').map(({ id }) => id)
    const read = ids(`# keys\n\n 2026-11 ${one} \r\nold\t${two.replaceAll('+', '-').replaceAll('/', '_')}\n`)
    expect(read).toEqual([expect.stringMatching(/^2026-11\.[0-9a-f]{8}$/), expect.stringMatching(/^old\./)])
    expect(ids(`2026-11 ${one},old ${two}`)).toEqual(read)
    expect(readSecretsKeys(`a ${one}`, 'f')[0]!.bytes).toEqual(Buffer.from(one, 'base64'))
  })

  test.each([
    ['', /file has no key.*openssl rand/],
    ['# nothing', /file has no key/],
    ['first', /file, line 1: this is no key/],
    [`first ${base64()}\nsecond SHORT`, /file, line 2: this is no key/],
    [base64(), /line 1: this is no key/],
    [`first ${base64()}\nfirst ${base64()}`, /two keys of the name first/],
  ])('that is wrong says where, and never shows a key', (text, why) => {
    const shown = (() => {
      try {
        return JSON.stringify(readSecretsKeys(text, 'file'))
      } catch (error) {
        return String(error)
      }
    })()
    expect(shown).toMatch(why)
    for (const word of text.split(/\s/).filter(({ length }) => length > 20)) expect(shown).not.toContain(word)
  })
})
