import { beforeEach, describe, expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import { type ConfigItem, type ConfigKey, configKey } from '../core/config/state/config-item.ts'
import { ClientMemory } from '../core/memory/client-memory.ts'
import { KeyPattern } from '../core/text/key-pattern.ts'
import { configPatterns } from './config-patterns.ts'
import { PatternWatch } from './pattern-watch.ts'

let waiting: (() => void)[]
let patterns: PatternWatch<ConfigKey>
const loop = { now: () => 0, soon: (run: () => void) => void waiting.push(run) }
beforeEach(() => {
  waiting = []
  patterns = configPatterns(loop)
})

const keyOf = (dataId: string, namespaceId = 'public') => configKey(namespaceId, 'G', dataId)
const patternOf = (name: string) => new KeyPattern({ namespaceId: 'public', group: 'G', name })
const publish = (key: ConfigKey, op: 'I' | 'U' = 'I') =>
  patterns.onChange({ kind: 'config-published', op, item: { key } as ConfigItem } as Change)
const remove = (key: ConfigKey) => patterns.onChange({ kind: 'config-deleted', key } as Change)

function quiet(): void {
  while (waiting.length > 0) waiting.shift()!()
}

function watch(name: string) {
  const touched: string[] = []
  const hold = patterns.watch(patternOf(name), { touched: ({ dataId }) => void touched.push(dataId) })
  if (hold === 'too-many') throw new Error('too many')
  return { touched, hold }
}

describe('a watcher of a pattern', () => {
  test('is notified of new and deleted items that it means, and of no other change', () => {
    const { touched } = watch('app-*')
    publish(keyOf('app-a'))
    publish(keyOf('app-a'), 'U')
    publish(keyOf('other'))
    publish(keyOf('app-a', 'dev'))
    remove(keyOf('app-b'))
    quiet()
    expect(touched).toEqual(['app-a', 'app-b'])
  })

  test('receives nothing before the change that made it is answered', () => {
    const { touched } = watch('*')
    publish(keyOf('a'))
    expect(touched).toEqual([])
  })

  test('is one of many: all get the same change, whatever their patterns', () => {
    const all = [watch('app-*'), watch('app-*'), watch('*a')]
    publish(keyOf('app-a'))
    quiet()
    expect(all.map(({ touched }) => touched)).toEqual([['app-a'], ['app-a'], ['app-a']])
  })

  test('receives nothing once it has left, also if the change came before', () => {
    const { touched, hold } = watch('*')
    publish(keyOf('a'))
    hold.leave()
    hold.leave()
    quiet()
    expect(touched).toEqual([])
    expect(patterns.size).toBe(0)
  })

  test('may leave while it is notified of a change', () => {
    const names: string[] = []
    const hold = patterns.watch(patternOf('*'), {
      touched: ({ dataId }) => {
        names.push(dataId)
        if (hold !== 'too-many') hold.leave()
      },
    })
    publish(keyOf('a'))
    publish(keyOf('b'))
    quiet()
    expect(names).toEqual(['a'])
  })
})

test('no more watchers are taken than allowed', () => {
  patterns = new PatternWatch<ConfigKey>({
    loop,
    touchedBy: () => undefined,
    most: 1,
    memory: new ClientMemory(),
  })
  const { hold } = watch('a')
  expect(patterns.watch(patternOf('b'), { touched: () => {} })).toBe('too-many')
  hold.leave()
  expect(patterns.watch(patternOf('b'), { touched: () => {} })).not.toBe('too-many')
})
