import { expect, test } from 'vitest'
import { FigureHistory, FIGURES_MS } from './figure-history.ts'

const AT_REST = { requests: 0, processorMs: 0, memoryBytes: 5, connections: 2, storeBytes: 7 }

test('rates are computed between two readings, and the first reading gives the size of the store alone', () => {
  const history = new FigureHistory()
  history.add({ ...AT_REST, requests: 100, processorMs: 1_000 }, 50_000)
  expect(history.read()).toMatchObject({ storeBytes: 7, lines: { requestsPerSecond: [], memoryBytes: [] } })
  history.add({ ...AT_REST, requests: 150, processorMs: 6_000 }, 60_000)
  expect(history.read().lines).toEqual({
    requestsPerSecond: [5],
    processorShare: [0.5],
    memoryBytes: [5],
    connections: [2],
    storeBytes: [7],
  })
})

test('a store whose size cannot be said keeps the last one', () => {
  const history = new FigureHistory()
  history.add(AT_REST, 0)
  history.add({ ...AT_REST, storeBytes: undefined }, FIGURES_MS)
  expect(history.read()).toMatchObject({ storeBytes: 7, lines: { storeBytes: [7] } })
})

test('an hour is kept', () => {
  const history = new FigureHistory()
  for (let at = 0; at < 200; at++) history.add({ ...AT_REST, connections: at }, at * FIGURES_MS)
  const { connections } = history.read().lines
  expect(connections).toHaveLength(180)
  expect(connections.at(-1)).toBe(199)
  expect(connections.length * FIGURES_MS).toBe(3_600_000)
})
