import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MOST_SESSIONS, type ServedSession, SessionTurns } from './session-turns.ts'

const turns = new SessionTurns()
const served: number[] = []

function session(name: number, bytes = 100, then: (own: ServedSession) => void = () => undefined) {
  const own: ServedSession = {
    serve: () => {
      served.push(name)
      then(own)
      return bytes
    },
  }
  return own
}

async function servedInTurns(): Promise<number[][]> {
  const all: number[][] = []
  for (;;) {
    served.length = 0
    await nextTurn()
    if (served.length === 0) return all
    all.push([...served])
  }
}

test('a session is served once in a turn, however often it is added', async () => {
  const [first, second] = [session(1), session(2)]
  for (const each of [first, second, first]) turns.add(each)
  expect(await servedInTurns()).toEqual([[1, 2]])
})

test('a turn serves a bounded number of sessions, in the order in which they came', async () => {
  const names = Array.from({ length: 3 * MOST_SESSIONS - 1 }, (_, index) => index)
  for (const name of names) turns.add(session(name))
  const all = await servedInTurns()
  expect(all.map(({ length }) => length)).toEqual([MOST_SESSIONS, MOST_SESSIONS, MOST_SESSIONS - 1])
  expect(all.flat()).toEqual(names)
})

test('a turn with many bytes ends before', async () => {
  for (let name = 0; name < 5; name++) turns.add(session(name, 70_000))
  expect(await servedInTurns()).toEqual([[0, 1], [2, 3], [4]])
})

test('a session that has more to do waits behind the others', async () => {
  let left = 2
  const again = (own: ServedSession): void => {
    if (--left > 0) turns.add(own)
  }
  for (let name = 0; name < MOST_SESSIONS; name++)
    turns.add(session(name, 100, name === 0 ? again : undefined))
  turns.add(session(MOST_SESSIONS))
  const [, second] = await servedInTurns()
  expect(second).toEqual([MOST_SESSIONS, 0])
})
