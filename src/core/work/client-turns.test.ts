import { expect, test } from 'vitest'
import { ClientTurns } from './client-turns.ts'

const turns = () => {
  const made = new ClientTurns<string>()
  const places = ['a1', 'b1', 'a2', 'a3', 'b2', 'c1'].map((thing) => made.add(thing[0]!, thing))
  return { made, of: (thing: string) => places.find((place) => place.thing === thing)! }
}

test('the client with the most gives way, if it has more than the other one will have', () => {
  const { made, of } = turns()
  expect([made.size, made.sizeOf('a'), made.sizeOf('d')]).toEqual([6, 3, 0])
  expect(made.givesWayTo('d', 'oldest')?.thing).toBe('a1')
  expect(made.givesWayTo('d', 'newest')?.thing).toBe('a3')
  expect(made.givesWayTo('b', 'oldest')).toBeUndefined()
  made.leave(of('a1'))
  expect(made.givesWayTo('c', 'oldest')).toBeUndefined()
  expect(made.givesWayTo('d', 'oldest')?.thing).toBe('b1')
})

test('what is kept counts and does not give way; freed, it is the newest', () => {
  const { made, of } = turns()
  of('a1').isKept = true
  expect(made.givesWayTo('d', 'oldest')?.thing).toBe('a2')
  of('a1').isKept = false
  expect(made.givesWayTo('d', 'newest')?.thing).toBe('a1')
  for (const thing of ['a1', 'a2', 'a3']) of(thing).isKept = true
  expect(made.givesWayTo('d', 'oldest')?.thing).toBe('b1')
  expect(made.givesWayTo('b', 'oldest')).toBeUndefined()
})

test('what has left stays away, whatever is said of it later', () => {
  const { made, of } = turns()
  made.leave(of('a1'))
  made.leave(of('a1'))
  of('a1').isKept = true
  of('a1').isKept = false
  expect([made.size, made.sizeOf('a')]).toEqual([5, 2])
  expect(made.givesWayTo('d', 'oldest')?.thing).not.toBe('a1')
})

test('what moves counts for its new client', () => {
  const { made, of } = turns()
  made.move(of('a1'), 'b')
  expect([made.size, made.sizeOf('a'), made.sizeOf('b')]).toEqual([6, 2, 3])
  expect(made.givesWayTo('a', 'oldest')).toBeUndefined()
  expect(made.givesWayTo('d', 'newest')?.thing).toBe('a1')
})

test('the weights of clients follow their things', () => {
  const made = new ClientTurns<string>()
  for (const thing of ['a1', 'a2', 'a3']) made.add('a', thing, 1)
  const heavy = made.add('b', 'b1', 10)
  expect([...made.weights()]).toEqual([
    ['a', 3],
    ['b', 10],
  ])
  made.weigh(heavy, 5)
  expect([...made.weights()][1]).toEqual(['b', 15])
  expect([made.heaviestOf('a'), made.oldestOf('c'), made.heaviestOf('c')]).toEqual([
    'a1',
    undefined,
    undefined,
  ])
  made.add('b', 'b2', 20)
  expect([made.oldestOf('b'), made.heaviestOf('b')]).toEqual(['b1', 'b2'])
  made.leave(heavy)
  made.weigh(heavy, 5)
  expect([...made.weights()][1]).toEqual(['b', 20])
})
