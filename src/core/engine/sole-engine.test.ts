import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../config/state/config-item.ts'
import { deleteConfig, publishConfig } from '../config/commands/publish-config.ts'
import { EngineWorld, ORDERS, publishing, registration, watched } from '../core.test-support.ts'
import { createNamespace } from '../namespaces/namespace-commands.ts'
import { createService, deleteService } from '../naming/commands/service-commands.ts'
import { deregisterInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { setSwitch } from '../operator/set-switch.ts'

const NO_WISH = { protectThreshold: undefined, metadata: undefined, selector: undefined }
const keyOf = (dataId: string) => configKey('public', 'G', dataId)
const publish = (dataId: string, content = dataId) =>
  publishConfig(publishing(content, { key: keyOf(dataId) }))

let world: EngineWorld
beforeEach(() => void (world = new EngineWorld()))

test('a single command is answered after one commit, and is not visible before', async () => {
  const outcome = watched(world.engine.execute(publish('a')))
  await world.turn()
  expect(world.store.begun).toHaveLength(1)
  expect(world.state.config(keyOf('a'))).toBeUndefined()
  expect(world.published).toEqual([])
  expect(outcome.waits).toBe(true)
  await world.succeed()
  expect(outcome).toEqual({ value: true, waits: false })
  expect(world.published.map(({ kind }) => kind)).toEqual(['config-published'])
  expect(world.state.config(keyOf('a'))?.origin.id).toBeGreaterThan(0)
  expect(world.hasDeferred).toBe(false)
})

test('commands that arrive together are one commit, with a group for each', async () => {
  const outcomes = ['a', 'b', 'c'].map((dataId) => watched(world.engine.execute(publish(dataId))))
  await world.turn()
  expect(world.store.begun.map((groups) => groups.length)).toEqual([3])
  await world.succeed()
  expect(outcomes.map(({ value }) => value)).toEqual([true, true, true])
})

test('one batch is in flight at a time, and the next is decided when it is applied', async () => {
  const first = watched(world.engine.execute(publish('a', 'one')))
  await world.turn()
  const second = watched(world.engine.execute(publish('a', 'two')))
  const third = watched(world.engine.execute(publish('b')))
  await world.turn()
  expect(world.store.begun).toHaveLength(1)
  await world.succeed()
  expect([first.waits, second.waits]).toEqual([false, true])
  await world.gathered()
  expect(world.store.begun[1]).toHaveLength(2)
  expect(world.store.begun[1]?.[0]?.[0]).toMatchObject({ op: 'U', previous: { md5: 'md5 of one' } })
  await world.succeed()
  expect([second.value, third.value]).toEqual([true, true])
})

test('commands that change nothing, and a wrong casMd5, are answered during a commit', async () => {
  world.start(publish('a', 'one'))
  await world.quiet()
  world.start(publish('b'))
  await world.turn()
  expect(world.engine.execute(publish('a', 'one'))).toBe(true)
  const input = publishing('two', { key: keyOf('a'), casMd5: 'another' })
  expect(() => world.engine.execute(publishConfig(input))).toThrow('casMd5')
  const same = watched(world.engine.execute(publish('b')))
  expect(same.waits, 'what is not written yet is not there').toBe(true)
})

describe('a batch waits for returning callers', () => {
  /** Two callers were answered together, and one has come back. */
  async function oneIsBack(): Promise<void> {
    world.start(publish('a', 'one'))
    world.start(publish('b', 'one'))
    await world.commit()
    world.start(publish('a', 'two'))
    await world.turn()
  }

  test('until there are as many as in the last batch', async () => {
    await oneIsBack()
    expect(world.store.begun).toHaveLength(1)
    world.start(publish('b', 'two'))
    await world.turn()
    expect(world.store.begun[1]).toHaveLength(2)
  })

  test('but only a few turns if no other command arrives', async () => {
    await oneIsBack()
    for (let turn = 0; turn < 4; turn++) await world.turn()
    expect(world.store.begun[1]).toHaveLength(1)
  })

  test('but not if other work makes the turns long', async () => {
    await oneIsBack()
    world.nowMs += 10
    await world.turn()
    expect(world.store.begun[1]).toHaveLength(1)
  })

  test('but not after a batch of one', async () => {
    for (const content of ['one', 'two']) {
      world.start(publish('a', content))
      await world.commit()
    }
    expect(world.store.contents.get('a')).toBe('two')
  })

  test('but not for all of many', async () => {
    for (let caller = 0; caller < 100; caller++) world.start(publish(`d${caller}`, 'one'))
    await world.commit()
    for (let caller = 0; caller < 8; caller++) {
      expect(world.store.begun).toHaveLength(1)
      world.start(publish(`d${caller}`, 'two'))
      await world.turn()
    }
    expect(world.store.begun[1]).toHaveLength(8)
  })
})

test('at most 512 commands are in one batch, and the rest follow at once', async () => {
  const outcomes = Array.from({ length: 700 }, (_, at) => watched(world.engine.execute(publish(`d${at}`))))
  await world.quiet()
  expect(world.store.begun.map((groups) => groups.length)).toEqual([512, 188])
  expect(outcomes.every(({ value }) => value === true)).toBe(true)
})

test('a command sees the changes of earlier commands in the batch', async () => {
  const insert = watched(world.engine.execute(publish('a', 'one')))
  const update = watched(world.engine.execute(publish('a', 'two')))
  const again = watched(world.engine.execute(publish('a', 'two')))
  const gone = watched(world.engine.execute(deleteConfig(keyOf('a'), { ip: '', user: null })))
  await world.quiet()
  expect(world.published.map((change) => ('op' in change ? change.op : change.kind))).toEqual([
    'I',
    'U',
    'config-deleted',
    'record-saved',
  ])
  expect([insert, update, again, gone].map(({ value }) => value)).toEqual([true, true, true, true])
  expect(world.state.config(keyOf('a'))).toBeUndefined()
})

test('a command that changes nothing is answered at once, without a commit', () => {
  expect(world.engine.execute(deleteConfig(keyOf('a'), { ip: '', user: null }))).toBe(true)
  expect(() => world.engine.execute(deleteService(ORDERS))).toThrow('not found')
  expect(world.hasDeferred).toBe(false)
})

test('commands on one subject are decided in the order of their arrival, also before their commit starts', async () => {
  world.start(registerInstance(registration()))
  await world.flush()
  const target = { serviceKey: ORDERS, address: registration().address, ephemeral: undefined }
  const left = watched(world.engine.execute(deregisterInstance(target)))
  const back = watched(world.engine.execute(registerInstance(registration())))
  expect(back.waits).toBe(true)
  await world.quiet()
  expect([left.value, back.value]).toEqual(['ok', 'registered'])
  expect(world.state.instanceCount(ORDERS)).toBe(1)
})

describe('a command that was decided on changes in flight', () => {
  test('is answered after them', async () => {
    const made = watched(world.engine.execute(createService(ORDERS, NO_WISH)))
    const twice = watched(world.engine.execute(createService(ORDERS, NO_WISH)))
    const namespace = { id: 'dev', showName: 'dev', desc: '' }
    const listed = watched(world.engine.execute(createNamespace(namespace)))
    const again = watched(world.engine.execute(createNamespace(namespace)))
    await world.turn()
    expect([made.waits, twice.waits, listed.waits, again.waits]).toEqual([true, true, true, true])
    await world.succeed()
    expect(made.value).toBe('ok')
    expect(twice.error).toMatchObject({ code: 'service-exists' })
    expect([listed.value, again.value]).toEqual([true, false])
  })

  test('is decided again if they fail', async () => {
    const made = watched(world.engine.execute(createService(ORDERS, NO_WISH)))
    const twice = watched(world.engine.execute(createService(ORDERS, NO_WISH)))
    const first = watched(world.engine.execute(publish('a', 'same')))
    const same = watched(world.engine.execute(publish('a', 'same')))
    await world.turn()
    await world.fail()
    expect([made.error, first.error]).toEqual([new Error('disk full'), new Error('disk full')])
    expect([twice.waits, same.waits]).toEqual([true, true])
    await world.quiet()
    expect([twice.value, same.value]).toEqual(['ok', true])
    expect(world.store.contents.get('a')).toBe('same')
  })

  test('is decided again: a refusal whose reason has gone becomes a success', async () => {
    world.start(createService(ORDERS, NO_WISH))
    await world.quiet()
    const gone = watched(world.engine.execute(deleteService(ORDERS)))
    const goneTwice = watched(world.engine.execute(deleteService(ORDERS)))
    await world.turn()
    await world.fail()
    await world.quiet()
    expect(gone.error).toBeInstanceOf(Error)
    expect(goneTwice.value).toBe('ok')
  })
})

describe('after a commit that failed, which a crash could still bring back', () => {
  /** An item `a` has the content `one`; to publish `two` has failed. */
  beforeEach(async () => {
    world.start(publish('a', 'one'))
    await world.quiet()
    watched(world.engine.execute(publish('a', 'two')))
    await world.turn()
    await world.fail()
  })

  test('publishing the stored content is answered after the store has written again', async () => {
    const same = watched(world.engine.execute(publish('a', 'one')))
    await world.turn()
    expect(same.waits).toBe(true)
    await world.succeed()
    expect(same.value).toBe(true)
    const again = watched(world.engine.execute(publish('a', 'one')))
    await world.turn()
    expect(again.value, 'no doubt any more').toBe(true)
  })

  test('a commit of which a group is refused does not end the doubt: nothing was written', async () => {
    const bad = watched(world.engine.execute(publish('b', 'bad')))
    await world.turn()
    await world.refuseGroup(0)
    expect(bad.error).toEqual(new Error('bad group 0'))
    const same = watched(world.engine.execute(publish('a', 'one')))
    await world.turn()
    expect(same.waits).toBe(true)
    await world.succeed()
    expect(same.value).toBe(true)
  })

  test('it is refused if the store fails again', async () => {
    const same = watched(world.engine.execute(publish('a', 'one')))
    for (let attempt = 0; attempt < 2; attempt++) {
      await world.turn()
      await world.fail()
    }
    expect(same.error).toEqual(new Error('disk full'))
    expect(world.hasDeferred).toBe(false)
  })

  test('other items are not in doubt', async () => {
    expect(world.engine.execute(deleteConfig(keyOf('b'), { ip: '', user: null }))).toBe(true)
    expect(world.hasDeferred).toBe(false)
  })

  test('the doubt ends after some ticks', async () => {
    await world.flush()
    expect(world.store.begun.at(-1)).toEqual([])
    const again = watched(world.engine.execute(publish('a', 'one')))
    await world.turn()
    expect(again.value).toBe(true)
  })
})

test('a bad group fails only its own caller, and the others are decided and committed again', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((dataId) => watched(world.engine.execute(publish(dataId))))
  const sameAsBad = watched(world.engine.execute(publish('b')))
  await world.turn()
  await world.refuseGroup(1)
  expect(b?.error).toEqual(new Error('bad group 1'))
  expect([a?.waits, c?.waits, sameAsBad.waits]).toEqual([true, true, true])
  await world.quiet()
  expect([a?.value, c?.value, sameAsBad.value]).toEqual([true, true, true])
  expect([...world.store.contents.keys()].sort()).toEqual(['a', 'b', 'c'])
  expect(world.store.begun).toHaveLength(2)
})

