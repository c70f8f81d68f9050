import { beforeEach, describe, expect, test } from 'vitest'
import { addAdministrator, addUser } from '../../core/access/access.test-support.ts'
import { removeUser, setPassword } from '../../core/access/access-commands.ts'
import { SIGNING_KEY, USER } from '../../core/access/access-records.ts'
import { ANONYMOUS, type Identity } from '../../core/access/identity.ts'
import { AllRights } from '../../core/access/rights.ts'
import { createFirstKey, removeOldKeys, rotateKeys } from '../../core/access/signing-key-commands.ts'
import { configKey } from '../../core/config/state/config-item.ts'
import { at, carryOut, WALL_MS } from '../../core/core.test-support.ts'
import { State } from '../../core/engine/state.ts'
import type { Resource } from '../guard.ts'
import { Judge } from './judge.ts'

const ITEM: Resource = { kind: 'config', key: configKey('dev', 'G', 'd') }
const ACCESS: Resource = { kind: 'access' }
const TTL_MS = 60_000

let state: State
let nowMs: number
let reported: string[]
beforeEach(() => {
  state = new State(WALL_MS)
  nowMs = WALL_MS
  reported = []
  addUser(state, 'ann', [['dev:*:*', 'r']])
  addAdministrator(state, 'root')
  carryOut(state, createFirstKey({ id: 'k', secret: 's' }), at(0))
})

function judge({ reports = false } = {}): Judge {
  const rights = new AllRights(state)
  const reportOnly = reports
    ? (_: object, action: string, { kind }: Resource) => void reported.push(`${action} ${kind}`)
    : undefined
  return new Judge({ state, rightsOf: (username) => rights.of(username), nowMs: () => nowMs, reportOnly })
}

/** Somebody with a token that was issued now. */
function token(username: string): Identity {
  const credentialStamp = state.record(USER, username)?.credentialStamp
  return { kind: 'user', username, by: 'token', credentialStamp, expiresMs: WALL_MS + TTL_MS, keyId: 'k' }
}

function callerOf(identity: Identity) {
  return { ip: '10.0.0.1', identity }
}

/** The code of the refusal for reading the item; undefined where it is allowed. */
function refusedTo(identity: Identity): string | undefined {
  const one = judge()
  const caller = callerOf(identity)
  return one.allows(caller, 'read', ITEM) ? undefined : one.refused(caller, 'read').code
}

describe('a caller', () => {
  test('who is nobody may do nothing', () => {
    expect(refusedTo(ANONYMOUS)).toBe('not-signed-in')
    expect(refusedTo({ kind: 'not-signed-in', code: 'token-invalid' })).toBe('token-invalid')
  })

  test('has the rights of its permissions', () => {
    expect(refusedTo(token('ann'))).toBeUndefined()
    expect(judge().allows(callerOf(token('ann')), 'write', ITEM)).toBe(false)
    expect(judge().refused(callerOf(token('ann')), 'write').code).toBe('forbidden')
    expect(judge().allows(callerOf(token('root')), 'write', ACCESS)).toBe(true)
  })

  test('loses everything with its password, its key, its time or its user', () => {
    const ann = token('ann')
    carryOut(state, setPassword({ username: 'ann', passwordHash: 'other' }), at(0))
    expect(refusedTo(ann)).toBe('token-invalid')
    const again = token('ann')
    nowMs += TTL_MS
    expect(refusedTo(again)).toBe('token-expired')
    nowMs -= TTL_MS
    carryOut(state, rotateKeys({ id: 'l', secret: 's' }, { ttlMs: TTL_MS - 1 }), at(0))
    expect(refusedTo(again)).toBeUndefined()
    nowMs += TTL_MS - 1
    expect(refusedTo(again)).toBe('token-invalid')
    nowMs = WALL_MS
    carryOut(state, removeUser('ann'), at(0))
    expect(refusedTo(again)).toBe('token-invalid')
  })
})

describe('a caller that is connected', () => {
  const lasting = (): Identity => {
    const { createdStamp } = state.record(SIGNING_KEY, 'k') ?? { createdStamp: 0 }
    return { ...token('ann'), keyStamp: createdStamp, lasts: true } as Identity
  }

  test('loses nothing when its token is over and its key was replaced, and everything when a key has leaked', () => {
    const ann = lasting()
    carryOut(state, rotateKeys({ id: 'l', secret: 's' }, { ttlMs: TTL_MS }), at(0))
    nowMs += TTL_MS
    carryOut(state, removeOldKeys(), at(TTL_MS))
    expect(state.record(SIGNING_KEY, 'k')).toBeUndefined()
    expect(refusedTo(ann)).toBeUndefined()
    carryOut(state, rotateKeys({ id: 'm', secret: 's' }, 'leaked'), at(TTL_MS + 1))
    carryOut(state, removeOldKeys(), at(TTL_MS + 2))
    expect(refusedTo(ann)).toBe('token-invalid')
  })

  test('loses everything with its password or its user', () => {
    const ann = lasting()
    carryOut(state, setPassword({ username: 'ann', passwordHash: 'other' }), at(0))
    expect(refusedTo(ann)).toBe('token-invalid')
    const again = lasting()
    expect(refusedTo(again)).toBeUndefined()
    expect(judge().mayUser('ann', 'read', ITEM)).toBe(true)
    carryOut(state, removeUser('ann'), at(0))
    expect(refusedTo(again)).toBe('token-invalid')
    expect(judge().mayUser('ann', 'read', ITEM)).toBe(false)
  })
})

describe('a judge that only reports', () => {
  test('refuses nobody, and reports the callers that it would refuse', () => {
    const one = judge({ reports: true })
    expect(one.allows(callerOf(ANONYMOUS), 'read', ITEM)).toBe(true)
    expect(one.allows(callerOf(token('ann')), 'read', ITEM)).toBe(true)
    expect(one.allows(callerOf(token('ann')), 'write', ITEM)).toBe(true)
    expect(reported).toEqual(['read config', 'write config'])
  })

  test('does not record things that an answer only leaves out', () => {
    expect(judge({ reports: true }).shows(callerOf(ANONYMOUS), 'read', ITEM)).toBe(true)
    expect(reported).toEqual([])
    expect(judge().shows(callerOf(ANONYMOUS), 'read', ITEM)).toBe(false)
    expect(judge().shows(callerOf(token('ann')), 'read', ITEM)).toBe(true)
  })

  test('lets only administrators manage users', () => {
    const one = judge({ reports: true })
    const may = [ANONYMOUS, token('ann'), token('root')].map((who) =>
      one.allows(callerOf(who), 'write', ACCESS),
    )
    expect(may).toEqual([false, false, true])
    expect(reported).toEqual([])
  })
})
