import { afterEach, expect, test } from 'vitest'
import { caught, contained, guarded, reportFaultsTo, unawaited } from './unexpected.ts'

const reported: { boundary: string; error: unknown }[] = []

function collect(): void {
  reported.length = 0
  reportFaultsTo({ caught: (boundary, error) => reported.push({ boundary, error }), fatal: () => undefined })
}

afterEach(() => reportFaultsTo(undefined))

const fault = new Error('planted')

function failing(): never {
  throw fault
}

test('an error of a callback is reported and ends that boundary', () => {
  collect()
  const ended: string[] = []
  const callback = guarded('connection', () => ended.push('cut'), failing)
  callback()
  expect(reported).toEqual([{ boundary: 'connection', error: fault }])
  expect(ended).toEqual(['cut'])
})

test('a callback that does not throw gets its arguments and ends nothing', () => {
  collect()
  const seen: unknown[] = []
  const callback = guarded('request', failing, (a: number, b: string) => seen.push(a, b))
  callback(1, 'b')
  expect(seen).toEqual([1, 'b'])
  expect(reported).toEqual([])
})

test('an error while it ends is reported too, and nothing is thrown', () => {
  collect()
  contained('push', failing, failing)
  expect(reported).toHaveLength(2)
})

test('a rejection of work that nobody waits for is reported', async () => {
  collect()
  const ended: string[] = []
  unawaited('probe', () => ended.push('over'), Promise.reject(fault))
  await new Promise((resolve) => setImmediate(resolve))
  expect(reported).toEqual([{ boundary: 'probe', error: fault }])
  expect(ended).toEqual(['over'])
})

test('without a sink a fault is thrown, so that a test of a part sees it', () => {
  expect(() => caught('job', fault)).toThrow(fault)
})
