import { describe, expect, test } from 'vitest'
import { longestGaps, shownGaps } from '../check/service-gaps.ts'
import { operation } from '../check/planted.test-support.ts'
import {
  missingInstances,
  noticed,
  slowestChange,
  toRegisters,
  unready,
  wrongInstances,
  wrongItems,
} from './verdict.ts'

const window = { fromMs: 0, toMs: 1_000 }
const publish = (id: string, begunMs: number, more = {}) =>
  operation({ id, kind: 'publish', value: id, begunMs, ...more })
const read = (seen: string | undefined, begunMs: number, more = {}) =>
  operation({ id: `r${begunMs}`, kind: 'read', seen, begunMs, ...more })
const item = (present: string | undefined, ...by: string[]) => {
  const records = by.map((each, at) => ({ id: at + 1, op: at === 0 ? 'I' : 'U', by: each }))
  return [{ item: 'a', records, present }]
}

describe('an instance that beats', () => {
  const beats = Array.from({ length: 10 }, (_, n): [number, number] => [n * 1_000, n * 1_000 + 10])
  const steady = [{ address: 'x', heard: beats }]
  const list = (begunMs: number, hosts: [string, boolean][]) => {
    return { server: 1, begunMs, endedMs: begunMs + 5, hosts: new Map(hosts) }
  }

  test('is listed and healthy', () => {
    expect(missingInstances([list(5_000, [['x', true]])], steady)).toEqual([])
  })

  test('that is missing or unhealthy is found', () => {
    expect(missingInstances([list(5_000, [])], steady)).toEqual([
      expect.stringContaining('server 2: x beats'),
    ])
    expect(missingInstances([list(5_000, [['x', false]])], steady)).toHaveLength(1)
  })

  test('may be missing after it was silent', () => {
    expect(missingInstances([list(17_500, [])], steady)).toEqual([])
  })
})

describe('the answers about items and instances', () => {
  test('are right where an unknown write has happened, or not', () => {
    const unknown = publish('2', 20, { outcome: 'unknown' })
    expect(wrongItems([publish('1', 0), unknown, read('2', 60)], item('2', '1', '2'))).toEqual([])
    expect(wrongItems([publish('1', 0), unknown, read('1', 60)], item('1', '1'))).toEqual([])
  })

  test('that show an item as it was before are found', () => {
    const operations = [publish('1', 0), publish('2', 20), read('2', 40), read('1', 60)]
    expect(wrongItems(operations, item('2', '1', '2'))).toHaveLength(1)
  })

  test('that show an instance as it was before are found', () => {
    const register = (value: string, begunMs: number) =>
      operation({ id: value, kind: 'register', value, begunMs })
    const operations = [register('1', 0), register('2', 20), { ...read('1', 40), kind: 'list' as const }]
    expect(wrongInstances(operations, ['a'])).toHaveLength(1)
  })

  test('are passed to Porcupine with what the servers answer at the end', () => {
    const register = operation({ id: 'w', kind: 'register', key: 'b', value: '1', begunMs: 0 })
    const reads = [read('1', 60), read('1', 60, { key: 'b', server: 2 })]
    const registers = toRegisters([publish('1', 0), register], item('1', '1'), reads)
    expect(registers.map(({ key, kind }) => `${key} ${kind}`).sort()).toEqual([
      'a put',
      'a read',
      'b put',
      'b read',
    ])
  })
})

describe('what clients notice', () => {
  const failed = publish('1', 100, { outcome: 'refused', said: '500 x' })

  test('is a failure in the window, at a server that was not struck', () => {
    expect(noticed([failed], window, [1])).toEqual([expect.stringContaining('publish at server 1, 100 ms')])
    expect(noticed([failed, publish('2', 0)], window, [0])).toEqual([])
    expect(noticed([{ ...failed, begunMs: -5 }], window, [])).toEqual([])
  })

  test('is that a server is not ready, except one that was struck', () => {
    const answers = [200, 503].map((status) => ({ server: 1, status, text: 'x', begunMs: 100, endedMs: 110 }))
    expect(unready(answers, window, [])).toEqual(['server 2 after 100 ms: x'])
    expect(unready(answers, window, [1])).toEqual([])
  })

  test('is how long the slowest answer took', () => {
    const operations = [publish('1', 0), publish('2', 0, { endedMs: 700, outcome: 'refused', said: '500 x' })]
    expect(slowestChange(operations, window, [])).toBe(700)
    expect(slowestChange([publish('1', 0, { endedMs: 900, said: 'lost' })], window, [])).toBe(0)
  })

  test('is the longest time without a success', () => {
    const operations = [publish('1', 90), publish('2', 690), read('1', 490, { outcome: 'unknown' })]
    const gaps = longestGaps(operations, window, () => true)
    expect([gaps.get('publish'), gaps.get('read')]).toEqual([600, 1_000])
    expect(shownGaps(gaps)).toContain('publish 0.6, ')
  })
})
