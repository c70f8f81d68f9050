import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { definitions } from './definitions.ts'
import { settingsHelp, settingsReference } from './reference.ts'

test('docs/settings.md is what `npm run docs` makes of the definitions', () => {
  const written = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  expect(written === settingsReference(), 'stale: run `npm run docs`').toBe(true)
})

test('the help has one line for each setting, with its name, default and meaning', () => {
  const lines = settingsHelp().trimEnd().split('\n')
  expect(lines).toHaveLength(Object.keys(definitions).length)
  expect(lines[1]).toMatch(/^  --port \(8848\) +The TCP port to listen on\./)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(140)
})
