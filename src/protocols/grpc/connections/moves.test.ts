import { describe, expect, test } from 'vitest'
import { ConnectionBook } from './connection-book.ts'
import { bodyOf, fakeConnection, nextOf } from './connection.test-support.ts'
import { Moves } from './moves.ts'

const OTHERS = [
  { ip: '10.0.0.2', port: 8848 },
  { ip: '10.0.0.3', port: 8848 },
]

function movesOf(others: typeof OTHERS, versions = ['']) {
  const book = new ConnectionBook()
  const made = versions.map((version, index) => fakeConnection({ id: `${index}`, version }))
  for (const { connection } of made) book.add(connection)
  const later: (() => void)[] = []
  const waits: number[] = []
  const after = (ms: number, run: () => void): void => {
    waits.push(ms)
    later.push(run)
  }
  const moves = new Moves({ book, others: () => others, after })
  const reasons: string[] = []
  for (const { connection } of made) connection.onEnd((why) => reasons.push(why))
  return { moves, made, later, waits, reasons }
}

describe('a server that stops', () => {
  test('sends its clients to the others, which share them', async () => {
    const { moves, made, reasons } = movesOf(OTHERS, ['', '', ''])
    const stopped = moves.all()
    const told = await Promise.all(made.map(async ({ outlet }) => bodyOf(nextOf(outlet)!)['serverIp']))
    expect(told).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.2'])
    for (const { connection } of made) connection.end('left')
    await stopped
    expect(reasons).toEqual(['stopping', 'stopping', 'stopping'])
  })

  test('names no server to clients that would try only that', async () => {
    const book = new ConnectionBook()
    const { connection, outlet } = fakeConnection({ version: 'Nacos-Go-Client:v2.3.5' })
    book.add(connection)
    void new Moves({ book, others: () => OTHERS, after: () => {} }).all()
    const { type, body } = nextOf(outlet)!
    expect(type).toBe('ConnectResetRequest')
    expect(bodyOf({ body })).not.toHaveProperty('serverIp')
  })

  test('ends the connections of clients that do not leave', async () => {
    const { moves, later, reasons } = movesOf(OTHERS)
    const stopped = moves.all()
    expect(reasons).toEqual([])
    later[0]!()
    await stopped
    expect(reasons).toEqual(['stopping'])
  })

  test('gives clients of Java longer, which would move twice', async () => {
    const { moves, waits, later, reasons } = movesOf(OTHERS, ['Nacos-Java-Client:v2.5.1', 'Other:v1'])
    const stopped = moves.all()
    expect(waits).toEqual([5_000, 2_000])
    later[1]!()
    expect(reasons).toEqual(['stopping'])
    later[0]!()
    await stopped
    expect(reasons).toEqual(['stopping', 'stopping'])
  })

  test('that is alone ends its connections at once', async () => {
    const { moves, reasons } = movesOf([])
    await moves.all()
    expect(reasons).toEqual(['stopping'])
  })
})

test('a client that is moved has left for that, whether it obeys or not', async () => {
  const { moves, made, later, reasons } = movesOf([])
  const [{ connection, outlet }] = made as [(typeof made)[0]]
  moves.one(connection)
  expect(nextOf(outlet)!).toMatchObject({ type: 'ConnectResetRequest' })
  later[0]!()
  expect(reasons).toEqual(['moved'])
})
