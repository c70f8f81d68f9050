import { expect, test } from 'vitest'
import { StoreRoom, withinRoom } from './store-room.ts'

const MIB = 1024 * 1024
const room = (leftBytes: number) => ({ leftBytes, usage: 'Little is left.', advice: 'Free some.' })

test('without room a change is refused with advice, until there is clearly more room again', () => {
  const store = new StoreRoom(256 * MIB)
  store.require(1)
  store.measured(room(-1))
  expect(() => store.require(0)).toThrow('Little is left. Free some.')
  store.measured(room(8 * MIB))
  expect(store.shortage).toBe('Little is left. Free some.')
  store.measured(room(17 * MIB))
  store.require(0)
  expect(store.shortage).toBeUndefined()
})

test('changes between two measurements count', () => {
  const store = new StoreRoom(256 * MIB)
  store.measured(room(10 * MIB))
  store.require(4 * MIB)
  expect(store.isUnsure(MIB)).toBe(true)
  expect(() => store.require(MIB)).toThrow('nearly full: this does not fit. Little is left. Free some.')
  store.measured(room(10 * MIB))
  expect(store.isUnsure(MIB)).toBe(false)
})

test('an engine measures before it refuses, and lets commands pass that need no room', async () => {
  const store = new StoreRoom(0)
  store.measured(room(0.5 * MIB))
  let measured = 0
  const inner = { mostAtOnce: 1, backlog: { behind: 0, waiting: 0 }, execute: () => 'done' as never }
  const rest = { applyBehind() {}, tick() {}, close: async () => undefined }
  const engine = withinRoom({ ...inner, ...rest }, store, async () => {
    measured++
    store.measured(room(measured === 1 ? 10 * MIB : 1))
  })
  const command = (growsBy?: number) => ({ subject: 's', growsBy, decide: () => undefined as never })
  expect(await engine.execute(command(MIB))).toBe('done')
  await expect(async () => engine.execute(command(9 * MIB))).rejects.toMatchObject({ code: 'store-full' })
  expect(await engine.execute(command())).toBe('done')
  expect(measured).toBe(2)
})
