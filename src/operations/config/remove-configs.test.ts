import { beforeEach, expect, test } from 'vitest'
import { ANONYMOUS } from '../../core/access/identity.ts'
import type { AuditEntry, RecordingOptions } from '../../core/audit/audit-event.ts'
import { auditedItems } from '../../core/audit/audited-item.ts'
import { deleteConfig } from '../../core/config/commands/publish-config.ts'
import { configKey } from '../../core/config/state/config-item.ts'
import { at, carryOut, published } from '../../core/core.test-support.ts'
import type { Command } from '../../core/decisions/decision.ts'
import { State } from '../../core/engine/state.ts'
import { Refusal } from '../../core/refusal.ts'
import { Guard } from '../guard.ts'
import { idsLeft, removalOperations } from './remove-configs.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const NO_ITEM = 12

let state: State
let events: (AuditEntry & RecordingOptions)[]
/** The names of items whose deletion the store refuses. */
let refused: Set<string>
/** Runs between the look for the items and their deletion. */
let meanwhile: () => void

beforeEach(() => {
  state = new State(0)
  events = []
  refused = new Set()
  meanwhile = () => undefined
})

const keyOf = (dataId: string) => configKey('dev', 'G', dataId)
const publish = (dataId: string): number => published(state, 'x', keyOf(dataId)).origin.id
const nameOf = (dataId: string) => `dev:G:config/${dataId}`

const engine = {
  async execute<T>(command: Command<T>): Promise<T> {
    await Promise.resolve()
    meanwhile()
    if (refused.has(command.subject)) throw new Refusal('store-unavailable', 'The store is away.')
    return carryOut(state, command, at(0))
  },
}

/** Nobody may touch the items `secret`. */
const guard = () =>
  new Guard(
    {
      isOn: true,
      allows: (_caller, _action, resource) => resource.kind !== 'config' || resource.key.dataId !== 'secret',
    },
    {
      record: (entry, options) => void events.push({ ...entry, mayRepeat: false, ...options }),
      tallyOf: () => ({ count: 0 }),
    },
  )

const remove = (...ids: number[]) =>
  removalOperations({ guard: guard(), state, engine }).byIds({ ids }, caller)

test('a deletion of several items names the ones that it has left, in the audit and by their ids', async () => {
  const ids = ['a', 'b', 'refused', 'secret', 'gone'].map(publish)
  const [a = 0, , kept = 0, secret = 0, gone = 0] = ids
  refused.add(keyOf('refused').text)
  let isDone = false
  meanwhile = () => {
    if (isDone) return
    isDone = true
    // Another item has its name by now.
    carryOut(state, deleteConfig(keyOf('gone'), { ip: '', user: null }), at(0))
    publish('gone')
  }
  const removal = await remove(NO_ITEM, ...ids, a)
  expect(idsLeft(removal)).toEqual([NO_ITEM, kept, secret, gone].toSorted((one, other) => one - other))
  expect(removal.stoppedBy?.code).toBe('store-unavailable')
  const [event] = events
  expect(event).toMatchObject({
    result: 'refused',
    code: 'store-unavailable',
    detail: 'deleted 2, unknown 2, not permitted 1, failed 1',
    hasChanged: true,
  })
  const { names, left } = auditedItems(event!.item)
  expect(left).toEqual([...['refused', 'gone', 'secret'].map(nameOf), `id ${NO_ITEM}`])
  expect(names.slice(0, 2)).toEqual(['a', 'b'].map(nameOf))
  expect([...state.configs.all()].map(({ key }) => key.dataId).toSorted()).toEqual([
    'gone',
    'refused',
    'secret',
  ])
})

test('where the store deletes nothing its refusal is thrown, and the event names all items', async () => {
  const ids = ['a', 'b'].map(publish)
  for (const dataId of ['a', 'b']) refused.add(keyOf(dataId).text)
  await expect(remove(...ids)).rejects.toMatchObject({ code: 'store-unavailable' })
  expect(events).toMatchObject([{ result: 'refused', code: 'store-unavailable' }])
  expect(auditedItems(events[0]!.item).names).toEqual(['a', 'b'].map(nameOf))
})

test('a deletion that leaves nothing has no left names, and of ids alone it is named by them', async () => {
  await remove(publish('a'))
  await remove(NO_ITEM)
  expect(events.map(({ result, item, detail }) => [result, item, detail])).toEqual([
    ['done', nameOf('a'), ''],
    ['done', `! id ${NO_ITEM}`, 'deleted 0, unknown 1, not permitted 0'],
  ])
})
