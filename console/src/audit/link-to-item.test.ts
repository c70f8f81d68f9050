import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('location', { hash: '' })
  vi.stubGlobal('history', { replaceState: () => {} })
  vi.stubGlobal('addEventListener', () => {})
})

import { linkToItem } from './link-to-item.ts'

test.each([
  ['public:G:config/app.yaml', 'config', 'G', 'app.yaml'],
  ['dev:a:b:config/app.yaml', 'config', 'a:b', 'app.yaml'],
  ['dev:G:naming/orders', 'service', 'G', 'orders'],
  ['dev:G:naming/x:config', 'service', 'G', 'x:config'],
  ['dev:G:naming/x:config/app.yaml', 'service', 'G', 'x:config'],
  ['dev:a:config:naming/orders', 'service', 'a:config', 'orders'],
])('%s is a %s', (...[item, view, group, name]) => {
  const link = decodeURIComponent(linkToItem(item, 1) ?? '').replaceAll('+', ' ')
  expect(link).toContain(`#/${view}`)
  expect(link).toMatch(new RegExp(`group=${group}(&|$)`))
  expect(link).toMatch(new RegExp(`(name|dataId)=${name}(&|$)`))
})

test.each(['operator', 'dev:G:naming/*', 'user alice'])('%s has no place', (item) =>
  expect(linkToItem(item, 1)).toBeUndefined(),
)
