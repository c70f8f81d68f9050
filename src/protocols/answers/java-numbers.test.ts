import { assert, double, property, string, dictionary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimalText, javaJson } from './java-numbers.ts'

describe('a double', () => {
  test.each([
    [0, '0.0'],
    [-0, '0.0'],
    [1, '1.0'],
    [-1, '-1.0'],
    [0.5, '0.5'],
    [100, '100.0'],
    [0.001, '0.001'],
    [0.0001, '1.0E-4'],
    [0.00012, '1.2E-4'],
    [9_999_999, '9999999.0'],
    [1e7, '1.0E7'],
    [12_345_678, '1.2345678E7'],
    [1e21, '1.0E21'],
    [1e-7, '1.0E-7'],
    [1.5e-7, '1.5E-7'],
    [1e300, '1.0E300'],
  ])('%s is written as %s', (value, text) => {
    expect(decimalText(value)).toBe(text)
  })

  test('is always the same number in JSON, and has a fraction or an exponent', () => {
    assert(
      property(double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(JSON.parse(decimalText(value))).toBe(value === 0 ? 0 : value)
        expect(decimalText(value)).toMatch(/^-?\d+\.\d+(E-?\d+)?$/)
      }),
    )
  })
})

describe('JSON as Java writes it', () => {
  test('has the doubles of naming at any depth, and other numbers as they are', () => {
    const value = {
      weight: 1,
      port: 80,
      list: [{ protectThreshold: 0, cpu: 1 }],
      mem: 0.25,
      weights: 1,
      x: { load: 1e-7 },
    }
    expect(javaJson(value)).toBe(
      '{"weight":1.0,"port":80,"list":[{"protectThreshold":0.0,"cpu":1.0}],"mem":0.25,"weights":1,"x":{"load":1.0E-7}}',
    )
  })

  test('leaves texts alone, whatever is in them', () => {
    assert(
      property(dictionary(string(), string()), string(), (metadata, text) => {
        const value = { metadata, text, more: ['"weight":1', '\\"weight\\":1,'], weight: 'x' }
        expect(JSON.parse(javaJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(javaJson(value)).toBe(JSON.stringify(value))
      }),
    )
  })
})
