import { beforeEach, describe, expect, test } from 'vitest'
import { addRole, createUser } from '../access/access-commands.ts'
import { beginSession } from '../access/session-commands.ts'
import { USER } from '../access/access-records.ts'
import { deleteConfig, publishConfig } from '../config/commands/publish-config.ts'
import { stopGray } from '../config/commands/end-gray.ts'
import { publishGray } from '../config/commands/publish-gray.ts'
import { configKey } from '../config/state/config-item.ts'
import { address, at, EngineWorld, publishing, registration, watched } from '../core.test-support.ts'
import type { Command } from '../decisions/decision.ts'
import { MemoryBudget, NO_MEMORY_LIMITS } from '../memory/memory-budget.ts'
import type { MemoryLimits } from '../records/memory-limits.ts'
import { deregisterInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { Refusal } from '../refusal.ts'
import type { Engine } from './ports.ts'
import { withinMemory } from './within-memory.ts'

const BY = { ip: '10.0.0.9', user: null }
const KEY = configKey('public', 'G', 'a')
let world: EngineWorld
let engine: Engine
let budget: MemoryBudget

function limited(limits: Partial<MemoryLimits>): void {
  budget = new MemoryBudget(world.state.memory, { ...NO_MEMORY_LIMITS, ...limits })
  engine = withinMemory(world.engine, { state: world.state, budget, clock: () => at(world.nowMs) })
}

beforeEach(() => {
  world = new EngineWorld()
})

const publish = (content: string, dataId = 'a', schema = '') =>
  publishConfig(publishing(content, { key: configKey('public', 'G', dataId), notes: { schema } }))
const gray = (content: string) =>
  publishGray({
    key: KEY,
    name: 'beta',
    rule: { type: 'beta', version: '1.0.0', expr: '10.0.0.1', priority: 1 },
    content: Buffer.from(content),
    md5: `md5 of ${content}`,
    type: undefined,
    encryptedDataKey: '',
    casMd5: undefined,
    operator: BY,
  })
const register = (port: number, metadata = {}) =>
  registerInstance(registration({ address: address({ port }), metadata }))

/** The outcome of a command, or the code of its refusal, once the store has written everything. */
async function carriedOut(command: Command<unknown>): Promise<unknown> {
  const seen = started(command)
  await world.quiet()
  return seen()
}

function started(command: Command<unknown>): () => unknown {
  try {
    const seen = watched(engine.execute(command))
    return () => (seen.error instanceof Refusal ? seen.error.code : seen.waits ? 'waits' : seen.value)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return () => error.code
  }
}

describe('the memory of all contents', () => {
  test('stays within its limit, texts of gray versions included', async () => {
    limited({ contentBytes: 10 })
    expect(await carriedOut(publish('12345678'))).toBe(true)
    expect(await carriedOut(publish('123', 'b'))).toBe('content-memory')
    expect(await carriedOut(gray('12'))).toBe(true)
    expect(await carriedOut(publish('1', 'b'))).toBe('content-memory')
    expect(await carriedOut(gray('123'))).toBe('content-memory')
    expect(await carriedOut(stopGray({ key: KEY, name: 'beta', operator: BY }))).toBe(true)
    expect(await carriedOut(publish('12', 'b'))).toBe(true)
  })

  test('counts contents that are being written, until they are written or have failed', async () => {
    limited({ contentBytes: 100 })
    const first = started(publish('a'.repeat(60)))
    expect(started(publish('b'.repeat(60), 'b'))()).toBe('content-memory')
    await world.gathered()
    world.store.fail()
    await world.turn()
    expect(first()).toBeUndefined()
    expect(await carriedOut(publish('b'.repeat(60), 'b'))).toBe(true)
  })

  test('bounds the contents that wait to be written; a single one is always taken', async () => {
    budget = new MemoryBudget(world.state.memory, NO_MEMORY_LIMITS, 100)
    engine = withinMemory(world.engine, { state: world.state, budget, clock: () => at(world.nowMs) })
    const first = started(publish('a'.repeat(200)))
    expect(started(publish('b', 'b'))()).toBe('body-memory')
    await world.quiet()
    expect(first()).toBe(true)
    const others = ['c', 'd', 'e'].map((name) => started(publish(name.repeat(50), name)))
    await world.quiet()
    expect(others.map((outcome) => outcome())).toEqual([true, true, 'body-memory'])
    expect(await carriedOut(publish('e'.repeat(100), 'e'))).toBe(true)
  })

  test('always takes a content that is not larger than the one it replaces', async () => {
    limited({})
    await carriedOut(publish('x'.repeat(50)))
    limited({ contentBytes: 10 })
    expect(await carriedOut(publish('y'.repeat(50)))).toBe(true)
    expect(await carriedOut(publish('y'.repeat(51)))).toBe('content-memory')
  })
})

describe('the memory of everything', () => {
  test('is shared by configurations and naming, so that none stops the other', async () => {
    limited({ heapBytes: 200_000 })
    let items = 0
    while ((await carriedOut(publish('x', `item${items}`, 's'.repeat(5_000)))) === true) items++
    expect(items).toBeGreaterThan(15)
    expect(world.state.memory.ofPart('configurations').heap).toBeLessThanOrEqual(140_000)
    let port = 1
    while ((await carriedOut(register(port, { a: 'x'.repeat(2_000) }))) === 'registered') port++
    expect(port).toBeGreaterThan(8)
    expect(world.state.memory.total.heap).toBeLessThanOrEqual(180_000)
    expect(await carriedOut(publish('x', 'more', 's'.repeat(5_000)))).toBe('content-memory')
    expect(await carriedOut(createUser({ username: 'u', passwordHash: 'x'.repeat(97) }))).toBeUndefined()
    expect(world.state.record(USER, 'u')).toBeDefined()
  })

  test('is used up: deletions, registrations as before, and sign-in go on', async () => {
    limited({})
    await carriedOut(publish('x', 'a', 's'.repeat(5_000)))
    await carriedOut(gray('text'))
    await carriedOut(register(1, { a: 'x' }))
    await carriedOut(createUser({ username: 'u', passwordHash: 'x'.repeat(97) }))
    limited({ heapBytes: 1_000 })
    expect(await carriedOut(addRole({ username: 'u', role: 'r' }))).toBe('content-memory')
    expect(await carriedOut(register(2))).toBe('content-memory')
    expect(await carriedOut(register(1, { a: 'x' }))).toBe('known')
    expect(await carriedOut(register(1, { a: 'y' }))).toBe('registered')
    const { credentialStamp } = world.state.record(USER, 'u')!
    expect(await carriedOut(beginSession({ id: 's', username: 'u', credentialStamp }))).toBe(true)
    expect(await carriedOut(stopGray({ key: KEY, name: 'beta', operator: BY, comment: 'c' }))).toBe(true)
    expect(await carriedOut(deleteConfig(KEY, BY))).toBe(true)
    const place = { serviceKey: registration().serviceKey, address: address({ port: 1 }) }
    expect(await carriedOut(deregisterInstance({ ...place, ephemeral: undefined }))).toBeTruthy()
  })

  test('says from 80 % on that it is nearly used up, and what takes most', async () => {
    limited({ heapBytes: 100_000 })
    await carriedOut(publish('x', 'a', 's'.repeat(50_000)))
    expect(budget.shortage()).toBeUndefined()
    await carriedOut(publish('x', 'b', 's'.repeat(8_000)))
    expect(budget.shortage()).toMatch(
      /^8\d % of the memory .*configurations .* by configurations \(\d+ KiB\)/,
    )
  })

  test('counts growth that is under way, and lets go of it when the command is answered', async () => {
    limited({ heapBytes: 20_000 })
    const outcomes = Array.from({ length: 5 }, (_, index) =>
      started(publish('x', `i${index}`, 's'.repeat(4_000))),
    )
    await world.quiet()
    expect(outcomes.map((outcome) => outcome())).toEqual([true, true, ...Array(3).fill('content-memory')])
    await carriedOut(deleteConfig(configKey('public', 'G', 'i0'), BY))
    expect(await carriedOut(publish('x', 'last', 's'.repeat(4_000)))).toBe(true)
  })
})
