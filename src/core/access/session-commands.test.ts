import { beforeEach, describe, expect, test } from 'vitest'
import { at, carryOut, WALL_MS } from '../core.test-support.ts'
import { Draft } from '../decisions/draft.ts'
import { ReadLog } from '../decisions/reads.ts'
import { State } from '../engine/state.ts'
import { setPassword } from './access-commands.ts'
import { SESSION, USER, problemOf } from './access-records.ts'
import { addUser } from './access.test-support.ts'
import type { SignedIn } from './identity.ts'
import {
  beginSession,
  endedSessions,
  endSession,
  removeEndedSessions,
  useSession,
} from './session-commands.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
let state: State

beforeEach(() => {
  state = new State(WALL_MS)
  addUser(state, 'ann')
})

const stampOf = (username: string) => state.record(USER, username)?.credentialStamp ?? 0
const begin = (id: string, ms = 0, username = 'ann') =>
  carryOut(state, beginSession({ id, username, credentialStamp: stampOf(username) }), at(ms))
const use = (id: string, ms: number) => carryOut(state, useSession(id), at(ms))
const ids = () => Array.from(state.records(SESSION), ([id]) => id)

/** Why a request of a session would be refused at a time; undefined where it would not. */
function problemAt(ms: number, sessionId = 's'): string | undefined {
  const identity: SignedIn = {
    kind: 'user',
    by: 'session',
    username: 'ann',
    credentialStamp: stampOf('ann'),
    expiresMs: Infinity,
    sessionId,
  }
  return problemOf(identity, state, WALL_MS + ms)
}

describe('a session', () => {
  test('counts until it was not used for half an hour', () => {
    begin('s')
    expect([problemAt(30 * MINUTE - 1), problemAt(30 * MINUTE)]).toEqual([undefined, 'token-expired'])
    use('s', 20 * MINUTE)
    expect([problemAt(50 * MINUTE - 1), problemAt(50 * MINUTE)]).toEqual([undefined, 'token-expired'])
  })

  test('counts for twelve hours at most, however much it is used', () => {
    begin('s')
    for (let ms = 0; ms < 12 * HOUR; ms += 20 * MINUTE) use('s', ms)
    expect([problemAt(12 * HOUR - 1), problemAt(12 * HOUR)]).toEqual([undefined, 'token-expired'])
  })

  test('is written once a minute at most', () => {
    begin('s')
    const changesAt = (ms: number) => useSession('s').decide(state, at(ms)).changes.length
    expect([changesAt(1), changesAt(MINUTE - 1), changesAt(MINUTE)]).toEqual([0, 0, 1])
  })

  test('that has ended is not opened again by its use', () => {
    begin('s')
    use('s', 31 * MINUTE)
    expect(problemAt(31 * MINUTE)).toBe('token-expired')
    use('other', 0)
    expect(ids()).toEqual(['s'])
  })

  test('ends at once when its user signs out', () => {
    begin('s')
    begin('t')
    carryOut(state, endSession('s'), at(1))
    carryOut(state, endSession('s'), at(2))
    expect([problemAt(2), problemAt(2, 't')]).toEqual(['token-expired', undefined])
  })

  test('ends with another password, and a new one begins with that only', () => {
    const credentialStamp = stampOf('ann')
    begin('s')
    carryOut(state, setPassword({ username: 'ann', passwordHash: 'other' }), at(1))
    expect(problemAt(1)).toBe('token-expired')
    use('s', 2 * MINUTE)
    expect(state.record(SESSION, 's')?.usedMs).toBe(WALL_MS)
    expect(carryOut(state, beginSession({ id: 't', username: 'ann', credentialStamp }), at(1))).toBe(false)
    expect(begin('t')).toBe(true)
  })

  test('does not begin for a user who is gone', () => {
    expect(begin('s', 0, 'bob')).toBe(false)
    expect(ids()).toEqual([])
  })
})

test('a user has twenty sessions at most: the one unused for longest ends', () => {
  addUser(state, 'bob')
  begin('of bob', 0, 'bob')
  for (let turn = 0; turn < 20; turn++) begin(`s${turn}`, turn)
  use('s0', 2 * MINUTE)
  begin('s20', 2 * MINUTE)
  expect(ids()).not.toContain('s1')
  expect(ids()).toEqual(expect.arrayContaining(['of bob', 's0', 's2', 's20']))
  expect(ids()).toHaveLength(21)
})

test('sessions that have ended are found, and removed if that is still so', () => {
  addUser(state, 'bob')
  begin('of bob', 0, 'bob')
  begin('old')
  begin('used')
  begin('open', 20 * MINUTE)
  const ended = endedSessions(state, WALL_MS + 40 * MINUTE)
  expect(ended).toEqual(['of bob', 'old', 'used'])
  begin('used', 39 * MINUTE)
  carryOut(state, removeEndedSessions([...ended, 'gone']), at(40 * MINUTE))
  expect(ids().sort()).toEqual(['open', 'used'])
})

test('removing ended sessions reads nothing of other sessions and users', () => {
  addUser(state, 'bob')
  begin('of bob', 0, 'bob')
  begin('old')
  const log = new ReadLog()
  removeEndedSessions(['old']).decide(new Draft(state, log), at(40 * MINUTE))
  expect(log.reads).toEqual([{ of: 'record', recordKind: SESSION.name, id: 'old', found: true }])
})
