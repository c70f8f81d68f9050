import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Calls } from './calls.ts'
import type { EtcdConnection } from './connection.ts'
import { Endpoints } from './endpoints.ts'
import { METHODS } from './methods.ts'

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns++) await turn()
}

/** How a member answers a check of its service: at once, or never. */
type Member = 'serves' | 'is silent'

/** Members whose first is silent, with calls on `current`; and the end of the pause after which it may be left. */
function silentFirst(current: number, ...members: Member[]) {
  const endpoints = members.map((_, index) => `http://${index}`)
  const closed: string[] = []
  const pauses: number[] = []
  let silent = (): void => {}
  let pauseEnds = (): void => {}
  const open = (endpoint: string, options: { silent: () => void }): EtcdConnection => {
    if (endpoint === endpoints[0]) silent = options.silent
    return {
      endpoint,
      connect: () => Promise.resolve(),
      call: (method) => {
        const isServing = members[endpoints.indexOf(endpoint)] === 'serves'
        // While it defragments, a member tells its status.
        if (isServing || (method as unknown) === METHODS.status) return Promise.resolve({} as never)
        return new Promise(() => {})
      },
      stream: () => Promise.reject(new Error('There is none.')),
      forgetToken: () => undefined,
      close: () => void closed.push(endpoint),
    }
  }
  const sleep = (ms: number) => {
    pauses.push(ms)
    return new Promise<void>((resolve) => (pauseEnds = resolve))
  }
  const calls = new Calls({
    endpoints: new Endpoints(endpoints, () => current / members.length),
    clock: { nowMs: () => 0, sleep },
    limits: { callMs: 2_000, attemptMs: 800 },
    open,
    proofKey: 'k',
    refused: () => undefined,
  })
  calls.connection(endpoints[0])
  return { closed, pauses, silent: () => silent(), pauseEnds: () => pauseEnds() }
}

describe('a member that is silent', () => {
  test.each([
    ['soon if calls go to another one', 1, 100],
    ['after a while if calls go to it', 0, 500],
  ])('is left %s, without its own answer', async (_, current, pauseMs) => {
    const world = silentFirst(current, 'is silent', 'is silent', 'serves')
    world.silent()
    await settled()
    expect([world.closed, world.pauses]).toEqual([[], [pauseMs]])
    world.pauseEnds()
    await settled()
    expect(world.closed).toEqual(['http://0'])
  })

  test.each([
    ['it serves', ['serves', 'serves']],
    ['no other one serves', ['is silent', 'is silent']],
  ] as [string, Member[]][])('is not left if %s', async (_, members) => {
    const world = silentFirst(1, ...members)
    world.silent()
    await settled()
    world.pauseEnds()
    await settled()
    expect(world.closed).toEqual([])
  })
})
