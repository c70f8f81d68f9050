import { beforeEach, describe, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { MemberClocks } from './member-clocks.ts'

const HOUR = 3_600_000
const facts = (process: string): MemberFacts => ({
  ip: '10.0.0.1',
  port: 1,
  peerPort: 2,
  site: '',
  version: '',
  process,
  auth: 'on',
  versions: VERSIONS,
})

/** How far the clock of each member is ahead of the right time; undefined: it does not answer. The own one is `self`. */
let ahead: Record<string, number | undefined>
let nowMs: number
/** How long each answer takes. */
let takesMs: number
let lines: string[]
let clocks: MemberClocks
/** How far the largest stamp is ahead of the right time. */
let stampsAheadMs: number

const wallOf = (id: string): number => 1_000_000_000 + nowMs + ahead[id]!

async function look(): Promise<void> {
  nowMs += 10_000
  await clocks.look()
}

beforeEach(() => {
  ahead = { self: 0, two: 20, three: -20 }
  nowMs = 0
  takesMs = 0
  stampsAheadMs = 0
  lines = []
  const line = (level: string) => (about: object, text: string) =>
    void lines.push(`${level} ${JSON.stringify(about)} ${text}`)
  clocks = new MemberClocks({
    client: {
      ask: async ({ process }, { readAnswer }) => {
        if (ahead[process] === undefined) return undefined
        const answer = readAnswer({ wallMs: wallOf(process) })
        nowMs += takesMs
        return answer
      },
    },
    self: 'self',
    peers: () =>
      new Map(
        Object.keys(ahead)
          .filter((id) => id !== 'self')
          .map((id) => [id, facts(id)]),
      ),
    wallMs: () => wallOf('self'),
    latestMs: () => 1_000_000_000 + nowMs + stampsAheadMs,
    monotonicMs: () => nowMs,
    log: { info: line('info'), warn: line('warn') },
  })
})

describe('the clocks of several servers', () => {
  test('are compared with the time of most clocks', async () => {
    ahead = { self: HOUR, two: 0, three: 10 }
    await look()
    expect([clocks.aheadMs('self'), clocks.aheadMs('two'), clocks.aheadMs('three')]).toEqual([
      HOUR - 10,
      -10,
      0,
    ])
    expect(lines).toEqual([expect.stringMatching(/^warn {"member":"self","aheadMs":3599990} the clock/)])
  })

  test.each([0, -48 * HOUR])(
    'are those by which a stamp is a day ahead, which is said once: the own clock is %i ms ahead',
    async (self) => {
      ahead = { self, two: 0, three: 0 }
      stampsAheadMs = 24 * HOUR
      await look()
      const late = (): string[] => lines.filter((line) => line.includes('more than a day ahead'))
      expect(late()).toEqual([])
      stampsAheadMs++
      await look()
      await look()
      expect(late()).toEqual([expect.stringMatching(/^warn {"aheadMs":86400001} changes get times/)])
    },
  )

  test('are reported once when one is apart, and once when it is not any more', async () => {
    await look()
    expect(lines).toEqual([])
    ahead['three'] = -HOUR
    await look()
    await look()
    expect(lines).toEqual([
      expect.stringMatching(/^warn {"member":"three","aheadMs":-3600000} .*let NTP set it/),
    ])
    ahead['three'] = 0
    await look()
    expect(lines.slice(1)).toEqual([expect.stringMatching(/^info {"member":"three","aheadMs":0} .* again$/)])
  })

  test('are not reported for the time that an answer may take', async () => {
    ahead['two'] = 2_300
    takesMs = 900
    await look()
    expect(lines).toEqual([])
    takesMs = 10
    await look()
    expect(lines).toHaveLength(1)
  })

  test('of two servers: each names the other, for nobody knows which one is right', async () => {
    ahead = { self: HOUR, two: 0 }
    await look()
    expect(lines).toEqual([expect.stringContaining('"member":"two"')])
  })

  test('a member that does not answer, or is gone, has no clock', async () => {
    ahead = { self: 0, two: HOUR, three: undefined, four: 0 }
    await look()
    expect([clocks.aheadMs('three'), lines.length]).toEqual([undefined, 1])
    delete ahead['two']
    await look()
    expect(clocks.aheadMs('two')).toBeUndefined()
    ahead['two'] = HOUR
    await look()
    expect(lines).toHaveLength(2)
  })
})
