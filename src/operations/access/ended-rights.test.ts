import { beforeEach, describe, expect, test } from 'vitest'
import type { CredentialProblem } from '../../core/access/access-records.ts'
import type { Resource } from '../../core/access/resource.ts'
import type { SignedIn } from '../../core/access/identity.ts'
import { ConnectionRegistration } from '../../core/naming/connections/connection-registration.ts'
import { EndedRights, type JudgedConnection } from './ended-rights.ts'

const SERVICES = 1_000
const CONNECTIONS = 100

/** Connections of two users with many registrations, whose changes are counted. */
class World {
  version = 0
  nowMs = 0
  slices = 0
  /** How long the longest slice has taken, by the clock of the world. */
  longestMs = 0
  readonly withheld: ConnectionRegistration[] = []
  readonly allowed: ConnectionRegistration[] = []
  readonly left: ConnectionRegistration[] = []
  readonly ended: string[] = []
  readonly problems = new Map<string, CredentialProblem>()
  forbidden: (username: string, resource: Resource) => boolean = () => false
  looked = 0
  /** Set: changes wait until they are called. */
  late: (() => void)[] | undefined
  readonly connections: JudgedConnection[] = []
  readonly #registrations = new Map<string, ConnectionRegistration[]>()
  readonly #queue: (() => void)[] = []
  readonly rights = new EndedRights({
    state: { recordVersion: () => this.version },
    judge: {
      problemOf: (identity) => this.problems.get((identity as SignedIn).username),
      mayUser: (username, _action, resource) => {
        this.nowMs += 0.01
        return !this.forbidden(username, resource)
      },
    },
    connections: this.connections,
    connectionInstances: {
      registrations: {
        of: (id) => this.#registrations.get(id) ?? [],
        left: () => this.left,
        size: 0,
        counts: () => ({ services: 0, instances: 0 }),
      },
      withhold: (registration) => this.#change(registration, this.withheld),
      allow: (registration) => this.#change(registration, this.allowed),
    },
    lookAtSubscriptions: () => [this.looked++].values(),
    loop: { now: () => this.nowMs, soon: (run) => void this.#queue.push(run) },
  })

  connect(id: string, username: string, services: number): void {
    const identity: SignedIn = {
      kind: 'user',
      username,
      by: 'token',
      credentialStamp: 1,
      expiresMs: 0,
    }
    const end = (): void => void this.ended.push(id)
    this.connections.push({ id, identities: [identity], end })
    const registrations = Array.from({ length: services }, (_, index) => {
      const registration = new ConnectionRegistration(
        { namespaceId: 'public', groupedName: `G@@${index}` },
        { process: 'this', connectionId: id },
      )
      registration.username = username
      return registration
    })
    this.#registrations.set(id, registrations)
  }

  /** Something has changed. */
  judge(): void {
    this.version++
    this.rights.tick()
    this.run()
  }

  run(): void {
    for (let slice = this.#queue.shift(); slice !== undefined; slice = this.#queue.shift()) {
      const beganMs = this.nowMs
      slice()
      this.slices++
      this.longestMs = Math.max(this.longestMs, this.nowMs - beganMs)
    }
  }

  #change(registration: ConnectionRegistration, changed: ConnectionRegistration[]): void | Promise<void> {
    changed.push(registration)
    const { late } = this
    if (late === undefined) return undefined
    return new Promise((resolve) => void late.push(resolve))
  }
}

let world: World
beforeEach(() => void (world = new World()))

describe('rights that end', () => {
  test('are judged after each change, and not without one', () => {
    world.connect('a', 'ann', 1)
    world.forbidden = () => true
    world.rights.tick()
    world.run()
    expect(world.withheld).toEqual([])
    world.judge()
    expect(world.withheld).toHaveLength(1)
    expect([world.ended, world.looked]).toEqual([[], 1])
  })

  test('of 100,000 registrations are judged in slices of some ms', () => {
    for (let index = 0; index < CONNECTIONS; index++)
      world.connect(`c${index}`, index % 2 ? 'ann' : 'bob', SERVICES)
    world.forbidden = (username) => username === 'ann'
    world.judge()
    expect(world.withheld).toHaveLength((CONNECTIONS / 2) * SERVICES)
    expect(world.slices).toBeGreaterThan(100)
    expect(world.longestMs).toBeLessThan(6)
  })

  test('end a connection when its withheld instances are gone', async () => {
    world.late = []
    world.connect('a', 'ann', 1_200)
    world.connect('b', 'bob', 1)
    world.problems.set('ann', 'token-invalid')
    world.forbidden = (username) => username === 'ann'
    world.judge()
    // Others wait until some of these are gone.
    expect(world.withheld).toHaveLength(500)
    while (world.late.length > 0) {
      expect(world.ended).toEqual([])
      world.late.shift()!()
      await Promise.resolve()
      await Promise.resolve()
      world.run()
    }
    expect(world.withheld).toHaveLength(1_200)
    await new Promise((resolve) => setImmediate(resolve))
    expect(world.ended).toEqual(['a'])
  })

  test('keep the instances of a connection whose credentials alone have ended', () => {
    world.connect('a', 'ann', 3)
    world.problems.set('ann', 'token-invalid')
    world.judge()
    expect([world.withheld, world.ended]).toEqual([[], ['a']])
  })

  test('take the instances that a connection of the user has left behind', () => {
    for (const username of ['ann', 'bob']) {
      const registration = new ConnectionRegistration(
        { namespaceId: 'public', groupedName: 'G@@left' },
        { process: 'this', connectionId: username },
      )
      registration.username = username
      world.left.push(registration)
    }
    world.forbidden = (username) => username === 'ann'
    world.judge()
    expect(world.withheld.map(({ connectionId }) => connectionId)).toEqual(['ann'])
  })

  test('are judged once more where something changes meanwhile', () => {
    world.connect('a', 'ann', 1)
    world.version++
    world.rights.tick()
    world.version++
    world.rights.tick()
    world.run()
    world.forbidden = () => true
    world.rights.tick()
    world.run()
    expect(world.withheld).toHaveLength(1)
  })
})
