import { expect, test } from 'vitest'
import { at, carryOut, WALL_MS } from '../../core/core.test-support.ts'
import { State } from '../../core/engine/state.ts'
import { NAMESPACE } from '../../core/namespaces/namespace.ts'
import { createNamespace, deleteNamespace } from '../../core/namespaces/namespace-commands.ts'
import { ImportMarks } from './import-marks.ts'
import type { ImportLine } from './imported-things.ts'

test('two servers that import at a time keep the marks of both', async () => {
  const state = new State(WALL_MS)
  const values = new Map<string, string>()
  const store = {
    recall: (name: string) => Promise.resolve(values.get(name)),
    remember: async (name: string, value: string) => void values.set(name, value),
  }
  const linesOf = (name: string) =>
    Array.from({ length: 40 }, (_, line): ImportLine => {
      const namespace = { id: `${name}-${line}`, showName: name, desc: '' }
      return { line, thing: { kind: 'namespace', namespace } }
    })
  const imports = ['one', 'other'].map((name) => ({
    lines: linesOf(name),
    marks: new ImportMarks({ state, store }),
  }))
  for (const { marks, lines } of imports) await marks.prepare(lines)
  for (const { marks, lines } of imports) {
    for (const { thing } of lines) {
      if (thing.kind === 'namespace') carryOut(state, createNamespace(thing.namespace), at(0))
      marks.note(thing)
    }
    await marks.save()
  }
  for (const [id] of Array.from(state.records(NAMESPACE))) carryOut(state, deleteNamespace(id), at(0))
  const later = new ImportMarks({ state, store })
  for (const { lines } of imports) {
    await later.prepare(lines)
    expect(lines.filter(({ thing }) => !later.isDeletedHere(thing))).toEqual([])
  }
})
