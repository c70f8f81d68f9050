import { describe, expect, test } from 'vitest'
import type { PollRequest } from '../../../../operations/config/config-listening.ts'
import { textAnswer } from '../../routing/answers.ts'
import { listen, type ListenerParts, type ListenRequest } from './listener.ts'

const NOW_MS = 1_000_000
const ANSWERS = { of: () => textAnswer(''), withoutTimeout: () => textAnswer('') }

/** The poll that a request with these header fields becomes. */
function polled(headers: Record<string, string>): PollRequest {
  const polls: PollRequest[] = []
  const poll = (request: PollRequest) => {
    polls.push(request)
    return { kind: 'compared', changed: [] } as const
  }
  const parts = { nowMs: () => NOW_MS, maxListeningItems: 10, listening: { poll } }
  const caller = { headers, ip: '10.0.0.1', socketPort: 1, userAgent: 'x' }
  const params = { 'Listening-Configs': 'item\u0002G\u0002\u0001' }
  listen({ params, caller } as unknown as ListenRequest, parts as unknown as ListenerParts, ANSWERS)
  return polls[0]!
}

describe('a poll', () => {
  test.each([
    ['2000', 1_500],
    ['30000', 29_500],
    // Below and above the limits.
    ['100', 500],
    ['-5', 500],
    ['90000', 59_500],
  ])('of a client that waits %s ms is due after %i ms', (timeout, afterMs) => {
    expect(polled({ 'long-pulling-timeout': timeout })).toMatchObject({
      waits: true,
      dueMs: NOW_MS + afterMs,
    })
  })

  test.each([{}, { 'long-pulling-timeout': '30000', 'long-pulling-timeout-no-hangup': 'true' }])(
    'with %j does not wait',
    (headers) => {
      expect(polled(headers).waits).toBe(false)
    },
  )
})
