import { beforeEach, describe, expect, test } from 'vitest'
import { address, microtasks, ORDERS } from '../../core.test-support.ts'
import type { PublishedInstance } from '../commands/replace-instances.ts'
import type { InstanceAddress } from '../state/instance.ts'
import { ConnectionRegistration } from './connection-registration.ts'

function instance(port: number): PublishedInstance {
  return { address: address({ port }), weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }
}

function ports(addresses: readonly InstanceAddress[]): number[] {
  return addresses.map(({ port }) => port)
}

let registration: ConnectionRegistration
beforeEach(
  () => void (registration = new ConnectionRegistration(ORDERS, { process: 'this', connectionId: 'a' })),
)

/** How many instances it publishes, and the ports that must be registered and removed. */
function seen(): { size: number; missing: number[]; removing: number[] } {
  const { size, repairs } = registration
  return {
    size,
    missing: ports(repairs.instances.map(({ address: where }) => where)),
    removing: ports(registration.removing),
  }
}

/** It publishes these, and they are registered. */
function publish(...all: number[]): () => void {
  const undo = registration.publish(all.map(instance))
  registration.removed(registration.removing)
  return undo
}

describe('a registration whose connection lives', () => {
  test('has the set that was published last; other instances must go', () => {
    publish(1, 2)
    registration.publish([2, 3].map(instance))
    expect(seen()).toEqual({ size: 2, missing: [], removing: [1] })
    registration.removed([address({ port: 1 })])
    expect(seen()).toEqual({ size: 2, missing: [], removing: [] })
  })

  test('has its earlier set when a set is refused, and removes instances that may be there all the same', () => {
    publish(1, 2)
    registration.found(address({ port: 2 }), 'nobody')
    publish(2, 3)()
    expect(seen()).toEqual({ size: 2, missing: [2], removing: [3] })
  })

  test('waits for an address as before when a set without it is refused', () => {
    publish(1)
    registration.found(address({ port: 1 }), 'too many publishers')
    const undo = registration.publish([instance(2)])
    registration.lookAgain(() => 'nobody')
    undo()
    expect([registration.size, registration.isWaiting]).toEqual([1, true])
  })

  test('is over when it is withdrawn and all is removed', () => {
    publish(1)
    registration.withdraw()
    expect([seen(), registration.isOver]).toEqual([{ size: 0, missing: [], removing: [1] }, false])
    registration.removed([address({ port: 1 })])
    expect(registration.isOver).toBe(true)
  })

  test('misses an address that it does not even wait for, and looks again where too many others are', () => {
    publish(1, 2, 3)
    registration.found(address({ port: 1 }), 'another publisher')
    registration.found(address({ port: 2 }), 'too many publishers')
    registration.found(address({ port: 4 }), 'nobody')
    expect([seen().missing, registration.isWaiting]).toEqual([[1], true])
    registration.lookAgain(({ port }) => (port === 2 ? 'nobody' : 'too many publishers'))
    expect([seen(), registration.isWaiting]).toEqual([{ size: 3, missing: [1, 2], removing: [] }, false])
    for (const port of [1, 2]) registration.found(address({ port }), 'this connection')
    expect([registration.needsRepair, registration.size]).toEqual([false, 3])
  })

  test('is not over while a change of it is underway, and the next one waits', async () => {
    const ran: string[] = []
    let answer = (): void => {}
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const first = registration.inTurn(
      () => answered,
      () => ran.push('first settled'),
    )
    const next = registration.inTurn(
      () => void ran.push('next'),
      () => ran.push('next settled'),
    )
    registration.afterChange(() => ran.push('after'))
    expect([registration.isOver, ran]).toEqual([false, []])
    answer()
    await Promise.all([first, next])
    await microtasks()
    expect(ran).toEqual(['first settled', 'next', 'next settled', 'after'])
    expect([registration.isOver, registration.afterChange(() => {})]).toEqual([true, false])
  })
})

describe('a registration that is withheld', () => {
  beforeEach(() => {
    publish(1, 2)
    registration.withhold()
  })

  test('removes all, and remembers it', () => {
    expect(seen()).toEqual({ size: 0, missing: [], removing: [1, 2] })
    registration.removed([address({ port: 1 })])
    registration.withhold()
    registration.found(address({ port: 1 }), 'nobody')
    expect(seen()).toEqual({ size: 0, missing: [], removing: [2] })
    registration.removed([address({ port: 2 })])
    expect([registration.isOver, registration.isWithheld]).toEqual([false, true])
  })

  test('misses all when its user may have it again', () => {
    registration.removed([address({ port: 1 })])
    registration.allow()
    expect(seen()).toEqual({ size: 2, missing: [1, 2], removing: [] })
    registration.found(address({ port: 1 }), 'this connection')
    registration.allow()
    expect(seen().missing).toEqual([2])
  })

  test('is withheld again when another set is refused', () => {
    registration.removed([1, 2].map((port) => address({ port })))
    const undo = registration.publish([2, 3].map(instance))
    expect([seen(), registration.isWithheld]).toEqual([{ size: 2, missing: [], removing: [] }, false])
    undo()
    expect([seen(), registration.isWithheld]).toEqual([{ size: 0, missing: [], removing: [2, 3] }, true])
    registration.allow()
    expect(seen()).toEqual({ size: 2, missing: [2, 1], removing: [3] })
  })

  test.each([
    ['withdrawn', () => registration.withdraw()],
    ['ended', () => registration.end(0)],
  ])('is forgotten when it is %s', (_how, leave) => {
    registration.removed([address({ port: 1 })])
    leave()
    expect([seen().removing, registration.isWithheld]).toEqual([[2], false])
    registration.removed([address({ port: 2 })])
    registration.allow()
    expect(registration.isOver).toBe(true)
  })
})

describe('a registration whose connection has ended', () => {
  test('removes all, whatever comes after', () => {
    const undo = publish(1, 2)
    registration.end(5_000)
    expect([seen(), registration.keptUntilMs]).toEqual([{ size: 0, missing: [], removing: [1, 2] }, 5_000])
    undo()
    registration.withdraw()
    registration.allow()
    registration.found(address({ port: 1 }), 'nobody')
    registration.found(address({ port: 2 }), 'another publisher')
    expect(seen()).toEqual({ size: 0, missing: [], removing: [1, 2] })
    registration.removed([1, 2].map((port) => address({ port })))
    expect([registration.hasEnded, registration.isOver]).toEqual([true, true])
  })

  test('is not kept any longer when the rights of its user end', () => {
    publish(1)
    registration.end(5_000)
    registration.withhold()
    expect([registration.keptUntilMs, registration.hasEnded, seen().removing]).toEqual([-Infinity, true, [1]])
  })
})
