import { beforeEach, describe, expect, test, vi } from 'vitest'
import { ANONYMOUS, type SignedIn } from '../core/access/identity.ts'
import type { AuditEntry, AuditTally, AuditTrail } from '../core/audit/audit-event.ts'
import { Refusal } from '../core/refusal.ts'
import { Guard, type Resource } from './guard.ts'
import type { Authorisation } from './authorisation.ts'
import { NEVER_RECORDED } from './operation-audit.ts'

const READ = { action: 'read', resource: 'namespace' } as const
const WRITE = { action: 'write', resource: 'namespace' } as const
const ANN: SignedIn = {
  kind: 'user',
  username: 'ann',
  by: 'token',
  credentialStamp: 1,
  expiresMs: Infinity,
}
const caller = { ip: '10.0.0.1', identity: ANN }
const nobody: Authorisation = { isOn: true, allows: () => false }
const namespace = (namespaceId: string): Resource => ({ kind: 'namespace', namespaceId })
const entry: AuditEntry = {
  username: 'ann',
  by: 'token',
  ip: '10.0.0.1',
  operation: 'paint',
  item: 'a:*:*',
  result: 'done',
  code: '',
  detail: '',
}

let entries: AuditEntry[]
let tallies: Map<string, AuditTally>
let trail: AuditTrail
beforeEach(() => {
  entries = []
  tallies = new Map()
  trail = {
    record: (recorded) => void entries.push(recorded),
    tallyOf: (operation) => {
      const tally = { count: 0 }
      tallies.set(operation, tally)
      return tally
    },
  }
})

/** An operation `paint` on the namespaces of its input. */
function painting<O>(run: () => O, authorisation?: Authorisation) {
  return new Guard(authorisation, trail).operation({
    permission: WRITE,
    audit: { operation: 'paint' },
    resources: (ids: readonly string[]) => ids.map(namespace),
    run,
  })
}

test.each([
  ['public', true],
  ['own-account', true],
  ['namespace', false],
] as const)('what is done to %s may be recorded with equal ones: %s', (resource, mayRepeat) => {
  const record = vi.fn<AuditTrail['record']>()
  const guard = new Guard(undefined, { ...trail, record })
  const permission = { action: 'write', resource } as const
  guard.operation({ permission, audit: { operation: 'paint' }, resources: () => [], run: () => 1 })(
    {},
    caller,
  )
  expect(record.mock.calls).toEqual([[{ ...entry, item: '' }, { mayRepeat }]])
})

describe('an operation that writes', () => {
  test('is recorded once it has settled, with the user, the operation and the item', async () => {
    let finish = (): void => undefined
    const painted = painting(() => new Promise<void>((resolve) => (finish = resolve)))(['a', 'b'], caller)
    await Promise.resolve()
    expect(entries).toEqual([])
    finish()
    await painted
    expect(entries).toEqual([{ ...entry, item: 'a:*:*\nb:*:*' }])
  })

  test('is recorded at once where nothing is awaited', () => {
    expect(painting(() => 'green')(['a'], { ip: '10.0.0.1', identity: ANONYMOUS })).toBe('green')
    expect(entries).toEqual([{ ...entry, username: '-', by: 'none' }])
  })

  test.each([
    ['a Refusal', new Refusal('too-many', 'No.'), { result: 'refused', code: 'too-many' }],
    ['another error', new Error('secret'), { result: 'failed', code: '' }],
  ])(
    'that throws %s, or rejects with it, is recorded with that, and its caller gets it',
    async (_, error, came) => {
      const fail = (): never => {
        throw error
      }
      expect(() => painting(fail)(['a'], caller)).toThrow(error)
      await expect(painting(() => Promise.reject(error))(['a'], caller)).rejects.toBe(error)
      expect(entries).toEqual([
        { ...entry, ...came },
        { ...entry, ...came },
      ])
    },
  )

  test('names the item, and the meaning of its outcome', () => {
    const paint = new Guard(undefined, trail).operation({
      permission: WRITE,
      resources: () => [{ kind: 'operator' }],
      run: ({ ink }: { wall: string; ink: number }) => ink,
      audit: {
        operation: 'paint',
        item: ({ wall }) => wall,
        cameTo: (ink) => ({ result: 'refused', code: 'no-ink', detail: `left ${ink}` }),
      },
    })
    paint({ wall: 'north', ink: 2 }, caller)
    expect(entries).toEqual([
      { ...entry, item: 'operator/north', result: 'refused', code: 'no-ink', detail: 'left 2' },
    ])
  })

  test('names the found things that it changes', () => {
    const paint = new Guard(undefined, trail).finding({
      permission: WRITE,
      audit: { operation: 'paint' },
      scope: () => ({ kind: 'some-namespaces' }),
      find: (ids: readonly string[]) => ids,
      touches: (ids) => [
        { action: 'read', resource: namespace('source') },
        ...ids.map((id) => ({ action: 'write' as const, resource: namespace(id) })),
      ],
      run: () => undefined,
    })
    paint(['a'], caller)
    paint([], caller)
    expect(entries).toEqual([entry, { ...entry, item: '*:*:*' }])
  })
})

