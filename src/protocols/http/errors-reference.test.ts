import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorsReference } from './errors-reference.ts'

test('docs/errors.md is as `npm run docs` makes it from the tables', () => {
  const written = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  expect(written === errorsReference(), 'stale: run `npm run docs`').toBe(true)
})
