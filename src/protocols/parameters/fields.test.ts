import { type Schema, Type, SVC_RULES } from './schema.ts'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import * as fields from './fields.ts'
import { splitClusters, toGroupedName } from './grouped-name.ts'
import { compileField, type FieldSchema } from './parameter-field.ts'
import { compileReader } from './parameter-reader.ts'

const SCHEMAS = Object.entries<unknown>(fields).filter(
  (entry): entry is [string, Schema] => typeof entry[1] === 'object',
)

function accepts(schema: Schema, text: string): boolean {
  try {
    compileField('field', schema as FieldSchema, SVC_RULES)(text)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

describe('every field', () => {
  test.each(SCHEMAS)('%s can be read, has a description, and is bounded', (name, schema) => {
    const field = schema as FieldSchema
    expect(() => compileField(name, field, SVC_RULES)).not.toThrow()
    expect(field.description).toMatch(/\.$/)
    if (field.type === 'string') expect(field.maxLength ?? field.maxBytes).toBeDefined()
    if (field.type === 'integer') expect(field.maximum).toBeDefined()
  })
})

describe('names', () => {
  test.each(['a', 'com.example:app-1_x.yml', '配置.yaml', 'x'.repeat(256)])('%.30s is a dataId', (text) => {
    expect(accepts(fields.dataId, text)).toBe(true)
  })
  test.each(['', 'a b', 'a/b', 'a#b', 'a\u0002', 'a\n', '<b>', '%41', '😀', 'x'.repeat(257)])(
    '%.30s is no dataId',
    (text) => {
      expect(accepts(fields.dataId, text)).toBe(false)
    },
  )
  test.each(['a.b', 'a b', 'x'.repeat(65), '中', '../x'])('%.30s is no namespace id', (text) => {
    expect(accepts(fields.namespaceId, text)).toBe(false)
    expect(accepts(fields.tenant, text)).toBe(false)
  })
  test.each(['s', 'G@@s', 'a.b:c-d_e', 'providers:com.x.Y:1.0:', 'a@b', 'x'.repeat(512)])(
    '%.30s is a service name',
    (text) => {
      expect(accepts(fields.serviceName, text)).toBe(true)
    },
  )
  test.each(['@@s', '@s', 'G@@', 'a b', '服务', 'a\u0002b', '', 'x'.repeat(513)])(
    '%.30s is no service name',
    (text) => {
      expect(accepts(fields.serviceName, text)).toBe(false)
    },
  )
  test.each(['1.1.1.1', '::1', 'fe80::1', 'host-1.example', 'my_host'])('%s is an ip', (text) => {
    expect(accepts(fields.ip, text)).toBe(true)
  })
  test.each(['', '1.1.1.1 ', 'a b', '中', 'a#b', 'a/b', 'u@h', 'a\r\nb', 'x'.repeat(129)])(
    '%.30s is no ip',
    (text) => {
      expect(accepts(fields.ip, text)).toBe(false)
    },
  )
  test.each([
    ['a_B-9', true],
    ['a.b', false],
    ['x'.repeat(65), false],
  ])('cluster %.30s: %s', (text, good) => {
    expect(accepts(fields.clusterName, text)).toBe(good)
  })
  test.each([
    ['dev', true],
    ['开发 环境', true],
    ['a#b', false],
    ['   ', false],
    ['x'.repeat(257), false],
  ])('namespace name %.30s: %s', (text, good) => {
    expect(accepts(fields.namespaceName, text)).toBe(good)
  })
  test.each([
    ['a,b,c,d,e', true],
    ['a,b,c,d,e,f', false],
    ['x'.repeat(65), false],
  ])('tags %.30s: %s', (text, good) => {
    expect(accepts(fields.configTags, text)).toBe(good)
  })
})

test('content is counted in bytes, and is not blank', () => {
  expect(accepts(fields.content, 'a'.repeat(fields.MAX_CONTENT_BYTES))).toBe(true)
  expect(accepts(fields.content, `${'中'.repeat(3_495_253)}a`)).toBe(true)
  expect(accepts(fields.content, '中'.repeat(3_495_254))).toBe(false)
  expect(accepts(fields.content, ' \r\n\t')).toBe(false)
})

test('grouped names', () => {
  expect(toGroupedName('s', 'G')).toBe('G@@s')
  expect(toGroupedName('H@@s', 'G')).toBe('H@@s')
  expect(() => toGroupedName('a b@@s', 'G')).toThrow(Refusal)
  expect(splitClusters(' a ,,b,')).toEqual(['a', 'b'])
})

test('a variation of a field changes only itself', () => {
  const healthy = Type.Optional(fields.withAliases(fields.healthy, 'valid'))
  const weight = fields.withDefault(fields.weight, 1)
  const read = compileReader(Type.Object({ healthy, weight }), SVC_RULES)
  expect(read(new Map([['valid', 'true']]))).toEqual({ healthy: true, weight: 1 })
  expect((fields.healthy as FieldSchema).aliases).toBeUndefined()
  expect((fields.weight as FieldSchema).default).toBeUndefined()
})
