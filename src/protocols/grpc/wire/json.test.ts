import { describe, expect, test } from 'vitest'
import { joinJson, ReadyJson } from './json.ts'
import { textOf } from './sent-json.test-support.ts'

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
