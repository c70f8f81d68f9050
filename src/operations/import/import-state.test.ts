import { expect, test } from 'vitest'
import { ANONYMOUS } from '../../core/access/identity.ts'
import { at, carryOut, WALL_MS } from '../../core/core.test-support.ts'
import type { Command } from '../../core/decisions/decision.ts'
import { State } from '../../core/engine/state.ts'
import { NAMESPACE } from '../../core/namespaces/namespace.ts'
import { deleteNamespace } from '../../core/namespaces/namespace-commands.ts'
import { Guard } from '../guard.ts'
import type { ImportedState, ImportLine } from './imported-things.ts'
import { importOperations } from './import-state.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }

test('calls that come at once remember what each of them has brought: a later one does not bring back what was deleted', async () => {
  const state = new State(WALL_MS)
  const values = new Map<string, string>()
  const imports = importOperations({
    state,
    engine: { execute: <T>(command: Command<T>) => carryOut(state, command, at(0)) },
    guard: new Guard({ isOn: false, allows: () => true }),
    signIn: { passwords: { matchesBcrypt: () => Promise.resolve(false) } },
    connectionInstances: { process: 'this' },
    store: {
      reads: () => ({ historyBefore: () => Promise.resolve(undefined) }),
      recall: (name) => Promise.resolve(values.get(name)),
      remember: async (name, value) => void values.set(name, value),
    },
  })
  const bring = (name: string): Promise<ImportedState> => {
    const lines = Array.from({ length: 40 }, (_, index): ImportLine => {
      const namespace = { id: `${name}-${index}`, showName: name, desc: '' }
      return { line: index + 2, thing: { kind: 'namespace', namespace } }
    })
    const read = () => Promise.resolve({ lastRefMs: 0, lines })
    return imports.state({ read, overwrite: false, administrators: new Set() }, caller)
  }
  const first = await Promise.all([bring('one'), bring('other')])
  expect(first.map(({ taken }) => taken)).toEqual([40, 40])
  for (const [id] of Array.from(state.records(NAMESPACE))) carryOut(state, deleteNamespace(id), at(0))
  const later = [await bring('one'), await bring('other')]
  expect(later.map(({ kept }) => kept)).toEqual([40, 40])
})
