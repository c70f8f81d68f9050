import { setImmediate as settled } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Calls } from './calls.ts'
import type { EtcdConnection } from './connection.ts'
import { Endpoints } from './endpoints.ts'
import { METHODS } from './methods.ts'

/** What a member answers to the question whether it serves: at once, or never. */
type Member = 'serves' | 'stands still'

/** Members whose first one has left a call unanswered, and the end of the pause after which it may be left. */
function silentFirst(...members: Member[]) {
  const endpoints = members.map((_, index) => `http://${index}`)
  const closed: string[] = []
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
  const sleep = () => new Promise<void>((resolve) => (pauseEnds = resolve))
  const calls = new Calls({
    endpoints: new Endpoints(endpoints, () => 0),
    clock: { nowMs: () => 0, sleep },
    limits: { callMs: 2_000, attemptMs: 800 },
    open,
    proofKey: 'k',
    refused: () => undefined,
  })
  calls.connection()
  return { closed, silent: () => silent(), pauseEnds: () => pauseEnds() }
}

describe('a member that leaves a call unanswered', () => {
  test('is left when another one serves, without waiting for its own answer until the end', async () => {
    const world = silentFirst('stands still', 'stands still', 'serves')
    world.silent()
    await settled()
    expect(world.closed).toEqual([])
    world.pauseEnds()
    await settled()
    expect(world.closed).toEqual(['http://0'])
  })

  test.each([
    ['it serves', ['serves', 'serves']],
    ['no other one serves', ['stands still', 'stands still']],
  ] as [string, Member[]][])('is not left if %s', async (_, members) => {
    const world = silentFirst(...members)
    world.silent()
    await settled()
    world.pauseEnds()
    await settled()
    expect(world.closed).toEqual([])
  })
})
