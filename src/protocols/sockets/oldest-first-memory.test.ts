import { describe, expect, test, vi } from 'vitest'
import { OldestFirstMemory } from './oldest-first-memory.ts'

const holder = () => ({ giveUp: vi.fn<() => void>() })

describe('what clients have not read', () => {
  test('is the oldest that is given up beyond the limit', () => {
    const memory = new OldestFirstMemory(100)
    const [first, second, third] = [holder(), holder(), holder()]
    memory.count(first, 40)
    memory.count(second, 40)
    memory.count(third, 40)
    expect(first.giveUp).toHaveBeenCalledOnce()
    expect(second.giveUp).not.toHaveBeenCalled()
    expect(memory.bytes).toBe(80)
  })

  test('counts no more once it is read', () => {
    const memory = new OldestFirstMemory(100)
    const [first, second] = [holder(), holder()]
    memory.count(first, 90)
    memory.count(first, 20)
    memory.count(first, 0)
    memory.count(second, 100)
    expect(first.giveUp).not.toHaveBeenCalled()
    expect(memory.bytes).toBe(100)
  })

  test('may be larger than the limit if it is one answer', () => {
    const memory = new OldestFirstMemory(100)
    const [first, large] = [holder(), holder()]
    memory.count(first, 1)
    memory.count(large, 500)
    expect([first.giveUp.mock.calls.length, large.giveUp.mock.calls.length]).toEqual([1, 0])
  })

  test('that grows is given up too', () => {
    const memory = new OldestFirstMemory(100)
    const [growing, other] = [holder(), holder()]
    memory.count(growing, 40)
    memory.count(other, 40)
    memory.count(growing, 70)
    expect([growing.giveUp.mock.calls.length, other.giveUp.mock.calls.length]).toEqual([1, 0])
  })

  test('is counted once, however giving up ends it', () => {
    const memory = new OldestFirstMemory(100)
    const first = { giveUp: () => memory.count(first, 0) }
    memory.count(first, 60)
    memory.count(holder(), 60)
    expect(memory.bytes).toBe(60)
  })
})
