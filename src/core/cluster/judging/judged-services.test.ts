import { expect, test } from 'vitest'
import { judgeOf } from './judged-services.ts'

const MEMBERS = ['10.0.0.1:8848', '10.0.0.2:8848', '10.0.0.3:8848']
const services = Array.from({ length: 3_000 }, (_, index) => ({
  namespaceId: 'public',
  groupedName: `DEFAULT_GROUP@@service-${index}`,
}))

test('each member judges about as many services as the others', () => {
  for (const member of MEMBERS) {
    const own = services.filter((service) => judgeOf(service, MEMBERS) === member)
    expect(own.length).toBeGreaterThan(850)
    expect(own.length).toBeLessThan(1_150)
  }
})

test('the order of the members does not matter, and without members nobody judges', () => {
  const [service] = services
  expect(judgeOf(service!, MEMBERS.toReversed())).toBe(judgeOf(service!, MEMBERS))
  expect(judgeOf(service!, [])).toBeUndefined()
})

test('only the services of a member that leaves get another judge', () => {
  const left = MEMBERS.slice(1)
  for (const service of services) {
    const before = judgeOf(service, MEMBERS)
    if (before !== MEMBERS[0]) expect(judgeOf(service, left)).toBe(before)
  }
})
