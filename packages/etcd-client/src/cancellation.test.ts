import { describe, expect, test, vi } from 'vitest'
import { Cancellation } from './cancellation.ts'

describe('a cancellation', () => {
  test('calls each listener once, and has the first reason', () => {
    const cancellation = new Cancellation()
    const listener = vi.fn()
    cancellation.onCancel(listener)
    expect(cancellation).toMatchObject({ isCancelled: false, reason: undefined })
    const reason = new Error('stopped')
    cancellation.cancel(reason)
    cancellation.cancel()
    expect(listener).toHaveBeenCalledTimes(1)
    expect(cancellation.isCancelled).toBe(true)
    expect(cancellation.reason).toBe(reason)
  })

  test('calls a listener at once that comes later', () => {
    const cancellation = new Cancellation()
    cancellation.cancel()
    const listener = vi.fn()
    cancellation.onCancel(listener)
    expect(listener).toHaveBeenCalledTimes(1)
  })

  test('does not call a listener that waits no longer', () => {
    const cancellation = new Cancellation()
    const listener = vi.fn()
    cancellation.onCancel(listener)()
    cancellation.cancel()
    expect(listener).not.toHaveBeenCalled()
  })
})
