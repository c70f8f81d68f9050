import { expect, test } from 'vitest'
import { FirstCode } from './first-code.ts'

test('only the code itself is right, however it is written', () => {
  const code = new FirstCode(true)
  const text = code.text!
  expect(text).toMatch(/^([a-hjkmnp-z2-9]{4}-){6}[a-hjkmnp-z2-9]{4}$/)
  for (const same of [text, text.toUpperCase(), text.replaceAll('-', ''), ` ${text.replaceAll('-', ' ')}\n`])
    expect(code.is(same)).toBe(true)
  for (const other of ['', 'undefined', text.slice(0, -1), `${text}a`, new FirstCode(true).text!])
    expect(code.is(other)).toBe(false)
})

test('no code is right where none is needed', () => {
  const code = new FirstCode(false)
  expect(code.text).toBeUndefined()
  for (const text of ['', 'undefined', new FirstCode(true).text!]) expect(code.is(text)).toBe(false)
})
