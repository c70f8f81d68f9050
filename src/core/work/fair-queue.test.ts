import { expect, test } from 'vitest'
import { CallerGone, FairQueue } from './fair-queue.ts'

/** A queue whose work ends when the test says so. `log` has what began, and what was refused. */
function startQueue(atOnce: number, waiting: number, firsts = 0) {
  const log: string[] = []
  const running: (() => void)[] = []
  const queue = new FairQueue({ atOnce, waiting, firsts }, () => new Error('full'))
  const add = async (client: string, name: string): Promise<void> => {
    try {
      await queue.run(client, () => {
        log.push(name)
        return new Promise<void>((resolve) => running.push(resolve))
      })
    } catch {
      log.push(`${name} is refused`)
    }
  }
  const finishOne = async (): Promise<void> => {
    running.shift()?.()
    await settled()
  }
  return { log, add: (client: string, name: string) => void add(client, name), finishOne }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('runs no more at once than it may, and the next when one ends', async () => {
  const { log, add, finishOne } = startQueue(2, 10)
  for (const name of ['1', '2', '3', '4']) add('a', name)
  await settled()
  expect(log).toEqual(['1', '2'])
  await finishOne()
  expect(log).toEqual(['1', '2', '3'])
  await finishOne()
  await finishOne()
  await finishOne()
  expect(log).toEqual(['1', '2', '3', '4'])
  add('a', '5')
  await settled()
  expect(log.at(-1)).toBe('5')
})

test('lets clients take turns', async () => {
  const { log, add, finishOne } = startQueue(1, 10)
  for (const name of ['a1', 'a2', 'a3', 'a4']) add('a', name)
  for (const name of ['b1', 'b2']) add('b', name)
  for (let turn = 0; turn < 6; turn++) await finishOne()
  expect(log).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
})

test('refuses the client with the most work when it is full', async () => {
  const { log, add, finishOne } = startQueue(1, 3)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) add('a', name)
  await settled()
  expect(log).toEqual(['a1', 'a5 is refused'])
  add('b', 'b1')
  await settled()
  expect(log).toEqual(['a1', 'a5 is refused', 'a4 is refused'])
  add('b', 'b2')
  await settled()
  expect(log.at(-1)).toBe('b2 is refused')
  for (let turn = 0; turn < 4; turn++) await finishOne()
  expect(log.slice(-3)).toEqual(['a2', 'b1', 'a3'])
})

test('continues after work that failed', async () => {
  const queue = new FairQueue({ atOnce: 1, waiting: 1 }, () => new Error('full'))
  const failing = queue.run('a', () => Promise.reject(new Error('broken')))
  const next = queue.run('a', () => Promise.resolve('done'))
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('done')
})

test('work whose caller has gone does not begin, and leaves its place to others', async () => {
  const queue = new FairQueue({ atOnce: 1, waiting: 10 }, () => new Error('full'))
  let finish = (): void => undefined
  const first = queue.run('a', () => new Promise<void>((resolve) => void (finish = resolve)))
  const begun: string[] = []
  let isGone = false
  const ask = (name: string, gone: () => boolean) =>
    queue.run({ client: 'a', isGone: gone }, async () => void begun.push(name))
  const left = Array.from({ length: 5 }, () => ask('left', () => isGone))
  const stays = ask('stays', () => false)
  isGone = true
  finish()
  await Promise.all([first, stays])
  for (const one of await Promise.allSettled(left))
    expect(one).toMatchObject({ reason: expect.any(CallerGone) })
  expect(begun).toEqual(['stays'])
})

test('work that ends may make a place for a client, and for another of which nothing runs', async () => {
  const { log, add, finishOne } = startQueue(2, 10, 1)
  for (const name of ['z1', 'x1', 'x2', 'z2']) add(name[0]!, name)
  await settled()
  expect(log).toEqual(['z1', 'x1'])
  await finishOne()
  expect(log).toEqual(['z1', 'x1', 'x2', 'z2'])
})
