import { describe, expect, test } from 'vitest'
import { leftBehind, missingConnected } from './connected-verdict.ts'

const list = (server: number, begunMs: number, hosts: [string, boolean][]) => {
  return { server, begunMs, endedMs: begunMs + 5, hosts: new Map(hosts) }
}

describe('an instance that its client keeps registered', () => {
  const kept = [{ address: 'x', sinceMs: 1_000 }]

  test('is listed and healthy, from soon after its registration on', () => {
    expect(missingConnected([list(0, 1_500, []), list(0, 5_000, [['x', true]])], kept)).toEqual([])
    expect(missingConnected([list(0, 5_000, [])], [{ address: 'x', sinceMs: undefined }])).toEqual([])
  })

  test('that is missing or unhealthy is found', () => {
    expect(missingConnected([list(1, 5_000, [])], kept)).toEqual(['server 2: x is missing at 5000'])
    expect(missingConnected([list(0, 5_000, [['x', false]])], kept)).toEqual([
      'server 1: x is unhealthy at 5000',
    ])
  })
})

describe('an instance whose client has closed its connection', () => {
  const closed = [{ address: 'x', server: 0, closedMs: 1_000 }]
  const limits = { struck: [], limitMs: 500 }
  const late = [list(1, 1_600, [['x', true]])]

  test('is gone soon', () => {
    expect(leftBehind([list(1, 1_400, [['x', true]]), list(1, 1_600, [])], closed, limits)).toEqual([])
  })

  test('that stays is found', () => {
    expect(leftBehind(late, closed, limits)).toEqual([
      'server 2 lists x 600 ms after its connection was closed',
    ])
  })

  test('may stay where its server could not remove it, or where the one that lists it knows no news', () => {
    expect(leftBehind(late, closed, { ...limits, struck: [0] })).toEqual([])
    expect(leftBehind(late, closed, { ...limits, struck: [1] })).toEqual([])
  })
})
