import { beforeEach, describe, expect, test } from 'vitest'
import { ANONYMOUS } from '../../core/access/identity.ts'
import { configKey } from '../../core/config/state/config-item.ts'
import { carryOut, at, livingState, publishing } from '../../core/core.test-support.ts'
import { publishConfig, deleteConfig } from '../../core/config/commands/publish-config.ts'
import { KeyPattern } from '../../core/text/key-pattern.ts'
import type { State } from '../../core/engine/state.ts'
import { configPatternOperations } from './config-patterns.ts'
import { Guard } from '../guard.ts'
import type { Authorisation } from '../authorisation.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const keyOf = (dataId: string, namespaceId = 'public') => configKey(namespaceId, 'G', dataId)
const pattern = new KeyPattern({ namespaceId: 'public', group: 'G', name: 'app-*' })

let state: State
let watchers: Set<{ touched(key: unknown): void }>
let forbidden: Set<string>
let touched: string[]
beforeEach(() => {
  state = livingState()
  watchers = new Set()
  forbidden = new Set()
  touched = []
  for (const key of [keyOf('app-a'), keyOf('app-b'), keyOf('other'), keyOf('app-c', 'dev')])
    carryOut(state, publishConfig(publishing('x', { key })), at(0))
})

const judging: Authorisation = {
  isOn: true,
  allows: (_caller, _action, resource) => resource.kind !== 'config' || !forbidden.has(resource.key.dataId),
}

function watch(isFull = false) {
  const keeper = {
    watch: (_pattern: KeyPattern, watcher: { touched(key: never): void }) => {
      if (isFull) return 'too-many' as const
      watchers.add(watcher as { touched(key: unknown): void })
      const leave = () => void watchers.delete(watcher as { touched(key: unknown): void })
      return { leave, room: { take: () => true, free: () => {} } }
    },
  }
  const { watchPattern } = configPatternOperations({
    guard: new Guard(judging),
    state,
    configPatterns: keeper,
  })
  return watchPattern({ pattern, touched: (key) => void touched.push(key.dataId) }, caller)
}

describe('a watched pattern', () => {
  test('means the items of its namespace whose names match', () => {
    expect(watch().keys.map(({ dataId }) => dataId)).toEqual(['app-a', 'app-b'])
  })

  test('leaves out items that the caller may not read, now and later', () => {
    forbidden.add('app-a')
    const { keys, isThere } = watch()
    expect(keys.map(({ dataId }) => dataId)).toEqual(['app-b'])
    for (const watcher of watchers) for (const dataId of ['app-a', 'app-b']) watcher.touched(keyOf(dataId))
    expect(touched).toEqual(['app-b'])
    expect([keyOf('app-a'), keyOf('app-b')].map(isThere)).toEqual([false, true])
  })

  test('says whether an item is there at the moment', () => {
    const { isThere } = watch()
    carryOut(state, deleteConfig(keyOf('app-a'), { ip: '', user: null }), at(1))
    expect([keyOf('app-a'), keyOf('app-b')].map(isThere)).toEqual([false, true])
  })

  test('is given up when its client leaves', () => {
    watch().leave()
    expect(watchers.size).toBe(0)
  })

  test('is refused where there are too many', () => {
    expect(() => watch(true)).toThrow(expect.objectContaining({ code: 'too-many-patterns' }))
  })

  test('is refused where too much matches', () => {
    for (let index = 0; index <= 10_000; index++)
      carryOut(state, publishConfig(publishing('x', { key: keyOf(`app-${index}`) })), at(index))
    expect(() => watch()).toThrow(expect.objectContaining({ code: 'too-many-matches' }))
    expect(watchers.size).toBe(0)
  })
})
