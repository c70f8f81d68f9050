import { beforeEach, describe, expect, test } from 'vitest'
import { type BodyShare, BodyShares } from './body-shares.ts'

const KIB = 1024
const LIMIT = 1024 * KIB

let nowMs: number
let shares: BodyShares
let givenUp: string[]
beforeEach(() => {
  nowMs = 0
  givenUp = []
  shares = new BodyShares(LIMIT, { hasStrangers: false, nowMs: () => nowMs })
})

function open(name: string, label = name, isStranger = false): BodyShare {
  const share: BodyShare = shares.open({ name, isStranger }, ({ code }) => {
    givenUp.push(`${label} ${code}`)
    share.release()
  })
  return share
}
const stranger = (name: string, label = name) => open(name, label, true)

describe('bodies', () => {
  test('are refused when the memory is full, but for small ones', () => {
    const one = open('a')
    expect(one.take(LIMIT)).toBe(true)
    const other = open('a')
    expect(other.take(16 * KIB)).toBe(true)
    expect(other.take(1)).toBe(false)
    one.release()
    expect(other.take(1)).toBe(true)
    expect(givenUp).toEqual([])
  })

  test('that are small always have room, within a limit: the oldest of the owner of most gives way', () => {
    const most = (LIMIT * 1.25) / (16 * KIB)
    for (let at = 0; at < most + 20; at++) expect(open('a', `${at}`).take(16 * KIB)).toBe(true)
    expect(givenUp).toEqual(Array.from({ length: 20 }, (_, at) => `${at} body-memory`))
    expect(open('b').take(16 * KIB)).toBe(true)
    expect(givenUp.slice(20)[0]).toBe('20 body-memory')
    expect(open('c').take(LIMIT / 4)).toBe(true)
    // All together have as much as the limit now.
    expect(givenUp).toHaveLength(most + 20 - LIMIT / (16 * KIB) + 1 + LIMIT / 4 / (16 * KIB))
  })

  test('are counted no more once they are released, however often', () => {
    for (let round = 0; round < 3; round++) {
      const share = open('a')
      expect(share.take(LIMIT)).toBe(true)
      share.release()
      share.release()
    }
  })

  test('of the owner of most bytes give way to bodies of others, the oldest first', () => {
    const old = open('a', 'old')
    const young = open('a', 'young')
    old.take(LIMIT / 2)
    young.take(LIMIT / 2)
    const other = open('b')
    expect(other.take(20 * KIB)).toBe(true)
    expect(givenUp).toEqual(['old body-memory'])
  })

  test('of an owner who has as much do not give way: two do not drive out each other', () => {
    open('a').take(LIMIT / 2)
    const other = open('b')
    expect(other.take(LIMIT / 2)).toBe(true)
    expect(other.take(1)).toBe(false)
    expect(givenUp).toEqual([])
  })

  test('that are slow give way to everybody', () => {
    open('a', 'slow').take(LIMIT - 40 * KIB)
    nowMs = 4_000
    const next = open('a', 'next')
    expect(next.take(60 * KIB)).toBe(false)
    nowMs = 5_001
    expect(next.take(60 * KIB)).toBe(true)
    expect(givenUp).toEqual(['slow body-memory'])
  })
})

describe('forms of strangers', () => {
  beforeEach(() => void (shares = new BodyShares(LIMIT, { hasStrangers: true, nowMs: () => nowMs })))

  test('have a quarter, which bodies of users do not take', () => {
    const one = stranger('a')
    expect(one.take(LIMIT / 4)).toBe(true)
    expect(one.take(1)).toBe(false)
    const user = open('u')
    expect(user.take((LIMIT / 4) * 3)).toBe(true)
    expect(user.take(1)).toBe(false)
  })

  test('of one address do not keep out other addresses', () => {
    for (let at = 0; at < 8; at++) stranger('a', `a${at}`).take(LIMIT / 32)
    const other = stranger('b')
    for (let at = 0; at < 4; at++) expect(other.take(LIMIT / 32)).toBe(true)
    expect(givenUp).toEqual(['a0', 'a1', 'a2', 'a3'].map((name) => `${name} body-memory`))
    expect(other.take(LIMIT / 32)).toBe(false)
  })

  test('of very many addresses that are slow do not keep out anybody', () => {
    for (let at = 0; at < 200; at++) stranger(`10.0.0.${at}`).take(LIMIT / 4 / 200)
    nowMs = 6_000
    const other = stranger('b')
    for (let at = 0; at < 8; at++) expect(other.take(LIMIT / 32)).toBe(true)
    expect(givenUp).toHaveLength(200)
  })

  test('do not drive out bodies of users', () => {
    open('u', 'user').take((LIMIT / 4) * 3)
    stranger('a', 'stranger').take(LIMIT / 4)
    expect(stranger('b').take(LIMIT / 8)).toBe(true)
    expect(givenUp).toEqual(['stranger body-memory'])
  })
})
