import { ANONYMOUS, type Identity } from '../core/access/identity.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { CallerGone } from '../core/work/fair-queue.ts'
import { type Action, Guard, placesOf, type Resource } from './guard.ts'
import type { Caller, Authorisation } from './authorisation.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const READ = { action: 'read', resource: 'namespace' } as const
const namespace = (namespaceId: string): Resource => ({ kind: 'namespace', namespaceId })
const scope = (): Resource => ({ kind: 'some-namespaces' })

let judged: [Action, Resource][]
beforeEach(() => (judged = []))

/** Allows the namespaces of these ids, and to look for some. */
function allowing(...ids: string[]): Authorisation {
  return {
    isOn: true,
    allows: (_, action, resource) => {
      judged.push([action, resource])
      return (
        resource.kind === 'some-namespaces' || ids.includes((resource as { namespaceId: string }).namespaceId)
      )
    },
  }
}

describe('an operation whose input names its resources', () => {
  const run = vi.fn((ids: readonly string[]) => ids.length)
  beforeEach(() => {
    run.mockClear()
  })
  const operationOf = (authorisation?: Authorisation) =>
    new Guard(authorisation).operation({
      permission: READ,
      resources: (ids: readonly string[]) => ids.map(namespace),
      run,
    })

  test('runs with its input and its caller where all of it is allowed', () => {
    expect(operationOf(allowing('a', 'b'))(['a', 'b'], caller)).toBe(2)
    expect(run).toHaveBeenCalledExactlyOnceWith(['a', 'b'], caller)
    expect(judged).toEqual([
      ['read', namespace('a')],
      ['read', namespace('b')],
    ])
  })

  test('is refused, and does not run, if one resource is forbidden', () => {
    expect(() => operationOf(allowing('a'))(['a', 'b'], caller)).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    )
    expect(run).not.toHaveBeenCalled()
  })

  test('computes no resources while everybody may do everything', () => {
    const resources = vi.fn(() => [])
    const open = new Guard().operation({ permission: READ, resources, run: () => 'done' })
    expect(open({}, caller)).toBe('done')
    expect(resources).not.toHaveBeenCalled()
  })

  test('shows its permission, to be judged without its input', () => {
    expect(operationOf().permission).toBe(READ)
  })
})

describe('an operation that finds its resources', () => {
  const find = vi.fn((ids: readonly string[]) => ids.filter((id) => id !== 'absent'))
  const run = vi.fn((found: readonly string[]) => found)
  beforeEach(() => {
    find.mockClear()
    run.mockClear()
  })
  const operationOf = (authorisation?: Authorisation) =>
    new Guard(authorisation).finding({
      permission: READ,
      scope,
      find,
      touches: (ids) => ids.map((id) => ({ action: 'write', resource: namespace(id) })),
      run,
    })

  test('runs with the found things, each judged by its own action', () => {
    expect(operationOf(allowing('a'))(['a', 'absent'], caller)).toEqual(['a'])
    expect(judged).toEqual([
      ['read', { kind: 'some-namespaces' }],
      ['write', namespace('a')],
    ])
    expect(operationOf()(['a', 'b'], caller)).toEqual(['a', 'b'])
  })

  test('does not run if one found thing is forbidden', () => {
    expect(() => operationOf(allowing('a'))(['a', 'b'], caller)).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    )
    expect(run).not.toHaveBeenCalled()
  })

  test('looks nothing up where its scope is forbidden', () => {
    const nobody: Authorisation = { isOn: true, allows: () => false }
    expect(() => operationOf(nobody)(['a'], caller)).toThrow(expect.objectContaining({ code: 'forbidden' }))
    expect(find).not.toHaveBeenCalled()
  })
})

describe('a list', () => {
  const all = ['a', 'b', 'c']
  const listOf = (authorisation?: Authorisation, refusesNothingLeft = false) =>
    new Guard(authorisation).listing({
      permission: READ,
      scope,
      find: () => all,
      resource: namespace,
      refusesNothingLeft,
      run: (allowed) => allowed,
    })

  test('has only things that the caller may touch', () => {
    expect(listOf(allowing('a', 'c'))({}, caller)).toEqual(['a', 'c'])
    expect(listOf(allowing())({}, caller)).toEqual([])
  })

  test('is the very list that was found while everybody may do everything', () => {
    expect(listOf()({}, caller)).toBe(all)
  })

  test('is refused where nothing is left of it and it says so', () => {
    expect(() => listOf(allowing(), true)({}, caller)).toThrow(expect.objectContaining({ code: 'forbidden' }))
    expect(listOf(allowing('b'), true)({}, caller)).toEqual(['b'])
  })
})

