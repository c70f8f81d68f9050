import { beforeEach, describe, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { OwnLag } from './member-clocks.ts'

const PEERS = ['one', 'two'].map((process, index): [string, MemberFacts] => [
  process,
  {
    ip: '10.0.0.1',
    port: index,
    peerPort: 1,
    site: '',
    version: '',
    process,
    auth: 'on',
    versions: VERSIONS,
  },
])

const late = (forMs: number, isBehind: boolean) => ({ reason: expect.any(String) as string, forMs, isBehind })

let lagMs: number
let isMember: boolean
let nowMs: number
/** How late each of the others is; undefined: it does not answer. */
let others: Record<string, number | undefined>
let lag: OwnLag

beforeEach(async () => {
  lagMs = 0
  isMember = true
  nowMs = 0
  others = { one: 0, two: 0 }
  lag = new OwnLag({
    client: {
      ask: async ({ process }, { readAnswer }) => {
        const late = others[process]
        if (late === undefined) return undefined
        return readAnswer({ behind: [], lost: [], subscriberCount: 0, lagMs: late, faults: [] })
      },
    },
    peers: () => new Map(PEERS),
    lagMs: () => lagMs,
    isMember: () => isMember,
    monotonicMs: () => nowMs,
  })
  await lag.look()
  nowMs = 60_000
})

describe('a server that receives changes late', () => {
  test('says so from two seconds on', async () => {
    for (const [ms, expected] of [
      [1_999, undefined],
      [2_000, late(2_000, false)],
      [9_999, late(9_999, false)],
    ] as const) {
      lagMs = ms
      await lag.look()
      expect(lag.current).toEqual(expected)
    }
  })

  test('is behind from ten seconds on if another one is not late, until it has caught up', async () => {
    others = { one: undefined, two: 500 }
    lagMs = 10_000
    await lag.look()
    expect(lag.current).toEqual(late(10_000, true))
    lagMs = 500
    await lag.look()
    expect(lag.current).toBeUndefined()
    lagMs = 3_000
    expect(lag.current).toEqual(late(3_000, false))
  })

  test.each([
    ['are as late', { one: 11_000, two: 2_500 }],
    ['do not answer', { one: undefined, two: undefined }],
  ])('is not behind if the others %s', async (_what, answers) => {
    others = answers
    lagMs = 20_000
    await lag.look()
    expect(lag.current).toEqual(late(20_000, false))
  })

  test('says nothing while its lease is not certain: then the store is away, or it is cut off', async () => {
    isMember = false
    lagMs = 20_000
    await lag.look()
    expect(lag.current).toBeUndefined()
  })

  test('is not behind when the store is back, until it has had the time to catch up', async () => {
    isMember = false
    lagMs = 14_000
    await lag.look()
    isMember = true
    await lag.look()
    expect(lag.current).toBeUndefined()
    nowMs += 9_999
    lagMs += 9_999
    await lag.look()
    expect(lag.current).toEqual(late(9_999, false))
    nowMs += 1
    await lag.look()
    expect(lag.current).toEqual(late(10_000, true))
  })
})
