import { describe, expect, test } from 'vitest'
import { t } from './text.ts'

describe('a value in a sentence', () => {
  test.each([
    ['orders.yml', 'orders.yml has been published.'],
    ['订单', '订单 has been published.'],
    [
      '\u05d4\u05d6\u05de\u05e0\u05d5\u05ea-1',
      '\u2068\u05d4\u05d6\u05de\u05e0\u05d5\u05ea-1\u2069 has been published.',
    ],
    ['a\u0637\u0644\u0628', '\u2068a\u0637\u0644\u0628\u2069 has been published.'],
  ])('%s does not turn the words around it', (name, text) => {
    expect(t('published', { name })).toBe(text)
  })
})
