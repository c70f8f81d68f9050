import { MOST_GROWTH, growth, stepsOf } from './support/steps.ts'
import { expect, test } from 'vitest'

const texts = ['a,'.repeat(200), 'a,'.repeat(1_600)] as const

test('the same work has the same steps', async () => {
  const work = () => JSON.parse(JSON.stringify({ a: texts[1].split(',') }))
  expect(await stepsOf(work)).toBe(await stepsOf(work))
})

test.each<[string, (text: string) => unknown]>([
  [
    'a loop',
    (text) => {
      let sum = 0
      for (const one of text) sum += one.length
      return sum
    },
  ],
  ['splitting', (text) => text.split(',').map((one) => one.length)],
  ['sorting', (text) => text.split('').sort((a, b) => (a < b ? -1 : 1))],
  ['a pattern that is found again and again', (text) => [...text.matchAll(/a/g)].length],
  [
    'searching from where the last search ended',
    (text) => {
      for (let at = 0; (at = text.indexOf(',', at)) >= 0;) at++
    },
  ],
])('linear work is not found: %s', async (_, work) => {
  expect(await growth(work, texts)).toBeLessThan(MOST_GROWTH)
})

test.each<[string, (text: string) => unknown]>([
  [
    'a loop in a loop',
    (text) => {
      let sum = 0
      for (const one of text) for (const two of text) sum += one < two ? 1 : 0
      return sum
    },
  ],
  [
    'slices of the rest',
    (text) => {
      while (text !== '') text = text.slice(1)
    },
  ],
  [
    'a list of known keys',
    (text) => {
      const known: string[] = []
      for (const at of text.split(',').keys()) if (!known.includes(`${at}`)) known.push(`${at}`)
    },
  ],
  [
    'joining what was read so far',
    (text) => {
      let read = Buffer.alloc(0)
      for (const one of text.split(',')) read = Buffer.concat([read, Buffer.from(one)])
    },
  ],
  ['searching from the start', (text) => text.split(',').map((_, at) => text.indexOf('b', at))],
  [
    'a pattern in each slice',
    (text) => {
      for (let at = 0; at < text.length; at += 2) /;/.exec(text.slice(at))
    },
  ],
  [
    'the first of a list',
    (text) => {
      const list = text.split(',')
      while (list.length > 0) list.shift()
    },
  ],
])('quadratic work is found: %s', async (_, work) => {
  expect(await growth(work, texts)).toBeGreaterThan(MOST_GROWTH)
})
