import { describe, expect, test } from 'vitest'
import { Asks } from './asks.ts'
import { ConnectionBook, REPLY_MS, SILENT_MS } from './connection-book.ts'
import { bodyOf, fakeConnection, nextOf } from './connection.test-support.ts'

/** Lets pending promises settle. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function bookWithOne() {
  let nowMs = 0
  const asks = new Asks(() => nowMs)
  const book = new ConnectionBook()
  const made = fakeConnection({ asks })
  book.add(made.connection)
  const at = async (ms: number): Promise<void> => {
    nowMs = ms
    asks.tick(nowMs)
    await turn()
    book.tick(nowMs)
    await turn()
  }
  return { book, at, ...made }
}

describe('a connection in the book', () => {
  test('is found by its session until it ends', () => {
    const { book, connection } = bookWithOne()
    expect(book.of(connection.id)).toBe(connection)
    connection.end('left')
    expect(book.of(connection.id)).toBeUndefined()
    expect(book.size).toBe(0)
  })

  test('that is silent is asked whether it is there, and ended if it does not reply', async () => {
    const { book, at, connection, outlet } = bookWithOne()
    const ended: string[] = []
    connection.onEnd((why) => ended.push(why))
    await at(SILENT_MS - 1)
    await at(SILENT_MS)
    expect(nextOf(outlet)!.type).toBe('ClientDetectionRequest')
    await at(SILENT_MS + REPLY_MS - 1)
    expect(ended).toEqual([])
    await at(SILENT_MS + REPLY_MS)
    expect(ended).toEqual(['left'])
    expect(book.ended).toMatchObject({ left: 0, silent: 1 })
  })

  test('stays if it replies, and is asked again after the next silence', async () => {
    const { at, connection, outlet } = bookWithOne()
    await at(SILENT_MS)
    const { requestId } = bodyOf(nextOf(outlet)!)
    connection.heardMs = SILENT_MS + 1_000
    connection.replied(requestId as string, 200)
    await at(SILENT_MS + REPLY_MS + 1_000)
    expect(connection.hasEnded).toBe(false)
    await at(2 * SILENT_MS + 1_500)
    expect(nextOf(outlet)!.type).toBe('ClientDetectionRequest')
  })

  test('is not asked as long as requests come', async () => {
    const { at, connection, outlet } = bookWithOne()
    for (let ms = 5_000; ms <= 60_000; ms += 5_000) {
      connection.heardMs = ms
      await at(ms)
    }
    expect(nextOf(outlet)).toBeUndefined()
  })
})
