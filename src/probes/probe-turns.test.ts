import { expect, test } from 'vitest'
import { ProbeTurns } from './probe-turns.ts'

const thing = (name: string) => {
  const [namespaceId = '', group = '', service = ''] = name.split('/')
  return { name, service: { namespaceId, groupedName: `${group}@@${service}` } }
}

function drained(turns: ProbeTurns<ReturnType<typeof thing>>): string[] {
  const names: string[] = []
  for (let next = turns.next(); next !== undefined; next = turns.next()) names.push(next.name)
  return names
}

test('namespaces take turns, then the groups of one, then the services of one', () => {
  const turns = new ProbeTurns<ReturnType<typeof thing>>()
  for (const name of ['a/g/s/1', 'a/g/s/2', 'a/g/s/3', 'a/g/t/1', 'a/h/s/1', 'b/g/s/1', 'b/g/s/2', 'c/g/s/1'])
    turns.add(thing(name))
  expect(drained(turns)).toEqual([
    'a/g/s/1',
    'b/g/s/1',
    'c/g/s/1',
    'a/h/s/1',
    'b/g/s/2',
    'a/g/t/1',
    'a/g/s/2',
    'a/g/s/3',
  ])
})

test('whoever comes later has a turn after one of each other', () => {
  const turns = new ProbeTurns<ReturnType<typeof thing>>()
  for (let count = 0; count < 1_000; count++) turns.add(thing(`a/g/s${count % 300}/${count}`))
  turns.next()
  turns.add(thing('a/h/s/late'))
  turns.add(thing('b/g/s/late'))
  const order = [1, 2, 3, 4].map(() => turns.next()?.name ?? '')
  expect(order.filter((name) => name.endsWith('late'))).toEqual(['b/g/s/late', 'a/h/s/late'])
})

test('what is removed has no turn, and leaves nothing behind', () => {
  const turns = new ProbeTurns<ReturnType<typeof thing>>()
  const [first, second] = [thing('a/g/s/1'), thing('a/g/s/2')]
  for (const each of [first, second]) turns.add(each)
  for (const each of [first, thing('a/g/s/2'), thing('b/g/s/1')]) turns.remove(each)
  expect(drained(turns)).toEqual(['a/g/s/2'])
  turns.remove(second)
  expect(drained(turns)).toEqual([])
})

test('a service that leaves and comes back has one turn', () => {
  const turns = new ProbeTurns<ReturnType<typeof thing>>()
  const [back, other] = [thing('a/g/s/1'), thing('a/g/t/1')]
  for (const each of [back, other]) turns.add(each)
  turns.remove(back)
  turns.add(back)
  expect(drained(turns)).toEqual(['a/g/t/1', 'a/g/s/1'])
})
