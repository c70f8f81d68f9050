/** The powers of a member that knows the secret and lies, as the table in docs/security.md has them. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { OwnViews } from '../core/clients/client-views.ts'
import { Cluster } from '../core/cluster/judging/silence-vote.test-support.ts'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { address, ORDERS } from '../core/core.test-support.ts'
import type { Silence } from '../core/naming/liveness/silence.ts'
import { HeardServers } from './cluster-view.ts'
import { MemberClocks, OwnLag } from './member-clocks.ts'
import type { PeerClient } from './peer-client.ts'
import * as questions from './peer-question.ts'
import type { PeerQuestion } from './peer-question.ts'
import { PeerViews } from './peer-views.ts'
import { OwnStanding } from './standing.ts'

const QUESTIONS = Object.values<unknown>(questions).filter(
  (one): one is PeerQuestion<never, unknown> =>
    one !== null && typeof one === 'object' && 'readQuestion' in one,
)
const SECURITY = new URL('../../docs/security.md', import.meta.url)

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
const MEMBERS = new Map(['self', 'honest', 'liar'].map((id) => [id, facts(id)]))
const PEERS = new Map([...MEMBERS].filter(([id]) => id !== 'self'))

/** Asks members that answer with these; undefined: no answer. An answer that no reader takes is none, as in `PeerClient`. */
function asking(answers: Record<string, unknown>): Pick<PeerClient, 'ask'> {
  return {
    ask: async ({ process }, { readAnswer }) => {
      try {
        return answers[process] === undefined ? undefined : readAnswer(answers[process])
      } catch {
        return undefined
      }
    },
  }
}

test('the table has a row for each question', () => {
  const text = readFileSync(SECURITY, 'utf8')
  const table = text.slice(text.indexOf('### Members that lie'))
  for (const { name } of QUESTIONS) expect([name, table.includes(`\`${name}\``)]).toEqual([name, true])
})

describe('standing', () => {
  const standingOf = (answers: Record<string, unknown>, isCertain = { now: true }) =>
    new OwnStanding({
      client: asking(answers),
      self: 'self',
      members: () => MEMBERS,
      isCertain: () => isCertain.now,
      hasStore: () => false,
      hasCaughtUp: () => true,
    })

  async function lost(answers: Record<string, unknown>): Promise<string> {
    const isCertain = { now: true }
    const standing = standingOf(answers, isCertain)
    await standing.look()
    isCertain.now = false
    for (let looks = 0; looks < 3; looks++) await standing.look()
    return standing.current
  }

  test('`true` while etcd is away for all makes the others take themselves for cut off', async () => {
    expect(await lost({ honest: { hasStore: false }, liar: { hasStore: false } })).toBe('down-for-all')
    expect(await lost({ honest: { hasStore: false }, liar: { hasStore: true } })).toBe('alone')
  })

  test('`false` does not hide that another one has the store', async () => {
    expect(await lost({ honest: { hasStore: true }, liar: { hasStore: false } })).toBe('alone')
  })

  test('no lie changes a server whose lease is certain', async () => {
    const standing = standingOf({ honest: { hasStore: true }, liar: { hasStore: false } })
    await standing.look()
    expect(standing.current).toBe('member')
  })
})

describe('heard-servers', () => {
  function heardOf(answer: unknown) {
    const time = { nowMs: 1_000_000 }
    const heard = new HeardServers({
      client: asking({ liar: answer }),
      self: 'self',
      peers: () => new Map([['liar', facts('liar')]]),
      isKnown: (id) => MEMBERS.has(id),
      monotonicMs: () => time.nowMs,
    })
    return { heard, time }
  }

  test('makes a dead server look as if it had just answered, and no server as if it answered long ago', async () => {
    const fresh = heardOf([{ id: 'honest', agoMs: -1e300 }])
    await fresh.heard.ask()
    expect(fresh.heard.agoMs('honest')).toBe(0)
    const old = heardOf([
      { id: 'liar', agoMs: 1e300 },
      { id: 'self', agoMs: 1e300 },
    ])
    await old.heard.ask()
    expect([old.heard.agoMs('liar'), old.heard.agoMs('self')]).toEqual([0, 0])
  })

  test('of servers that nobody knows are forgotten, and malformed ones are no answer', async () => {
    const { heard } = heardOf(Array.from({ length: 1_000 }, (_, id) => ({ id: `s${id}`, agoMs: 0 })))
    await heard.ask()
    expect([heard.agoMs('s1'), heard.replies('liar')]).toEqual([undefined, true])
    const none = heardOf([{ id: 7, agoMs: null }])
    await none.heard.ask()
    expect(none.heard.replies('liar')).toBe(false)
  })
})

describe('clock', () => {
  test('is reported as apart, and a majority keeps its time', async () => {
    const lines: object[] = []
    const line = (about: object): void => void lines.push(about)
    const nowMs = 1_000_000
    const clocks = new MemberClocks({
      client: asking({ honest: { wallMs: nowMs }, liar: { wallMs: 1e300 } }),
      self: 'self',
      peers: () => PEERS,
      wallMs: () => nowMs,
      latestMs: () => nowMs,
      monotonicMs: () => nowMs,
      log: { info: line, warn: line },
    })
    await clocks.look()
    expect(lines).toMatchObject([{ member: 'liar' }])
    expect([clocks.aheadMs('self'), clocks.aheadMs('honest')]).toEqual([0, 0])
  })
})

