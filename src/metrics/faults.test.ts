import { expect, test } from 'vitest'
import { Faults } from './faults.ts'

function setUp() {
  const lines: { suppressed?: number; err?: unknown; text: string }[] = []
  let nowMs = 0
  const log = { error: (facts: object, text: string) => void lines.push({ ...facts, text }) }
  const faults = new Faults({ log, monotonicMs: () => nowMs })
  return { lines, faults, pass: (ms: number) => (nowMs += ms) }
}

/** Errors that are made at one place, whatever they say. */
function errorAtOnePlace(message: string): Error {
  return new Error(message)
}

test('equal stacks are logged once a minute, with the count of the faults that were left out', () => {
  const { lines, faults, pass } = setUp()
  for (let i = 0; i < 5; i++) faults.caught('request', errorAtOnePlace(`sent by a client: ${i}`))
  expect(lines).toHaveLength(1)
  pass(59_000)
  faults.tick()
  expect(lines).toHaveLength(1)
  pass(1_000)
  faults.tick()
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatchObject({ suppressed: 4, boundary: 'request' })
  pass(60_000)
  faults.tick()
  expect(lines).toHaveLength(2)
  expect(faults.counts()).toEqual({ request: 5 })
})

test('different places, and different boundaries of one place, have lines of their own', () => {
  const { lines, faults } = setUp()
  const error = new Error('here')
  faults.caught('push', error)
  faults.caught('job', error)
  faults.caught('push', new TypeError('there'))
  expect(lines).toHaveLength(3)
})

test('very many different faults share a line, so that clients cannot fill log and memory', () => {
  const { lines, faults } = setUp()
  for (let i = 0; i < 1_000; i++) {
    const error = new Error('x')
    error.stack = `Error: x\n    at place${i}`
    faults.caught('connection', error)
  }
  expect(lines).toHaveLength(101)
  expect(faults.counts()).toEqual({ connection: 1_000 })
})

test('the metric has each boundary from the start', () => {
  const { faults } = setUp()
  faults.caught('probe', 'thrown text')
  const read = faults.metrics()[0]!.read() as readonly (readonly [{ boundary: string }, number])[]
  expect(Object.fromEntries(read.map(([{ boundary }, count]) => [boundary, count]))).toEqual({
    listener: 0,
    connection: 0,
    request: 0,
    probe: 1,
    push: 0,
    job: 0,
  })
})
