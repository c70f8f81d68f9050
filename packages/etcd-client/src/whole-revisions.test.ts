import { create, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventSchema } from './generated/kv_pb.js'
import { WholeRevisions } from './whole-revisions.ts'
import type { KeyRevision } from './whole-revisions.ts'

const event = (revision: number, key: string) =>
  toBinary(EventSchema, create(EventSchema, { kv: { key: Buffer.from(key), modRevision: BigInt(revision) } }))

const shown = (revisions: Iterable<KeyRevision>) =>
  Array.from(revisions, ({ revision, changes }) => [
    revision,
    changes.map((change) => (change.kind === 'put' ? change.kv.key : change.key)).join(''),
  ])

describe('whole revisions', () => {
  test('are given out when the response is complete', () => {
    const revisions = new WholeRevisions(3)
    const events = [event(3, 'a'), event(3, 'b'), event(5, 'c')]
    expect(shown(revisions.add({ events, fragment: false }))).toEqual([
      [3, 'ab'],
      [5, 'c'],
    ])
    expect(revisions.next).toBe(6)
  })

  test('are not given out while a fragment may follow', () => {
    const revisions = new WholeRevisions(3)
    expect(shown(revisions.add({ events: [event(3, 'a'), event(4, 'b')], fragment: true }))).toEqual([
      [3, 'a'],
    ])
    expect(revisions.reach(4)).toBe(false)
    expect(shown(revisions.add({ events: [event(4, 'c')], fragment: false }))).toEqual([[4, 'bc']])
  })

  test('begin again after an interruption, without earlier revisions', () => {
    const revisions = new WholeRevisions(3)
    shown(revisions.add({ events: [event(3, 'a'), event(4, 'b')], fragment: true }))
    revisions.interrupt()
    expect(revisions.next).toBe(4)
    const again = [event(3, 'a'), event(4, 'b'), event(4, 'c')]
    expect(shown(revisions.add({ events: again, fragment: false }))).toEqual([[4, 'bc']])
  })

  test('are given out although a later event of their response cannot be read', () => {
    const revisions = new WholeRevisions(3)
    const given: KeyRevision[] = []
    const events = [event(3, 'a'), event(4, 'b'), new Uint8Array([0xff])]
    expect(() => {
      for (const revision of revisions.add({ events, fragment: false })) given.push(revision)
    }).toThrow(/./)
    revisions.interrupt()
    expect(shown(given)).toEqual([[3, 'a']])
    expect(revisions.next).toBe(4)
  })

  test('continue after a revision that was reached without a change', () => {
    const revisions = new WholeRevisions(3)
    expect(revisions.reach(9)).toBe(true)
    expect(revisions.next).toBe(10)
    expect(revisions.reach(8)).toBe(false)
  })

  test('are each given out once, whatever the fragments and interruptions', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 })
    const cuts = fc.array(fc.record({ length: fc.integer({ min: 1, max: 5 }), lost: fc.boolean() }))
    fc.assert(
      fc.property(sizes, cuts, (changes, responses) => {
        const all = changes.flatMap((count, i) =>
          Array.from({ length: count }, (_, n) => ({ revision: i + 1, key: String(n) })),
        )
        const expected = changes.map((count, i) => [i + 1, '0123'.slice(0, count)])
        const revisions = new WholeRevisions(1)
        const given: KeyRevision[] = []
        const send = (part: typeof all, fragment: boolean) =>
          given.push(...revisions.add({ events: part.map((one) => event(one.revision, one.key)), fragment }))
        let rest = all
        for (const { length, lost } of responses) {
          // More always follows this fragment, or the connection is lost behind it.
          send(rest.slice(0, length), true)
          rest = rest.slice(length)
          if (!lost) continue
          revisions.interrupt()
          rest = all.filter((one) => one.revision >= revisions.next)
        }
        send(rest, false)
        expect(shown(given)).toEqual(expected)
      }),
    )
  })
})