test('calls that are counted instead of recorded raise the tally of their operation', () => {
  const beat = new Guard(undefined, trail).operation({
    permission: WRITE,
    audit: { operation: 'beat', isRecorded: NEVER_RECORDED, countsOthers: true },
    resources: () => [namespace('a')],
    run: () => 'renewed',
  })
  beat({}, caller)
  beat({}, caller)
  expect(entries).toEqual([])
  expect(tallies.get('beat')).toEqual({ count: 2 })
})

describe('a refusal for lack of permission', () => {
  const refusedBy: Authorisation = { ...nobody, refused: () => new Refusal('token-expired', 'Old.') }

  test('is recorded for an operation that writes, also for one that is only counted', () => {
    expect(() => painting(() => 'green', refusedBy)(['a'], caller)).toThrow('Old.')
    expect(entries).toEqual([{ ...entry, result: 'refused', code: 'token-expired' }])
  })

  test('is recorded for an operation that reads, which is not recorded otherwise', () => {
    const look = (authorisation?: Authorisation) =>
      new Guard(authorisation, trail).operation({
        permission: READ,
        resources: (id: string) => [namespace(id)],
        run: () => 'seen',
      })
    expect(look()('a', caller)).toBe('seen')
    expect(entries).toEqual([])
    expect(() => look(nobody)('a', caller)).toThrow(expect.objectContaining({ code: 'forbidden' }))
    expect(entries).toEqual([{ ...entry, operation: 'read namespace', result: 'refused', code: 'forbidden' }])
  })

  test('is recorded for a list of which nothing may be seen', () => {
    const list = new Guard({ isOn: true, allows: (_, __, { kind }) => kind !== 'namespace' }, trail).listing({
      permission: READ,
      scope: () => ({ kind: 'some-namespaces' }),
      find: () => ['a'],
      resource: namespace,
      refusesNothingLeft: true,
      run: (allowed) => allowed,
    })
    expect(() => list({}, caller)).toThrow(expect.objectContaining({ code: 'forbidden' }))
    expect(entries).toMatchObject([{ operation: 'read namespace', item: '*:*:*', code: 'forbidden' }])
  })
})

test('an operation that signs its caller in says who it is', () => {
  const signIn = new Guard(undefined, trail).operation({
    permission: { action: 'write', resource: 'public' },
    resources: () => [],
    run: (name: string) => name,
    audit: { operation: 'sign in', as: (username) => ({ username, by: 'password' }) },
  })
  signIn('bob', { ip: '10.0.0.1', identity: ANONYMOUS })
  expect(entries).toEqual([{ ...entry, username: 'bob', by: 'password', operation: 'sign in', item: '' }])
})
