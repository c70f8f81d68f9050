import { expect, test } from 'vitest'
import { readFuzzyRequest } from './fuzzy-request.ts'

test('a pattern has the namespace as the client spells it, and in one spelling inside', () => {
  const { sent, isWatching, received, isInitializing } = readFuzzyRequest({
    groupKeyPattern: 'public>>G*>>app-*',
    receivedGroupKeys: ['app-a+G+public'],
    watchType: 'WATCH',
    initializing: true,
  })
  expect(sent).toMatchObject({ text: 'public>>G*>>app-*', namespace: 'public' })
  expect(sent.pattern.namespaceId).toBe('public')
  expect([sent.pattern.matches('G1', 'app-a'), sent.pattern.matches('H', 'app-a')]).toEqual([true, false])
  expect({ isWatching, isInitializing, received: [...received] }).toEqual({
    isWatching: true,
    isInitializing: true,
    received: ['app-a+G+public'],
  })
})

test('an empty namespace is the default one', () => {
  const { sent } = readFuzzyRequest({ groupKeyPattern: '>>G>>a', receivedGroupKeys: null })
  expect(sent).toMatchObject({ namespace: 'public', pattern: { namespaceId: 'public' } })
})

test('a pattern can be cancelled', () => {
  const body = { groupKeyPattern: 'dev>>*>>*', watchType: 'CANCEL_WATCH' }
  expect(readFuzzyRequest(body).isWatching).toBe(false)
})

test.each([
  [{}],
  [{ groupKeyPattern: 'a>>b' }],
  [{ groupKeyPattern: 'a>>b>>c>>d' }],
  [{ groupKeyPattern: 'a>>>>c' }],
  [{ groupKeyPattern: `a>>b>>${'c'.repeat(1_024)}` }],
  [{ groupKeyPattern: ['a>>b>>c'] }],
  [{ groupKeyPattern: 'a>>b>>c', receivedGroupKeys: 'all' }],
  [{ groupKeyPattern: 'a>>b>>c', receivedGroupKeys: [7] }],
])('%j is refused', (body) => {
  expect(() => readFuzzyRequest(body)).toThrow(expect.objectContaining({ code: 'invalid-parameter' }))
})
