import { expect, test } from 'vitest'
import { formatOf } from './format-of.ts'

test.each([
  ['text', 'x.json', 'json'],
  ['unset', 'x.YML', 'yaml'],
  ['text', 'x.txt', 'text'],
  ['text', 'x.conf', 'text'],
  ['unset', 'x', 'unset'],
  ['yaml', 'x.json', 'yaml'],
])('an item of type %s with the name %s is shown as %s', (type, dataId, format) =>
  expect(formatOf(type, dataId)).toBe(format),
)
