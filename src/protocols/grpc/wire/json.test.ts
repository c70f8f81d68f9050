import { describe, expect, test } from 'vitest'
import { joinJson, parseBody, ReadyJson } from './json.ts'
import { textOf } from './sent-json.test-support.ts'

describe('a body', () => {
  test('is the JSON object that its bytes spell', () => {
    expect(parseBody(Buffer.from('{"dataId":"a","tenant":null}'))).toEqual({ dataId: 'a', tenant: null })
  })

  test('of no bytes is an empty object', () => {
    expect(parseBody(new Uint8Array())).toEqual({})
  })

  test.each(['[1]', 'null', '"a"', '{', '{"a":1}}', '\ufeff\u0000'])('that is %s is refused', (text) => {
    expect(() => parseBody(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'malformed-request' }))
  })

  test('that is nested deeply is refused', () => {
    const text = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    expect(() => parseBody(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'too-deep' }))
  })
})

test('a body of very many values is refused before it is parsed', () => {
  const text = `{"metadata":{${Array.from({ length: 500_001 }, (_, index) => `"${index}":1`).join(',')}}}`
  expect(() => parseBody(Buffer.from(text))).toThrow('at most 500000 values')
})

describe('the JSON of two objects', () => {
  test.each([
    [{ a: 1 }, { b: 'x', c: undefined }, '{"a":1,"b":"x"}'],
    [{ a: 1 }, {}, '{"a":1}'],
    [{}, { b: 2 }, '{"b":2}'],
    [{}, {}, '{}'],
    [
      { requestId: '7' },
      new ReadyJson('{"serviceInfo":{"hosts":[]}}'),
      '{"requestId":"7","serviceInfo":{"hosts":[]}}',
    ],
    [{ requestId: '7' }, new ReadyJson('{}'), '{"requestId":"7"}'],
    [
      { requestId: 'ü' },
      new ReadyJson('{"list":', Buffer.from('["ä"]'), '}'),
      '{"requestId":"ü","list":["ä"]}',
    ],
    [
      { requestId: '7' },
      new ReadyJson('{"list":', { head: Buffer.from('['), rest: [Buffer.from('1'), Buffer.from(']')] }, '}'),
      '{"requestId":"7","list":[1]}',
    ],
  ])('has the keys of both, in order', (first, rest, text) => {
    const json = joinJson(first, rest)
    expect(textOf(json)).toBe(text)
    expect(json.bytes).toBe(Buffer.byteLength(text))
  })
})