describe('condition', () => {
  test('makes a server that is late itself think that others are not, and nobody else', async () => {
    const answer = (lagMs: number) => ({ behind: [], lost: [], subscriberCount: 0, lagMs, faults: [] })
    const time = { nowMs: 0, lagMs: 0 }
    const lag = new OwnLag({
      client: asking({ honest: answer(60_000), liar: answer(-1e300) }),
      peers: () => PEERS,
      lagMs: () => time.lagMs,
      isMember: () => true,
      monotonicMs: () => time.nowMs,
    })
    await lag.look()
    time.nowMs = 60_000
    await lag.look()
    expect(lag.current).toBeUndefined()
    time.lagMs = 20_000
    await lag.look()
    expect(lag.current).toMatchObject({ isBehind: true })
  })
})

describe('silence', () => {
  const WHERE = address()

  /** A minute in which no beat comes, or beats come at an honest member, and one of three members answers with a lie. */
  function minuteWith(lie: (places: number) => readonly Silence[], beatsAt?: 'honest'): boolean {
    const cluster = new Cluster()
    for (const port of [1, 2, 3]) cluster.join(port)
    for (let ms = 0; ms < 30_000; ms += 1_000) cluster.pass(1_000)
    cluster.register(WHERE)
    const judge = cluster.judge()
    const [honest, liar] = cluster.others()
    liar!.lie = lie
    for (let ms = 0; ms < 60_000; ms += 1_000) {
      if (beatsAt === 'honest') cluster.beat(honest!, WHERE)
      cluster.pass(1_000)
    }
    return judge.instance(WHERE) !== undefined
  }

  test.each<[string, Silence]>([
    ['heard just now', { kind: 'heard', agoMs: 0 }],
    ['heard long ago', { kind: 'heard', agoMs: 1e300 }],
    ['learned long ago', { kind: 'learned', agoMs: 1e300 }],
    ['unknown', { kind: 'unknown' }],
  ])('%s removes no instance whose beats come at another server', (_, silence) => {
    expect(minuteWith((places) => Array.from({ length: places }, () => silence), 'honest')).toBe(true)
  })

  test('heard just now keeps a dead instance in the lists; too few answers do, too', () => {
    expect(minuteWith((places) => Array.from({ length: places }, () => ({ kind: 'heard', agoMs: 0 })))).toBe(
      true,
    )
    expect(minuteWith(() => [])).toBe(true)
    expect(minuteWith((places) => Array.from({ length: places }, () => ({ kind: 'unknown' })))).toBe(false)
  })
})

describe('views of clients', () => {
  const KEY = configKey('public', 'G', 'a')
  const own = {
    watchersOf: async () => new Map([['10.0.0.1', 'right']]),
    clientsOf: async () => [],
    clientCounts: (keys: readonly unknown[]) => keys.map(() => 1),
    watchedBy: async () => [],
    subscribers: () => [],
    condition: async () => ({ behind: [], lost: [], subscriberCount: 0, lagMs: 0, faults: [] }),
    connectedClients: () => ({ server: 'self', count: 0, clients: [] }),
    dismiss: () => false,
    timeline: () => ({ fromMs: 5, entries: [] }),
  } as unknown as OwnViews
  const viewsWith = (answer: unknown): PeerViews =>
    new PeerViews({ client: asking({ liar: answer }), peers: () => new Map([['liar', facts('liar')]]), own })

  test('show rows that are not true, and change no row of a server itself', async () => {
    const lies = [
      { ip: '10.0.0.1', md5: 'wrong' },
      { ip: '10.9.9.9', md5: 'made up' },
    ]
    const { value } = await viewsWith(lies).watchersOf(KEY)
    expect([...value]).toEqual([
      ['10.0.0.1', 'right'],
      ['10.9.9.9', 'made up'],
    ])
    expect((await viewsWith([1e300, 5]).clientCounts([KEY])).value).toEqual([1e300])
    expect((await viewsWith({ fromMs: -1e300, entries: [] }).timeline(ORDERS)).value.fromMs).toBe(-1e300)
    expect((await viewsWith({ isKnown: true }).dismiss({ id: 'x', how: 'close' })).value).toBe(true)
  })

  test.each([
    ['text', 'x'],
    ['null', null],
    ['rows of another kind', [{ ip: 7 }]],
    ['an object', {}],
  ])('that are %s are no answer, and the server is named as missing', async (_, answer) => {
    const views = viewsWith(answer)
    const all = [
      views.watchersOf(KEY),
      views.clientsOf(KEY),
      views.clientCounts([KEY]),
      views.watchedBy('1'),
      views.conditions(),
      views.subscribers(ORDERS),
      views.timeline(ORDERS),
      views.connectedClients({ text: '', most: 1 }),
      views.dismiss({ id: 'x', how: 'close' }),
    ]
    for (const { missing } of await Promise.all(all)) expect(missing).toEqual(['liar'])
  })
})