describe('an operation that manages users', () => {
  const definition = {
    permission: { action: 'read', resource: 'access' },
    resources: (): readonly Resource[] => [{ kind: 'access' }],
    run: () => 'done',
  } as const

  test('is refused while everybody may do everything else, and says how to turn authentication on', () => {
    expect(() => new Guard().operation(definition)({}, caller)).toThrow(/--auth/)
  })

  test('is judged as everything else is while authentication is on', () => {
    const judge = { isOn: true, allows: () => true }
    expect(new Guard(judge).operation(definition)({}, caller)).toBe('done')
  })
})

describe('a caller that is connected', () => {
  const seen: Identity[] = []
  const judge = {
    isOn: true,
    allows: ({ identity }: Caller) => {
      seen.push(identity)
      return true
    },
  }
  const resource = namespace('a')

  test('is judged without the end of its token, which it does not send again', () => {
    const token = {
      kind: 'user',
      username: 'ann',
      by: 'token',
      credentialStamp: 1,
      expiresMs: 5,
      keyId: 'k',
    } as const
    expect(new Guard(judge).whileConnected({ ip: '', identity: token }, 'read')?.(resource)).toBe(true)
    expect(seen.pop()).toEqual({ ...token, lasts: true })
  })

  test('is judged as it is if it has shown something else', () => {
    expect(new Guard(judge).whileConnected(caller, 'read')?.(resource)).toBe(true)
    expect(seen.pop()).toBe(caller.identity)
  })

  test('is not judged while everybody may do everything', () => {
    expect(new Guard().whileConnected(caller, 'read')).toBeUndefined()
  })
})

describe('a refusal', () => {
  const key = configKey('dev', 'G', 'secret.yaml')
  const SECRET = 'dev:G:config/secret.yaml'
  const none: Authorisation = { isOn: true, allows: (_caller, _action, { kind }) => kind === 'some-configs' }
  const textOf = (work: () => unknown): string => {
    try {
      work()
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  const reading = (resource: Resource) =>
    new Guard(none).operation({
      permission: { action: 'read', resource: 'config' },
      resources: () => [resource],
      run: () => 1,
    })
  const ann: Caller = {
    ip: '10.0.0.1',
    identity: { kind: 'user', username: 'ann', by: 'token', credentialStamp: 1, expiresMs: Infinity },
  }

  test.each<[Resource, string]>([
    [
      { kind: 'config', key },
      `ann may not read ${SECRET}. An administrator gives the right: waypost permission add ROLE '${SECRET}' r`,
    ],
    [{ kind: 'namespace', namespaceId: 'dev' }, "'dev:*:*' r"],
    [{ kind: 'some-services', namespaceId: 'dev' }, "'dev:*:naming/*' r"],
    [{ kind: 'metrics' }, "'operator/metrics' r"],
    [
      { kind: 'operator' },
      'ann may not read servers, clients and switches. This is for administrators only.',
    ],
    [{ kind: 'audit' }, 'ann may not read the audit. This is for administrators only.'],
  ])('names the user, the action and %j', (resource, text) => {
    expect(textOf(() => reading(resource)({}, ann))).toContain(text)
  })

  test('names nothing that was found by an id', () => {
    const byId = new Guard(none).finding({
      permission: { action: 'read', resource: 'config' },
      scope: () => ({ kind: 'some-configs', namespaceId: undefined }),
      find: (ids: readonly number[]) => ids,
      touches: (ids) =>
        ids.map(() => ({ action: 'read' as const, resource: { kind: 'config' as const, key } })),
      run: () => 1,
    })
    expect(textOf(() => byId([7], ann))).toBe('The caller is not permitted to read this.')
  })
})

describe('an operation in a place', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const callerOf = (username: string, isGone = false): Caller => ({
    ip: '10.0.0.1',
    identity: { kind: 'user', username } as Identity,
    isGone,
  })

  test('runs beside few others until its outcome, and another caller gets a place', async () => {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const read = new Guard(undefined, undefined, placesOf(2)).operation({
      permission: READ,
      resources: () => [],
      inPlace: true,
      run: (name: string, _caller: Caller) => {
        begun.push(name)
        return new Promise<string>((resolve) => ends.push(() => resolve(name)))
      },
    })
    const all = Array.from({ length: 5 }, () => read('many', callerOf('many')))
    await settled()
    expect(begun).toEqual(['many', 'many'])
    const other = read('other', callerOf('other'))
    await settled()
    expect(begun).toEqual(['many', 'many', 'other'])
    const gone = read('gone', callerOf('gone', true)).catch((error: unknown) => error)
    for (let round = 0; round < 10; round++) {
      ends.shift()?.()
      await settled()
    }
    expect(await Promise.all([...all, other])).toEqual([...Array.from({ length: 5 }, () => 'many'), 'other'])
    expect([begun.includes('gone'), await gone]).toEqual([false, expect.any(CallerGone)])
  })

  test('is judged before it waits', () => {
    const run = vi.fn(async () => 'done')
    const read = new Guard(allowing()).operation({
      permission: READ,
      resources: () => [namespace('a')],
      inPlace: true,
      run,
    })
    expect(() => read({}, caller)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })
})
