import { beforeEach, describe, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { OwnStanding } from './standing.ts'

/** The answer of a peer; undefined: it does not answer. */
type Said = boolean | undefined

const facts = (port: number): MemberFacts => ({
  ip: '10.0.0.1',
  port,
  peerPort: port,
  site: '',
  version: '',
  process: `p${port}`,
  auth: 'on',
  versions: VERSIONS,
})

let members: Map<string, MemberFacts>
let says: Record<string, Said>
let isCertain: boolean
let hasCaughtUp: boolean
let asked: string[]
let standing: OwnStanding

beforeEach(() => {
  members = new Map([1, 2, 3].map((port) => [`s${port}`, facts(port)]))
  says = {}
  isCertain = true
  hasCaughtUp = true
  asked = []
  standing = new OwnStanding({
    client: {
      ask: async ({ process }) => {
        asked.push(process)
        const said = says[process]
        return said === undefined ? undefined : ({ hasStore: said } as never)
      },
    },
    self: 's1',
    members: () => new Map(members),
    isCertain: () => isCertain,
    hasStore: () => isCertain,
    hasCaughtUp: () => hasCaughtUp,
  })
})

async function loseLease(said: Record<string, Said>) {
  await standing.look()
  isCertain = false
  says = said
  const before = standing.current
  await standing.look()
  await standing.look()
  return [before, standing.current]
}

test('a server with a certain lease is a member, and asks nobody', async () => {
  await standing.look()
  expect([standing.current, asked]).toEqual(['member', []])
})

describe('a server whose lease is not certain', () => {
  test.each([
    [{ p2: true, p3: false }, 'alone'],
    [{ p2: true }, 'alone'],
    [{}, 'alone'],
    [{ p2: false }, 'down-for-all'],
    [{ p2: false, p3: false }, 'down-for-all'],
  ])('with others that say %o is %s', async (said, expected) => {
    expect(await loseLease(said)).toEqual(['down-for-all', expected])
  })

  test('is not alone because one look went wrong', async () => {
    await standing.look()
    isCertain = false
    for (const said of [{}, { p2: false, p3: false }, { p2: true }]) {
      says = said
      await standing.look()
      expect(standing.current).toBe('down-for-all')
    }
  })

  test('is not alone while servers reach a store that is back, one after the other', async () => {
    await loseLease({ p2: false, p3: false })
    says = { p2: true, p3: false }
    for (let looks = 1; looks < 10; looks++) {
      await standing.look()
      expect(standing.current).toBe('down-for-all')
    }
    isCertain = true
    await standing.look()
    expect(standing.current).toBe('member')
    expect(await loseLease({ p2: true })).toEqual(['down-for-all', 'alone'])
  })

  test('is alone where it does not reach a store that is back for others', async () => {
    await loseLease({ p2: false, p3: false })
    says = { p2: true }
    for (let looks = 0; looks < 10; looks++) await standing.look()
    expect(standing.current).toBe('alone')
  })

  test('is never alone without others', async () => {
    members = new Map([['s1', facts(1)]])
    expect(await loseLease({})).toEqual(['down-for-all', 'down-for-all'])
    expect(asked).toEqual([])
  })

  test('of two is alone if the other one does not answer', async () => {
    members.delete('s3')
    expect(await loseLease({})).toEqual(['down-for-all', 'alone'])
    says = { p2: false }
    await standing.look()
    expect(standing.current).toBe('down-for-all')
  })

  test('asks the members that it knew last, also when their records are gone, and by their newest process', async () => {
    await standing.look()
    members = new Map([['s2', { ...facts(2), process: 'p2 again' }]])
    isCertain = false
    await standing.look()
    expect(asked.toSorted()).toEqual(['p2 again', 'p3'])
  })
})

test('it is a member again when its lease is certain and it has caught up', async () => {
  await loseLease({ p2: true })
  isCertain = true
  hasCaughtUp = false
  await standing.look()
  expect(standing.current).toBe('alone')
  hasCaughtUp = true
  await standing.look()
  expect(standing.current).toBe('member')
})
