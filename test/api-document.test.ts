import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { apiDocument } from '../src/api-document.ts'

test('docs/openapi.json is what `npm run docs` makes of the route table', () => {
  const written = readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')
  expect(written === apiDocument(), 'stale: run `npm run docs`').toBe(true)
})
