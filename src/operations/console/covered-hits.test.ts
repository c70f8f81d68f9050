import { expect, test } from 'vitest'
import { configKey } from '../../core/config/state/config-item.ts'
import { carryOut, at, publishing } from '../../core/core.test-support.ts'
import { publishConfig } from '../../core/config/commands/publish-config.ts'
import { State } from '../../core/engine/state.ts'
import { coveredHits } from './covered-hits.ts'

/** The lines of an item as people see them, with `•` for each covered character. */
async function shown(dataId: string, content: string, lines: readonly number[]): Promise<string[]> {
  const state = new State(0)
  const key = configKey('public', 'G', dataId)
  carryOut(state, publishConfig(publishing(content, { key, type: undefined })), at(0))
  const all = content.split('\n')
  const hits = lines.map((line) => ({ line, text: all[line - 1]!.trimEnd() }))
  const covered = await coveredHits(state.config(key)!, hits)
  return covered.map((hit) =>
    hit.covered.reduce(
      (text, { from, to }) => text.slice(0, from) + '•'.repeat(to - from) + text.slice(to),
      hit.text,
    ),
  )
}

test.each([
  [
    'a value below a secret key',
    'a.yaml',
    'secrets:\n  db: abc\nuser: me\n',
    [2, 3],
    ['  db: •••', 'user: me'],
  ],
  [
    'by the end of the name where the type is text',
    'a.properties',
    'x=1\npassword\tab\n',
    [2],
    ['password\t••'],
  ],
  ['behind escapes', 'a.properties', 'u=redis\\://\\:pw@h', [1], ['u=redis\\://\\:••@h']],
  ['after line ends of Windows', 'a.yaml', 'x: 1\r\npassword: ab\r\n', [2], ['password: ••']],
  [
    'after line ends of old systems',
    'a.yaml',
    'x: 1\rpassword: a b\ry: 2',
    [1],
    ['x: 1\rpassword: •••\ry: 2'],
  ],
  ['the whole line of a large content', 'a.yaml', `a: b\n${'x: y\n'.repeat(10_000)}`, [1], ['••••']],
])('%s is covered', async (...[, dataId, content, lines, expected]) => {
  expect(await shown(dataId, content, lines)).toEqual(expected)
})
