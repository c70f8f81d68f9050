import { expect, test } from 'vitest'
import { ResponseReader } from './responses.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked'
const SECOND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno'

test('chunks end by their sizes, whatever their content, and wherever the bytes are cut', () => {
  // What a request holds that was published as an item, and exported: it looks like the last chunk.
  const chunks = 'b\r\nlength: 0\r\n\r\n4\r\n\r\nPK\r\n0\r\n\r\n'
  const bytes = Buffer.from(`${HEAD}\r\n\r\n${chunks}${SECOND}`)
  for (let cut = 0; cut < bytes.length; cut++) {
    const reader = new ResponseReader()
    const found = [...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut))]
    expect(found).toEqual([
      { status: 200, head: HEAD, body: chunks },
      { status: 404, head: 'HTTP/1.1 404 Not Found\r\nContent-Length: 2', body: 'no' },
    ])
  }
})

test('a chunk that is longer than it says is no answer', () => {
  const reader = new ResponseReader()
  expect(() => reader.push(Buffer.from(`${HEAD}\r\n\r\n1\r\nxyz\r\n`))).toThrow('does not end')
})
