import { beforeEach, describe, expect, test, vi } from 'vitest'
import { OldestFirstMemory } from './held-memory.ts'

const holder = () => ({ giveUp: vi.fn<() => void>() })

let memory: OldestFirstMemory
beforeEach(() => void (memory = new OldestFirstMemory(100)))

describe('an unread answer', () => {
  test('is the oldest that is given up beyond the limit', () => {
    const [first, second, third] = [holder(), holder(), holder()]
    memory.count(first, 40)
    memory.count(second, 40)
    memory.count(third, 40)
    expect(first.giveUp).toHaveBeenCalledOnce()
    expect(second.giveUp).not.toHaveBeenCalled()
    expect(memory.bytes).toBe(80)
  })

  test('counts no more once it is read', () => {
    const [first, second] = [holder(), holder()]
    memory.count(first, 90)
    memory.count(first, 20)
    memory.count(first, 0)
    memory.count(second, 100)
    expect(first.giveUp).not.toHaveBeenCalled()
    expect(memory.bytes).toBe(100)
  })

  test('may be larger than the limit if it is one answer', () => {
    const [first, large] = [holder(), holder()]
    memory.count(first, 1)
    memory.count(large, 500)
    expect([first.giveUp.mock.calls.length, large.giveUp.mock.calls.length]).toEqual([1, 0])
  })

  test('that grows is given up too', () => {
    const [growing, other] = [holder(), holder()]
    memory.count(growing, 40)
    memory.count(other, 40)
    memory.count(growing, 70)
    expect([growing.giveUp.mock.calls.length, other.giveUp.mock.calls.length]).toEqual([1, 0])
  })

  test('is counted once, however giving up ends it', () => {
    const first = { giveUp: () => memory.count(first, 0) }
    memory.count(first, 60)
    memory.count(holder(), 60)
    expect(memory.bytes).toBe(60)
  })
})

describe('a text that several are sent', () => {
  const text = (bytes: number) => ({ rest: [Buffer.alloc(bytes / 2), Buffer.alloc(bytes / 2)] })

  test('is counted once, until the last client has read it', () => {
    const [first, second, shared] = [holder(), holder(), text(80)]
    memory.share(first, shared)
    memory.share(second, { rest: [...shared.rest, Buffer.alloc(2)] })
    expect(memory.bytes).toBe(82)
    memory.release(first)
    expect(memory.bytes).toBe(82)
    memory.release(second)
    expect(memory.bytes).toBe(0)
    expect([first.giveUp.mock.calls.length, second.giveUp.mock.calls.length]).toEqual([0, 0])
  })

  test('is given up with all its clients', () => {
    const [first, second, other, shared] = [holder(), holder(), holder(), text(80)]
    memory.share(first, shared)
    memory.share(second, shared)
    memory.share(other, text(40))
    expect([first, second, other].map(({ giveUp }) => giveUp.mock.calls.length)).toEqual([1, 1, 0])
    expect(memory.bytes).toBe(40)
    for (const one of [first, second, other]) memory.release(one)
    expect(memory.bytes).toBe(0)
  })

  test('is as young as its last sending: a text that nobody asks for any more is given up first', () => {
    const [first, old, again, shared] = [holder(), holder(), holder(), text(40)]
    memory.share(first, shared)
    memory.share(old, text(40))
    memory.share(again, shared)
    memory.share(holder(), text(40))
    expect([first, old, again].map(({ giveUp }) => giveUp.mock.calls.length)).toEqual([0, 1, 0])
  })
})

describe('what owners leave unread', () => {
  const ownedBy = (owner: string) => ({ owner, giveUp: vi.fn<() => void>() })
  const cut = (holders: readonly ReturnType<typeof ownedBy>[]) =>
    holders.map(({ giveUp }) => giveUp.mock.calls.length)

  test('is given up of the owner with most, its oldest first: older ones of others stay', () => {
    const [few, ...many] = [ownedBy('few'), ownedBy('many'), ownedBy('many'), ownedBy('many')]
    memory.count(few!, 20)
    for (const one of many) memory.count(one, 30)
    expect(cut([few!, ...many])).toEqual([0, 1, 0, 0])
    memory.count(ownedBy('others'), 25)
    expect(cut([few!, ...many])).toEqual([0, 1, 1, 0])
    expect(memory.bytes).toBe(75)
  })

  test('is given up of the newcomer where nobody has as much', () => {
    const [small, large] = [ownedBy('small'), ownedBy('large')]
    memory.count(small, 20)
    memory.count(large, 90)
    expect(cut([small, large])).toEqual([0, 1])
  })

  test('counts for the first of those who are sent the same text', () => {
    const text = { rest: [Buffer.alloc(60)] }
    const [slow, quick, few] = [ownedBy('slow'), ownedBy('quick'), ownedBy('few')]
    memory.share(slow, text)
    memory.share(quick, text)
    memory.count(few, 30)
    memory.count(ownedBy('quick'), 40)
    expect(cut([slow, quick, few])).toEqual([1, 1, 0])
    for (const one of [slow, quick, few]) memory.release(one)
    expect(memory.bytes).toBe(40)
  })
})
