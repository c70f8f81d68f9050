import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readMessage } from './message-reader.ts'
import { toSend, writeMessage } from './payload.ts'

test('a message that is written is read again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const { type, body } = readMessage(Buffer.concat(writeMessage(toSend('SomeResponse', { text }, {}), 0)))
      expect(type).toBe('SomeResponse')
      expect(JSON.parse(Buffer.from(body).toString())).toEqual({ text })
    }),
  )
})
