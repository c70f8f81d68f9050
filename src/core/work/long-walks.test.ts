import { expect, test } from 'vitest'
import { CallerGone } from './fair-queue.ts'
import { LongWalks, type Turns } from './long-walks.ts'

/** A loop of a test: each turn runs what was asked for in the one before. */
class TestLoop {
  nowMs = 0
  #soon: (() => void)[] = []
  readonly now = (): number => this.nowMs
  readonly soon = (run: () => void): void => void this.#soon.push(run)

  async turn(): Promise<void> {
    const due = this.#soon
    this.#soon = []
    for (const run of due) run()
    for (let microtasks = 0; microtasks < 20; microtasks++) await Promise.resolve()
  }
}

const started =
  (loop: TestLoop, walks: LongWalks, log: string[]) =>
  (name: string, slices: number, client = 'one') =>
    walks.run(client, async (turns: Turns) => {
      for (let slice = 0; slice < slices; slice++) {
        log.push(name)
        loop.nowMs += 6
        expect(turns.isDue).toBe(true)
        await turns.turn()
      }
    })

test('one walk works in each turn of the loop', async () => {
  const [loop, log] = [new TestLoop(), [] as string[]]
  const start = started(loop, new LongWalks(loop), log)
  const all = Promise.all([start('a', 3), start('b', 2)])
  await loop.turn()
  expect(log.length).toBeLessThanOrEqual(2)
  for (let turn = 0; turn < 8; turn++) {
    const before = log.length
    await loop.turn()
    expect(log.length - before).toBeLessThanOrEqual(1)
  }
  await all
  expect(log.toSorted()).toEqual(['a', 'a', 'a', 'b', 'b'])
})

test('a walk ends when it has worked for two seconds; the time of others does not count', async () => {
  const loop = new TestLoop()
  const walks = new LongWalks(loop)
  const working = async (sliceMs: number): Promise<boolean[]> => {
    const answers: boolean[] = []
    await walks.run('one', async (turns) => {
      for (let slice = 0; slice < 3; slice++) {
        loop.nowMs += sliceMs
        answers.push(await turns.turn())
      }
    })
    return answers
  }
  const both = Promise.all([working(900), working(5_000)])
  for (let turn = 0; turn < 20; turn++) await loop.turn()
  expect(await both).toEqual([
    [true, true, false],
    [false, false, false],
  ])
})

test('eight are under way, 128 wait, and more are refused; all that wait are carried out', async () => {
  const [loop, log] = [new TestLoop(), [] as string[]]
  const start = started(loop, new LongWalks(loop), log)
  const all = Array.from({ length: 8 + 128 }, (_, at) => start(`${at}`, 2))
  await expect(start('refused', 1)).rejects.toMatchObject({ code: 'too-many-searches' })
  let isDone = false
  const done = Promise.all(all).then(() => (isDone = true))
  for (let turn = 0; turn < 2_000 && !isDone; turn++) await loop.turn()
  await done
  expect(log).toHaveLength(2 * (8 + 128))
  await expect(
    Promise.race([start('again', 0), loop.turn().then(() => loop.turn())]),
  ).resolves.toBeUndefined()
})

test('a walk that fails leaves its place', async () => {
  const loop = new TestLoop()
  const walks = new LongWalks(loop)
  for (let count = 0; count < 20; count++) {
    const failing = walks.run('one', () => Promise.reject(new Error('broken')))
    await Promise.all([expect(failing).rejects.toThrow('broken'), loop.turn(), loop.turn()])
  }
})

test('the pieces of answers share the slices with the walks: one in each turn of the loop', async () => {
  const [loop, log] = [new TestLoop(), [] as string[]]
  const walks = new LongWalks(loop)
  const start = started(loop, walks, log)
  const made = (name: string) => [1, 2, 3].map((each) => () => log.push(`${name}${each}`)).values()
  const read = async (name: string) => {
    for await (const make of walks.pieces('one', made(name))) make()
  }
  let isDone = false
  const all = Promise.all([read('a'), read('b'), start('walk', 2)]).then(() => (isDone = true))
  await loop.turn()
  expect(log.length).toBeLessThanOrEqual(2)
  for (let turn = 0; turn < 30 && !isDone; turn++) {
    const before = log.length
    await loop.turn()
    expect(log.length - before).toBeLessThanOrEqual(1)
  }
  await all
  expect(log.toSorted()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'walk', 'walk'])
})

test('a client without a walk under way gets a place at once, and every second slice', async () => {
  const [loop, log] = [new TestLoop(), [] as string[]]
  const walks = new LongWalks(loop)
  const start = started(loop, walks, log)
  const greedy = Array.from({ length: 100 }, () => start('greedy', 50, 'greedy'))
  for (let turn = 0; turn < 20; turn++) await loop.turn()
  log.length = 0
  const other = start('other', 5, 'other')
  let isDone = false
  void other.then(() => (isDone = true))
  for (let turn = 0; turn < 20 && !isDone; turn++) await loop.turn()
  expect(isDone).toBe(true)
  expect(log.filter((name) => name === 'greedy').length).toBeLessThanOrEqual(8)
  for (let turn = 0; turn < 10_000; turn++) await loop.turn()
  await Promise.all(greedy)
})

test('when no more may wait, the client with the most walks gives way', async () => {
  const [loop, log] = [new TestLoop(), [] as string[]]
  const walks = new LongWalks(loop)
  const start = started(loop, walks, log)
  const greedy = Promise.allSettled(Array.from({ length: 8 + 128 }, () => start('greedy', 1, 'greedy')))
  // The first has a place at once; the second waits in the place of a walk of the other client.
  const other = Promise.all([start('other', 1, 'other'), start('other', 1, 'other')])
  for (let turn = 0; turn < 1_000; turn++) await loop.turn()
  await other
  expect((await greedy).filter(({ status }) => status === 'rejected')).toHaveLength(1)
})

test('a walk ends with its slice once its caller has gone', async () => {
  const loop = new TestLoop()
  const walks = new LongWalks(loop)
  let [slices, isGone] = [0, false]
  const walk = walks.run({ client: 'one', isGone: () => isGone }, async (turns) => {
    for (; slices < 100; slices++) await turns.turn()
  })
  const ended = walk.catch((error: unknown) => error)
  for (let turn = 0; turn < 10; turn++) await loop.turn()
  const before = slices
  isGone = true
  for (let turn = 0; turn < 10; turn++) await loop.turn()
  expect([await ended, before > 0, slices - before]).toEqual([expect.any(CallerGone), true, 0])
})
