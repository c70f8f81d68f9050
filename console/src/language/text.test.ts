import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Language, showLanguage, shownAgo } from './text.ts'

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
