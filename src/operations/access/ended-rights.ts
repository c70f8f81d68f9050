import { ROLE_PERMISSION, SIGNING_KEY, USER, USER_ROLE } from '../../core/access/access-records.ts'
import type { SignedIn } from '../../core/access/identity.ts'
import type { ConnectionInstances } from '../../core/naming/connections/connection-instances.ts'
import type { ConnectionRegistration } from '../../core/naming/connections/connection-registration.ts'
import { type Loop, SlicedWork } from '../../core/work/sliced-work.ts'
import { nothing, unawaited } from '../../core/unexpected.ts'
import type { State } from '../../core/engine/state.ts'
import type { Judge } from './judge.ts'
import { serviceResource } from '../naming/services.ts'

/** The most registrations that are being changed at a time. */
const MOST_UNDERWAY = 500

/** A client that stays connected, as far as its rights are judged. */
export interface JudgedConnection {
  readonly id: string
  /** The newest credentials of each user that it has shown. */
  readonly identities: Iterable<SignedIn>
  /** Ends it. Its instances stay for a while, so that its client can sign in again and keep them. */
  end(cause: 'signed-out'): void
}

interface EndedRightsParts {
  readonly state: Pick<State, 'recordVersion'>
  readonly judge: Pick<Judge, 'problemOf' | 'mayUser'>
  readonly connections: Iterable<JudgedConnection>
  readonly connectionInstances: Pick<ConnectionInstances, 'registrations' | 'withhold' | 'allow'>
  /** Looks at all subscriptions, one at each step: who may read a service again gets its list. */
  readonly lookAtSubscriptions: () => Iterator<unknown>
  readonly loop: Loop
}

/**
 * Judges connected clients again after each change of users, roles, permissions and keys, here or on another server.
 * Instances of a user who may not have them any longer are withheld, and come back when the user may. A connection
 * whose credentials ended is closed too. The work is cut into slices, however many instances there are.
 */
export class EndedRights {
  readonly #parts: EndedRightsParts
  readonly #work: SlicedWork
  #version: number
  #pass: Iterator<unknown> | undefined
  #underway = 0

  constructor(parts: EndedRightsParts) {
    this.#parts = parts
    this.#version = this.#versionNow()
    this.#work = new SlicedWork(parts.loop, () => this.#step(), { boundary: 'job' })
  }

  /** Begins a pass if something has changed. Call it about four times a second. */
  tick(): void {
    // The next pass judges changes that come during this one.
    if (this.#pass !== undefined || this.#versionNow() === this.#version) return
    this.#version = this.#versionNow()
    this.#pass = this.#judgeAll()
    this.#work.start()
  }

  /** Versions only rise, so their sum changes with each version. */
  #versionNow(): number {
    const kinds = [USER, USER_ROLE, ROLE_PERMISSION, SIGNING_KEY]
    return kinds.reduce((sum, kind) => sum + this.#parts.state.recordVersion(kind), 0)
  }

  #step(): boolean {
    // The end of a change starts the work again.
    if (this.#pass === undefined || this.#underway >= MOST_UNDERWAY) return false
    if (this.#pass.next().done !== true) return true
    this.#pass = undefined
    return false
  }

  *#judgeAll(): Generator<unknown, void> {
    for (const connection of this.#parts.connections) yield* this.#judge(connection)
    for (const registration of this.#parts.connectionInstances.registrations.left()) {
      // The user may have the instance again, but its connection is lost: nothing comes back.
      if (!this.#mayPublish(registration)) void this.#change(registration, 'withhold')
      yield
    }
    const subscriptions = this.#parts.lookAtSubscriptions()
    while (subscriptions.next().done !== true) yield
  }

  *#judge(connection: JudgedConnection): Generator<unknown, void> {
    const changes: Promise<void>[] = []
    for (const registration of this.#parts.connectionInstances.registrations.of(connection.id)) {
      const change = this.#judgeRegistration(registration)
      if (change !== undefined) changes.push(change)
      yield
    }
    yield
    if (!this.#hasEnded(connection)) return
    // Withheld instances go before the connection ends, so that they do not stay for a while.
    if (changes.length === 0) connection.end('signed-out')
    else
      unawaited(
        'connection',
        nothing,
        Promise.all(changes).then(() => connection.end('signed-out')),
      )
  }

  #judgeRegistration(registration: ConnectionRegistration): Promise<void> | undefined {
    const mayPublish = this.#mayPublish(registration)
    // A change underway may be a registration from before.
    if (registration.isWithheld !== mayPublish && !registration.isChanging) return undefined
    return this.#change(registration, mayPublish ? 'allow' : 'withhold')
  }

  #mayPublish({ serviceKey, username }: ConnectionRegistration): boolean {
    return username !== undefined && this.#parts.judge.mayUser(username, 'write', serviceResource(serviceKey))
  }

  #change(registration: ConnectionRegistration, how: 'allow' | 'withhold'): Promise<void> | undefined {
    const change = this.#parts.connectionInstances[how](registration)
    return change instanceof Promise ? this.#follow(change) : undefined
  }

  async #follow(change: Promise<void>): Promise<void> {
    this.#underway++
    await change
    this.#underway--
    this.#work.start()
  }

  #hasEnded({ identities }: JudgedConnection): boolean {
    for (const identity of identities)
      if (this.#parts.judge.problemOf({ ...identity, lasts: true, expiresMs: Infinity }) !== undefined)
        return true
    return false
  }
}
