import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configKey } from '../../../../core/config/state/config-item.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { listeningConfigsOf, parseListeningConfigs } from './listening-configs.ts'

const watched = (...fields: string[]) => `${fields.join('\u0002')}\u0001`
const parse = (text: string, maxItems = 10_000) => parseListeningConfigs(text, maxItems)

const name = (maxLength: number) =>
  fc.stringMatching(/^[\p{L}\p{Nd}_.:-]+$/u).map((text) => text.slice(0, maxLength))
const whole = name(60).filter((text) => text !== '' && !/\p{Cs}/u.test(text))
const md5 = fc.constantFrom('', '0cc175b9c0f1b6a831c399e269772661')
const fields = fc.oneof(
  fc.tuple(whole, whole, md5),
  fc.tuple(whole, whole, md5, fc.oneof(fc.constant(''), whole)),
)

test('items come back as they were sent, encoded once or twice, and so do their names', () => {
  fc.assert(
    fc.property(fc.array(fields, { minLength: 1, maxLength: 20 }), fc.boolean(), (sent, encoded) => {
      const text = sent.map((item) => watched(...item)).join('')
      const items = parse(encoded ? encodeURIComponent(text) : text)
      expect(items).toEqual(
        sent.map(([dataId, group, digest, tenant]) => {
          const key = configKey(tenant === undefined || tenant === '' ? 'public' : tenant, group, dataId)
          const named = tenant === undefined ? [dataId, group] : [dataId, group, tenant]
          return { key, md5: digest, echo: watched(...named) }
        }),
      )
    }),
  )
})

test('blanks around names are left out, and come back in the answer', () => {
  const [item] = parse(watched(' a\u3000', '\tG ', 'x', ''))
  expect(item?.key).toEqual(configKey('public', 'G', 'a'))
  expect(item?.echo).toBe(watched(' a\u3000', '\tG ', ''))
  expect(() => parse(watched(' ', 'G', ''))).toThrow(Refusal)
})

test('whatever is sent, it is read or refused', () => {
  const piece = fc.constantFrom(
    '\u0001',
    '\u0002',
    '%',
    '%02',
    '%01',
    '%zz',
    '%ff',
    '+',
    'a',
    'ü',
    '\ud83d\ude00',
    '\ud83d',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        for (const { key, echo } of parse(pieces.join(''))) {
          expect(key.dataId).not.toBe('')
          expect(() => encodeURIComponent(echo)).not.toThrow()
        }
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    }),
  )
})

describe('an item', () => {
  test('that was cut off at the end is dropped', () => {
    expect(parse(`${watched('a', 'g', '')}b\u0002g\u0002`)).toHaveLength(1)
  })

  test.each([
    '',
    ' ',
    'a',
    'a\u0002g\u0002',
    watched(),
    watched('a', 'g'),
    watched('', 'g', 'm'),
    watched('a', '', 'm'),
    watched('a', 'g', 'm', 't', 'x'),
    watched('a'.repeat(257), 'g', ''),
    watched('a', 'g'.repeat(129), ''),
    watched('a', 'g', '', 't'.repeat(129)),
    `${watched('a', 'g', '')}\u0001`,
    '%ff%01',
  ])('like %j is refused', (text) => {
    expect(() => parse(text)).toThrow(Refusal)
  })

  test('more than allowed is refused', () => {
    expect(parse(watched('a', 'g', '').repeat(3), 3)).toHaveLength(3)
    expect(() => parse(watched('a', 'g', '').repeat(4), 3)).toThrow('at most 3 items')
  })

  test('with a broken percent sign keeps it', () => {
    expect(parse(watched('a%', 'g', ''))[0]?.key.dataId).toBe('a%')
  })
})

test('the same text gives the same list, within the limit of whoever asks', () => {
  const text = 'd\u0002g\u0002m\u0001e\u0002g\u0002m\u0001'
  const items = listeningConfigsOf(text, 2)
  expect(items).toEqual(parseListeningConfigs(text, 2))
  expect(listeningConfigsOf(`${text}`, 2)).toBe(items)
  expect(() => listeningConfigsOf(text, 1)).toThrow('at most 1 items')
  for (let other = 0; other < 100; other++) listeningConfigsOf(`${other}\u0002g\u0002m\u0001`, 1)
  expect(listeningConfigsOf(text, 2)).not.toBe(items)
  expect(listeningConfigsOf(text, 2)).toEqual(items)
})
