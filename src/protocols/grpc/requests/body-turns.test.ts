import { expect, test } from 'vitest'
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

/** A body of so many keys, of which each object has one. */
const ofKeys = (count: number) =>
  message(`{"a":[${Array.from({ length: count }, (_, at) => `{"k${at}":1}`).join(',')}]}`)

function reading() {
  const loop = new TestLoop()
  const turns = new BodyTurns(loop)
  const done: string[] = []
  const read = (client: string, body: Parameters<BodyTurns['read']>[1], name = client) => {
    const outcome = turns.read(client, body)
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
  const small = message(`{"a":"${'x'.repeat(SMALL_BODY_BYTES - 8)}"}`)
  for (let at = 0; at < 20; at++) read(`client${at}`, small)
  expect(done).toHaveLength(16)
  for (let turn = 0; turn < 6; turn++) await loop.turn()
  expect(done).toHaveLength(20)
  read('again', small)
  expect(done).toHaveLength(21)
})

test('a call that is over is not read, and holds up nobody', async () => {
  const { loop, read, done, turns } = reading()
  const over = 'The call ended before its body was read.'
  const messages = Array.from({ length: 100 }, () => ({ ...ofKeys(5_000), isOver: false }))
  for (const each of messages) read('left', each)
  for (const each of messages) Object.assign(each, { isOver: true, body: new Uint8Array() })
  read('left', ofKeys(5_000), 'last')
  for (let turn = 0; turn < 100 && done.length <= messages.length; turn++) await loop.turn()
  expect(done).toEqual([...messages.map(() => `left: ${over}`), 'last'])
  expect(() => turns.read('left', { body: new Uint8Array(), isOver: true })).toThrow(over)
})

test('a large body that cannot be read is refused, and leaves its place', async () => {
  const { loop, read, done } = reading()
  read('one', message(`{"a":[${'1,'.repeat(20_000)}]}`), 'broken')
  read('one', ofKeys(5_000))
  for (let turn = 0; turn < 20; turn++) await loop.turn()
  expect(done).toEqual([expect.stringContaining('broken: The body of a message must be'), 'one'])
})
