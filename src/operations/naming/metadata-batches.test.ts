import { beforeEach, expect, test } from 'vitest'
import { at, EngineWorld, ORDERS, registration, watched } from '../../core/core.test-support.ts'
import {
  deleteMetadata,
  type MetadataBatch,
  updateMetadata,
} from '../../core/naming/commands/metadata-commands.ts'
import { registerInstance } from '../../core/naming/commands/register-instance.ts'
import { carryOutBatch } from './metadata-batches.ts'

const COUNT = 1_201
let world: EngineWorld
let turns: number

beforeEach(async () => {
  world = new EngineWorld()
  for (let port = 1; port <= COUNT; port++) world.start(registerInstance(registrationOf(port)))
  await world.flush()
  world.revisions.length = 0
  turns = 0
})

function registrationOf(port: number) {
  const address = { ip: '10.0.0.1', port, cluster: 'DEFAULT' }
  return registration({ address, metadata: port === COUNT ? { long: 'x'.repeat(80) } : { a: '0' } })
}

function carryOut(commandOf: typeof updateMetadata, other: Partial<MetadataBatch> = {}) {
  const { state, engine } = world
  const soon = (run: () => void): void => {
    turns++
    queueMicrotask(run)
  }
  const batch = {
    serviceKey: ORDERS,
    consistencyType: 'ephemeral',
    instances: [],
    keys: { a: '1' },
    maxBytes: 1_000,
    ...other,
  }
  return carryOutBatch({ state, engine, clock: () => at(world.nowMs), loop: { soon } }, batch, commandOf)
}

/** The outcome of a batch, once it is carried out. */
async function finished<T>(outcome: T | Promise<T>) {
  const seen = watched(outcome)
  while (seen.waits) {
    await world.quiet()
    await Promise.resolve()
  }
  return seen
}

/** The values of a key over all instances. */
function valuesOf(key: string): Set<string | undefined> {
  return new Set([...world.state.instances(ORDERS)].map(({ metadata }) => metadata[key]))
}

test('a batch for very many instances becomes several revisions, and the answer names every instance', async () => {
  const answer = await finished(carryOut(updateMetadata))
  expect(answer.value?.map(({ record }) => record.address.port)).toEqual(
    Array.from({ length: COUNT }, (_, index) => index + 1),
  )
  expect(valuesOf('a')).toEqual(new Set(['1']))
  expect(world.revisions.map((changes) => changes.length)).toEqual([500, 500, 201])
  expect(turns).toBe(6)
})

test('a batch for very many named instances and one that removes keys are divided too', async () => {
  const instances = Array.from({ length: 600 }, (_, index) => {
    return { ip: '10.0.0.1', port: index + 1, cluster: 'DEFAULT', ephemeral: true }
  })
  const answer = await finished(carryOut(deleteMetadata, { consistencyType: undefined, instances }))
  expect(answer.value).toHaveLength(600)
  expect(world.revisions.map((changes) => changes.length)).toEqual([500, 100])
  expect(valuesOf('a')).toEqual(new Set([undefined, '0']))
})

test('a batch that is refused for its last instance changes no instance', async () => {
  const answer = await finished(carryOut(updateMetadata, { keys: { b: 'y'.repeat(50) }, maxBytes: 100 }))
  expect(answer.error).toMatchObject({ code: 'invalid-parameter' })
  expect(world.revisions).toEqual([])
})

test('a batch for a few instances is one command', async () => {
  const instances = [{ ip: '10.0.0.1', port: 7, cluster: 'DEFAULT', ephemeral: true }]
  const answer = await finished(carryOut(updateMetadata, { consistencyType: undefined, instances }))
  expect(answer.value).toHaveLength(1)
  expect(world.revisions.map((changes) => changes.length)).toEqual([1])
  expect(turns).toBe(0)
})
