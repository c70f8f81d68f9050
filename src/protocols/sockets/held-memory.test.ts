import { array, assert, integer, option, property, record, subarray } from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type Holder, OldestFirstMemory } from './held-memory.ts'

const ownedBy = (owner: string) => ({ owner, giveUp: vi.fn<() => void>() })
const holder = () => ownedBy('')
const cut = (holders: readonly ReturnType<typeof holder>[]) =>
  holders.map(({ giveUp }) => giveUp.mock.calls.length)
const text = (bytes: number) => [Buffer.alloc(bytes / 2), Buffer.alloc(bytes / 2)]

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

const share = (one: Holder, pieces: readonly Buffer[]) => memory.count(one, 0, [pieces])

describe('a text that several are sent', () => {
  test('is counted once, until the last client has read it', () => {
    const [first, second, shared] = [holder(), holder(), text(80)]
    share(first, shared)
    share(second, [...shared, Buffer.alloc(2)])
    expect(memory.bytes).toBe(82)
    memory.release(first)
    expect(memory.bytes).toBe(82)
    memory.release(second)
    expect(memory.bytes).toBe(0)
    expect(cut([first, second])).toEqual([0, 0])
  })

  test('is given up with all its clients of one owner', () => {
    const [first, second, other, shared] = [holder(), holder(), holder(), text(80)]
    share(first, shared)
    share(second, shared)
    share(other, text(40))
    expect(cut([first, second, other])).toEqual([1, 1, 0])
    expect(memory.bytes).toBe(40)
    for (const one of [first, second, other]) memory.release(one)
    expect(memory.bytes).toBe(0)
  })

  test('is as young as its last sending: a text that nobody asks for any more is given up first', () => {
    const [first, old, again, shared] = [holder(), holder(), holder(), text(40)]
    share(first, shared)
    share(old, text(40))
    share(again, shared)
    share(holder(), text(40))
    expect(cut([first, old, again])).toEqual([0, 1, 0])
  })

  test('ends with the bytes of its client besides, and with those that leave together', () => {
    const [first, shared] = [holder(), text(60)]
    const second = { owner: '', giveUp: vi.fn(() => memory.release(first)) }
    memory.count(second, 10, [shared])
    memory.count(first, 10, [shared])
    share(holder(), text(60))
    expect([first.giveUp.mock.calls.length, second.giveUp.mock.calls.length, memory.bytes]).toEqual([
      0, 1, 60,
    ])
  })
})

describe('what owners leave unread', () => {
  test('is given up of the owner with most, its oldest first: older ones of others stay', () => {
    const [few, ...many] = [ownedBy('few'), ownedBy('many'), ownedBy('many'), ownedBy('many')]
    memory.count(few!, 20)
    for (const one of many) memory.count(one, 30)
    expect(cut([few!, ...many])).toEqual([0, 1, 0, 0])
    memory.count(ownedBy('others'), 25)
    expect(cut([few!, ...many])).toEqual([0, 1, 1, 0])
    expect(memory.bytes).toBe(75)
  })

  test('is never what has just begun, but for it the owner with most besides, and what grows', () => {
    const [small, slow, large] = [ownedBy('small'), ownedBy('slow'), ownedBy('large')]
    memory.count(small, 20)
    memory.count(slow, 30)
    memory.count(large, 30, [text(30)])
    expect(cut([small, slow, large])).toEqual([0, 1, 0])
    memory.count(large, 90)
    expect(cut([small, slow, large])).toEqual([0, 1, 1])
    expect(memory.bytes).toBe(20)
  })

  test('counts in parts for all who are sent the same text: who leaves most alone goes', () => {
    const shared = text(60)
    const [first, slow, ...quick] = [
      ownedBy('first'),
      ownedBy('slow'),
      ownedBy('a'),
      ownedBy('b'),
      ownedBy('c'),
    ]
    share(first!, shared)
    memory.count(slow!, 30)
    for (const one of quick) share(one, shared)
    memory.count(ownedBy('others'), 20)
    expect(cut([first!, slow!, ...quick])).toEqual([0, 1, 0, 0, 0])
    expect(memory.bytes).toBe(80)
  })

  test('counts on for others where it ends for one, until nobody has it', () => {
    const shared = text(60)
    const [most, other] = [ownedBy('most'), ownedBy('other')]
    share(most, shared)
    memory.count(ownedBy('most'), 20)
    share(other, shared)
    memory.count(ownedBy('new'), 30)
    expect([cut([most, other]), memory.bytes]).toEqual([[1, 1], 50])
  })

  test('is given up in few passes, however many owners there are', () => {
    const owners = 20_000
    memory = new OldestFirstMemory(owners * 8)
    let given = 0
    let passes = 0
    for (let at = 0; at < 2 * owners; at++) {
      const before = given
      memory.count({ owner: String(at), giveUp: () => void given++ }, 8)
      if (given > before) passes++
    }
    expect([given, passes]).toEqual([8 * 2_501, 8])
  })
})

/** The bytes and texts of a holder: a naive copy of the count. */
interface Held {
  readonly bytes: number
  readonly sent: Set<readonly Buffer[]>
}

/** Sets the bytes of a holder and adds texts, or releases it. */
interface Step {
  readonly at: number
  readonly bytes: number | null
  readonly sent: readonly (readonly Buffer[])[]
}

test('the sum is that of all holders and texts after any steps, and nothing is left at the end', () => {
  const texts = [20, 40, 60].map(text)
  const [at, bytes] = [integer({ min: 0, max: 9 }), option(integer({ min: 0, max: 70 }))]
  const run = (steps: readonly Step[]) => {
    memory = new OldestFirstMemory(100)
    const held = new Map<Holder, Held>()
    const holders = Array.from({ length: 10 }, (_, at) => {
      const one = { owner: String(at % 4), giveUp: () => void held.delete(one) }
      return one
    })
    const sum = () => {
      const sent = new Set([...held.values()].flatMap((one) => [...one.sent]))
      const all = [...sent].flat().reduce((bytes, { length }) => bytes + length, 0)
      return [...held.values()].reduce((bytes, one) => bytes + one.bytes, all)
    }
    for (const { at, bytes, sent } of steps) {
      const one = holders[at]!
      const before = memory.bytes
      if (bytes === null) {
        held.delete(one)
        memory.release(one)
      } else {
        held.set(one, { bytes, sent: new Set([...(held.get(one)?.sent ?? []), ...sent]) })
        memory.count(one, bytes, sent)
      }
      expect(memory.bytes).toBe(sum())
      // Only what has just begun may be more, with those who hold nothing else.
      const isLeft = (has: Held) =>
        has.bytes === 0 && [...has.sent].every((part) => held.get(one)?.sent.has(part))
      const others = [...held].filter(([other, has]) => other !== one && !isLeft(has))
      if (memory.bytes > Math.max(before, 100)) expect(others).toEqual([])
    }
    for (const one of holders) memory.release(one)
    expect(memory.bytes).toBe(0)
  }
  assert(property(array(record({ at, bytes, sent: subarray(texts) }), { maxLength: 60 }), run))
})
