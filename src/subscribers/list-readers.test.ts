import { expect, test } from 'vitest'
import { ClientMemory } from '../core/memory/client-memory.ts'
import { ListReaders } from './list-readers.ts'

const KEY = { namespaceId: 'dev', groupedName: 'G@@s' }
const reader = (address: string, agent = 'a') => ({ address, agent, app: '' })
const addresses = (readers: ListReaders, key = KEY) =>
  readers.of(key).map(({ address, agent }) => `${address} ${agent}`)

test('readers are there once for each address and library, for their service', () => {
  const readers = new ListReaders()
  for (const one of [reader('1'), reader('1'), reader('1', 'b'), reader('2')]) readers.note(KEY, one)
  expect(addresses(readers)).toEqual(['1 a', '1 b', '2 a'])
  expect(readers.of(KEY)[0]).toMatchObject({ ...KEY, port: 0, via: 'poll' })
  readers.note({ ...KEY, namespaceId: 'other' }, reader('1', 'x'.repeat(10_000)))
  expect(readers.of({ ...KEY, namespaceId: 'other' })[0]?.agent).toHaveLength(128)
  expect(addresses(readers, { ...KEY, namespaceId: '' })).toEqual([])
})

test('a reader that is silent for two generations is forgotten', () => {
  const readers = new ListReaders()
  readers.note(KEY, reader('1'))
  readers.note(KEY, reader('2'))
  readers.turn()
  readers.note(KEY, reader('2'))
  expect(addresses(readers)).toEqual(['1 a', '2 a'])
  readers.turn()
  expect(addresses(readers)).toEqual(['2 a'])
  readers.turn()
  expect(addresses(readers)).toEqual([])
})

test('the number of readers is bounded', () => {
  const readers = new ListReaders()
  for (let at = 0; at < 30_000; at++) readers.note(KEY, reader(String(at)))
  expect(readers.of(KEY)).toHaveLength(20_000)
  readers.turn()
  readers.turn()
  readers.note(KEY, reader('x'))
  expect(addresses(readers)).toEqual(['x a'])
})

test('readers take a quarter of the memory of clients, and are forgotten where others need it', () => {
  const memory = new ClientMemory(100_000)
  const readers = new ListReaders(memory)
  for (let at = 0; at < 1_000; at++) readers.note({ ...KEY, groupedName: `G@@${at}` }, reader('1'))
  expect([memory.bytes > 24_000, memory.bytes <= 25_000]).toEqual([true, true])
  readers.turn()
  readers.note(KEY, reader('1'))
  expect([addresses(readers), memory.bytes <= 25_000]).toEqual([[], true])
  expect(memory.take(100_000)).toBe(true)
  expect(readers.of({ ...KEY, groupedName: 'G@@1' })).toEqual([])
  memory.free(100_000)
  readers.note(KEY, reader('1'))
  expect([addresses(readers), memory.bytes > 0]).toEqual([['1 a'], true])
  readers.turn()
  readers.turn()
  expect(memory.bytes).toBe(0)
})