test('a failing store fails commands with changes, and waiting commands are tried', async () => {
  const first = watched(world.engine.execute(publish('a')))
  await world.turn()
  const later = watched(world.engine.execute(publish('b')))
  await world.fail()
  expect(first.error).toEqual(new Error('disk full'))
  await world.quiet()
  expect(later.value).toBe(true)
  expect(world.state.config(keyOf('a'))).toBeUndefined()
})

test('a switch for this server only is applied at once and never written', () => {
  expect(world.engine.execute(setSwitch('pushEnabled', 'false', true))).toBe('ok')
  expect(world.state.switches.pushEnabled).toBe(false)
  world.engine.tick()
  expect(world.hasDeferred).toBe(false)
  expect(world.published).toHaveLength(1)
})

describe('close', () => {
  test('refuses new commands, answers the accepted ones and then resolves', async () => {
    const taken = watched(world.engine.execute(publish('a')))
    const closed = watched(world.engine.close())
    expect(() => world.engine.execute(publish('b'))).toThrow('stopping')
    await world.turn()
    expect(closed.waits).toBe(true)
    await world.succeed()
    expect(taken.value).toBe(true)
    expect(closed.waits).toBe(false)
  })

  test('resolves at once without pending commands', async () => {
    const closed = watched(world.engine.close())
    await world.turn()
    expect(closed.waits).toBe(false)
  })

  test('waits for the commit in flight and for the commands behind it', async () => {
    const first = watched(world.engine.execute(publish('a', 'one')))
    await world.turn()
    const second = watched(world.engine.execute(publish('a', 'two')))
    const closed = watched(world.engine.close())
    await world.succeed()
    expect([first.waits, second.waits, closed.waits]).toEqual([false, true, true])
    await world.quiet()
    expect([second.value, closed.waits]).toEqual([true, false])
  })

  test('answers all commands, also if the store cannot write any more', async () => {
    const first = watched(world.engine.execute(publish('a', 'one')))
    const reader = watched(world.engine.execute(publish('a', 'one')))
    const closed = watched(world.engine.close())
    await world.turn()
    await world.fail()
    expect([first.waits, reader.waits, closed.waits]).toEqual([false, true, true])
    await world.turn()
    await world.fail()
    await world.turn()
    expect([reader.error, closed.waits]).toEqual([new Error('disk full'), false])
  })
})
