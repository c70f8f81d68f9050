import { expect, test } from 'vitest'
import { filterIn } from './filter-text.ts'

test.each([
  ['shop', {}, 'shop'],
  ['group:SHOP', { group: 'SHOP' }, ''],
  ['group:SHOP tag:red,blue pay', { group: 'SHOP', tag: 'red,blue' }, 'pay'],
  ['pay Type:YAML', { type: 'YAML' }, 'pay'],
  ['content:b: 2', { content: 'b: 2' }, ''],
  ['content:"a b" app', { content: 'a b' }, 'app'],
  ['key:server.port content:pool size', { key: 'server.port', content: 'pool size' }, ''],
  ['subgroup:x', {}, 'subgroup:x'],
  ['group:', {}, 'group:'],
])('%j is read when it is done', (typed, named, rest) => {
  expect(filterIn(typed, true)).toEqual({ named, rest })
})

test.each([
  ['group:SHO', {}, 'group:SHO'],
  ['group:SHOP ', { group: 'SHOP' }, ''],
  ['pay group:SHOP t', { group: 'SHOP' }, 'pay t'],
  ['content:b: 2 and', {}, 'content:b: 2 and'],
  ['content:"b: 2"', { content: 'b: 2' }, ''],
])('%j is read while it is typed', (typed, named, rest) => {
  const found = filterIn(typed, false)
  expect({ ...found, rest: found.rest.trim() }).toEqual({ named, rest })
})
