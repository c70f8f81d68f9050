import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HeaderDecoder } from './header-decoder.ts'
import { headerBlockOf } from './header-encoder.ts'
import { sharedField } from './header-table.ts'

test('equal fields are one object', () => {
  const first = sharedField({ name: 'user-agent', value: 'client 1' })
  expect(sharedField({ name: 'user-agent', value: 'client 1' })).toBe(first)
})

test('a field stays the same, also where its name has a colon or there are very many', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ':', ' '), maxLength: 5 })
  fc.assert(
    fc.property(text, text, (name, value) => {
      expect(sharedField({ name, value })).toEqual({ name, value })
    }),
  )
  for (let number = 0; number < 5_000; number++) {
    const field = { name: 'x', value: `${number}` }
    expect(sharedField(field)).toEqual(field)
  }
})

test('a long field is not kept for others', () => {
  const field = { name: 'x-token', value: 'x'.repeat(500) }
  expect(sharedField({ ...field })).not.toBe(sharedField({ ...field }))
})

test('credentials stay with their connection', () => {
  for (const name of ['authorization', 'cookie']) {
    const field = { name, value: 'secret' }
    expect(sharedField({ ...field })).not.toBe(sharedField({ ...field }))
  }
})

describe('the fields of a block', () => {
  const decoded = (...names: string[]) =>
    new HeaderDecoder(16_384).decode(headerBlockOf(names.map((name) => ({ name, value: 'x' }))))

  test('are one list for all connections that send the same block', () => {
    const list = decoded('a', 'b')
    expect(decoded('a', 'b')).toBe(list)
    expect(decoded('a', 'c').fields.map(({ name }) => name)).toEqual(['a', 'c'])
  })

  test('stay with their connection where one has credentials, or there are very many', () => {
    const many = Array.from({ length: 17 }, (_, index) => `x-${index}`)
    for (const names of [['a', 'authorization'], many]) expect(decoded(...names)).not.toBe(decoded(...names))
  })
})
