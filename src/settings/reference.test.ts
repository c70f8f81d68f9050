import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { definitions, SETTING_GROUPS } from './definitions.ts'
import { settingsReference } from './reference.ts'
import { undocumentedDefinitions } from './undocumented-definitions.ts'

test('docs/settings.md is the output of `npm run docs` for the definitions', () => {
  const written = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  expect(written === settingsReference(), 'stale: run `npm run docs`').toBe(true)
})

test('each setting is in one group, or undocumented', () => {
  const grouped = Object.values(SETTING_GROUPS).flatMap((group) => Object.keys(group))
  grouped.push(...Object.keys(undocumentedDefinitions))
  expect(grouped.toSorted()).toEqual(Object.keys(definitions).toSorted())
})
