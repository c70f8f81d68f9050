import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settingsReference } from './reference.ts'

test('docs/settings.md is what `npm run docs` makes of the definitions', () => {
  const written = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  expect(written === settingsReference(), 'stale: run `npm run docs`').toBe(true)
})
