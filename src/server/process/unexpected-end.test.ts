import { expect, test } from 'vitest'
import { UnexpectedEnd } from './unexpected-end.ts'

function setUp(ended: Promise<Error> = new Promise(() => {})) {
  const lines: { facts: object; text: string }[] = []
  const fatal = (facts: object, text: string): void => void lines.push({ facts, text })
  return { lines, end: new UnexpectedEnd({ fatal } as never, ended) }
}

test('a fault ends the process with 70, and the log has its stack', async () => {
  const { lines, end } = setUp()
  const error = new Error('planted')
  end.fail(error, 'an error was not caught')
  expect(await end.ended).toEqual({ message: 'an error was not caught: planted', exitCode: 70 })
  expect(lines).toEqual([
    { facts: { err: error }, text: 'an error was not caught: the process ends with exit code 70' },
  ])
  expect([end.hasFailed, end.isStateBroken]).toEqual([true, false])
})

test('after a fault of the state nothing of memory is written', () => {
  const { end } = setUp()
  end.failState('thrown text', 'a change could not be applied')
  expect([end.hasFailed, end.isStateBroken]).toEqual([true, true])
})

test('the end of the installation is no fault', async () => {
  const { lines, end } = setUp(Promise.resolve(new Error('another server has this place')))
  expect(await end.ended).toEqual({ message: 'another server has this place', exitCode: 1 })
  end.fail(new Error('later'), 'an error was not caught')
  expect((await end.ended).exitCode).toBe(1)
  expect(lines).toHaveLength(1)
})
