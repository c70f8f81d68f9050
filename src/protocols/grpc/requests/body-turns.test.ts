import { expect, test } from 'vitest'
import { CallerGone } from '../../../core/work/fair-queue.ts'
import { SMALL_BODY_BYTES } from '../wire/body-reader.ts'
import { BodyTurns } from './body-turns.ts'

/** A loop of a test: each turn runs what was asked for in the one before. */
class TestLoop {
  #soon: (() => void)[] = []
  readonly soon = (run: () => void): void => void this.#soon.push(run)

  async turn(): Promise<void> {
    const due = this.#soon
    this.#soon = []
    for (const run of due) run()
    for (let microtasks = 0; microtasks < 50; microtasks++) await Promise.resolve()
  }
}

const message = (text: string) => ({ body: Buffer.from(text) })

/** A body of `count` keys, of which each object has one. */
const ofKeys = (count: number) =>
  message(`{"a":[${Array.from({ length: count }, (_, at) => `{"k${at}":1}`).join(',')}]}`)

function reading() {
  const loop = new TestLoop()
  const turns = new BodyTurns(loop)
  const done: string[] = []
  /** Reads a body of a connection of its own, unless one is named. */
  const read = (
    client: string,
    body: Parameters<BodyTurns['read']>[2],
    { name = client, connection = {} } = {},
  ) => {
    const outcome = turns.read(client, connection, body)
    if (!(outcome instanceof Promise)) return void done.push(name)
    outcome.then(
      () => done.push(name),
      (error: Error) => done.push(`${name}: ${error.message}`),
    )
  }
  return { loop, read, done, turns }
}

/** Counts the keys that a turn of the loop reads. */
async function keysOfTurns(loop: TestLoop, isDone: () => boolean): Promise<number[]> {
  const parse = JSON.parse
  const counts: number[] = []
  let keys = 0
  JSON.parse = ((text: string) => {
    keys += text.split('":').length - 1
    return parse(text) as unknown
  }) as typeof JSON.parse
  try {
    while (!isDone()) {
      keys = 0
      await loop.turn()
      counts.push(keys)
    }
  } finally {
    JSON.parse = parse
  }
  return counts
}

test('of six messages of 60,000 keys some thousand keys are read in a turn, and other clients take turns', async () => {
  const { loop, read, done } = reading()
  for (let at = 0; at < 6; at++) read('greedy', ofKeys(60_000))
  for (let turn = 0; turn < 5; turn++) await loop.turn()
  read('small', message('{"b":1}'))
  expect(done).toEqual(['small'])
  read('other', ofKeys(20_000))
  const counts = await keysOfTurns(loop, () => done.length === 8)
  expect(done[1]).toBe('other')
  expect(Math.max(...counts)).toBeLessThan(10_000)
})

test('small bodies are read at once, until a turn has read enough', async () => {
  const { loop, read, done } = reading()
  const small = message(`{"a":"${'x'.repeat(16 * 1024)}"}`)
  for (let at = 0; at < 20; at++) read(`client${at}`, small)
  expect(done).toHaveLength(8)
  for (const count of [16, 20]) {
    await loop.turn()
    expect(done).toHaveLength(count)
  }
  read('again', small)
  expect(done).toHaveLength(21)
})

/** The request of a client that listens to 150 configurations. */
const listening = () => {
  const item = {
    dataId: 'application-orders.yaml',
    group: 'DEFAULT_GROUP',
    tenant: 'dev',
    md5: 'x'.repeat(32),
  }
  return message(JSON.stringify({ configListenContexts: Array.from({ length: 180 }, () => item) }))
}

test('2,000 clients of one user that listen again are read many in a turn, and others take turns with them', async () => {
  const { loop, read, done } = reading()
  const body = listening()
  expect(body.body.length).toBeGreaterThan(20_000)
  for (let at = 0; at < 2_000; at++) read('nacos', body)
  read('other', body)
  await loop.turn()
  expect(done).toContain('other')
  let turns = 1
  for (; done.length < 2_001; turns++) await loop.turn()
  expect(turns).toBeLessThanOrEqual(2_001 / 6)
})

test('of small bodies of new keys some ten thousand keys are read in a turn', async () => {
  const { loop, read, done } = reading()
  const body = ofKeys(5_000)
  expect(body.body.length).toBeLessThanOrEqual(SMALL_BODY_BYTES)
  for (let at = 0; at < 30; at++) read('greedy', body)
  const counts = await keysOfTurns(loop, () => done.length === 30)
  expect(Math.max(...counts)).toBeLessThan(20_000)
})

test('bodies of a connection are read in their order, and others do not wait for them', async () => {
  const { loop, read, done } = reading()
  const [connection, small] = [{}, message('{}')]
  read('user', ofKeys(20_000), { name: 'large', connection })
  read('user', message('{'), { name: 'broken', connection })
  read('user', { ...small, isOver: true }, { name: 'over', connection })
  read('user', small, { name: 'small', connection })
  read('user', ofKeys(10_000), { name: 'large again', connection })
  read('user', small, { name: 'last', connection })
  read('user', small, { name: 'of another connection' })
  expect(done).toEqual(['of another connection'])
  for (let turn = 0; turn < 40; turn++) await loop.turn()
  expect(done.slice(1)).toEqual([
    'large',
    expect.stringContaining('broken: '),
    expect.stringContaining('over: '),
    'small',
    'large again',
    'last',
  ])
  read('user', small, { name: 'at once', connection })
  expect(done.at(-1)).toBe('at once')
})

test('so are small ones that wait for a turn', async () => {
  const { loop, read, done } = reading()
  const connection = {}
  const names = Array.from({ length: 20 }, (_, at) => `${at}`)
  for (const name of names) read('user', ofKeys(Number(name) % 2 === 0 ? 4_000 : 1), { name, connection })
  for (let turn = 0; turn < 20; turn++) await loop.turn()
  expect(done).toEqual(names)
})

test('a call that is over is not read, and holds up nobody', async () => {
  const { loop, read, done, turns } = reading()
  const over = 'The call ended before its body was read.'
  const messages = Array.from({ length: 100 }, (_, at) => ({
    ...ofKeys(at % 2 === 0 ? 5_000 : 10_000),
    isOver: false,
  }))
  for (const each of messages) read('left', each)
  for (const each of messages) Object.assign(each, { isOver: true, body: new Uint8Array() })
  read('left', ofKeys(10_000), { name: 'last' })
  for (let turn = 0; turn < 100 && done.length <= messages.length; turn++) await loop.turn()
  // The small ones of the first turn were read at once.
  expect(done).toEqual(['left', 'left', 'left', ...messages.slice(3).map(() => `left: ${over}`), 'last'])
  const gone = { body: new Uint8Array(), isOver: true }
  expect(() => turns.read('left', {}, gone)).toThrow(CallerGone)
})

test('a large body that cannot be read is refused, and leaves its place', async () => {
  const { loop, read, done } = reading()
  read('one', message(`{"a":[${'1,'.repeat(40_000)}]}`), { name: 'broken' })
  read('one', ofKeys(10_000))
  for (let turn = 0; turn < 20; turn++) await loop.turn()
  expect(done).toEqual([expect.stringContaining('broken: The body of a message must be'), 'one'])
})
