import { beforeEach, expect, test } from 'vitest'
import { ANONYMOUS } from '../../core/access/identity.ts'
import { at, livingState, registered } from '../../core/core.test-support.ts'
import { KeyPattern } from '../../core/text/key-pattern.ts'
import { serviceNameOf, type ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import { Guard } from '../guard.ts'
import type { Authorisation } from '../authorisation.ts'
import { servicePatternOperations } from './service-patterns.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const pattern = new KeyPattern({ namespaceId: 'public', group: 'G', name: 'app-*' })
const keyOf = (name: string, namespaceId = 'public'): ServiceKey => {
  return { namespaceId, groupedName: `G@@${name}` }
}

let state: State
let watchers: { touched(key: ServiceKey): void }[]
let forbidden: Set<string>
let touched: string[]
beforeEach(() => {
  state = livingState()
  watchers = []
  forbidden = new Set()
  touched = []
  for (const serviceKey of [keyOf('app-a'), keyOf('app-b'), keyOf('other'), keyOf('app-c', 'dev')])
    registered(state, { serviceKey }, at(0))
})

const judging: Authorisation = {
  isOn: true,
  allows: (_caller, _action, resource) =>
    resource.kind !== 'service' || !forbidden.has(serviceNameOf(resource.key.groupedName)),
}

function watch() {
  const servicePatterns = {
    watch: (_pattern: KeyPattern, watcher: { touched(key: ServiceKey): void }) => {
      watchers.push(watcher)
      return { leave: () => void watchers.pop(), room: { take: () => true, free: () => {} } }
    },
  }
  const { watchPattern } = servicePatternOperations({ guard: new Guard(judging), state, servicePatterns })
  const noted = ({ groupedName }: ServiceKey) => void touched.push(groupedName)
  return watchPattern({ pattern, touched: noted }, caller)
}

test('a pattern means the services of its namespace that the caller may read', () => {
  forbidden.add('app-b')
  const watched = watch()
  expect(watched.keys).toEqual([keyOf('app-a')])
  expect([keyOf('app-a'), keyOf('app-b'), keyOf('app-z')].map((key) => watched.isThere(key))).toEqual([
    true,
    false,
    false,
  ])
})

test('a service that the caller may not read is never reported', () => {
  watch()
  forbidden.add('app-a')
  for (const name of ['app-a', 'app-b']) watchers[0]!.touched(keyOf(name))
  expect(touched).toEqual(['G@@app-b'])
})

test('who leaves watches no more', () => {
  watch().leave()
  expect(watchers).toEqual([])
})
