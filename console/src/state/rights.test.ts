import { describe, expect, test } from 'vitest'
import { allows, type Wanted } from './rights.ts'

const config: Wanted = { action: 'w', kind: 'config', namespaceId: 'prod', group: 'SHOP', name: 'app-a.yaml' }
const may = (resource: string, wanted: Wanted = config): boolean =>
  allows([{ resource, action: 'rw' }], wanted)

describe('a permission allows', () => {
  test('what its pattern matches, and nothing else', () => {
    for (const resource of ['*:*:*', 'pro*:*:*', 'prod:*:*', 'prod:S*P:config/app-*', 'prod:*:config/*a.y*l'])
      expect(may(resource), resource).toBe(true)
    for (const resource of ['pro:*:*', ':*:*', 'prod:SHOP:naming/*', 'prod:SHO:*', 'prod:SHOP:config/app-'])
      expect(may(resource), resource).toBe(false)
    expect(allows([{ resource: 'prod:*:*', action: 'r' }], config)).toBe(false)
    expect(may('operator/metrics')).toBe(false)
  })

  test('something in a namespace where a part of it is allowed', () => {
    const any: Wanted = { action: 'w', kind: 'config', namespaceId: 'prod' }
    expect(may('prod:SHOP:config/app-*', any)).toBe(true)
    expect(may('prod:SHOP:naming/*', any)).toBe(false)
    expect(may('prod:SHOP:naming/*', { action: 'w', namespaceId: 'prod' })).toBe(true)
  })

  test('the same in public by both of its names, and names with colons', () => {
    for (const resource of [':*:*', 'public:*:*']) {
      expect(may(resource, { ...config, namespaceId: '' })).toBe(true)
      expect(may(resource)).toBe(false)
    }
    expect(may('prod:a:b:config/c:d', { ...config, group: 'a:b', name: 'c:d' })).toBe(true)
    expect(
      may('prod:G:naming/a:config/b', { ...config, kind: 'naming', group: 'G', name: 'a:config/b' }),
    ).toBe(true)
  })
})
