import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Language, showLanguage, shownAgo, t } from './text.ts'

beforeEach(() => void vi.stubGlobal('document', { documentElement: {} }))
// Other files share this module.
afterEach(async () => {
  await showLanguage('en')
  vi.unstubAllGlobals()
})

test.each<[Language, number, string]>([
  ['en', 0, 'now'],
  ['en', 48, '48 seconds ago'],
  ['zh-CN', 0, '刚刚'],
  ['zh-CN', 48, '48 秒前'],
  ['zh-CN', 180, '3 分钟前'],
  ['zh-CN', 86_400, '昨天'],
])('in %s %d seconds ago is %s', async (language, seconds, shown) => {
  await showLanguage(language)
  expect(shownAgo(1_000_000, 1_000_000 + 1000 * seconds)).toBe(shown)
})

describe('a value in a sentence', () => {
  test.each([
    ['orders.yml', 'orders.yml has been published.'],
    ['订单', '订单 has been published.'],
    [
      '\u05d4\u05d6\u05de\u05e0\u05d5\u05ea-1',
      '\u2068\u05d4\u05d6\u05de\u05e0\u05d5\u05ea-1\u2069 has been published.',
    ],
    ['a\u0637\u0644\u0628', '\u2068a\u0637\u0644\u0628\u2069 has been published.'],
  ])('%s does not turn the words around it', async (name, text) => {
    await showLanguage('en')
    expect(t('published', { name })).toBe(text)
  })
})
