import { expect, test } from 'vitest'
import { StoreFaults } from './store-faults.ts'

test('a fault lasts from when it was first seen until it is gone, and those of etcd are logged each time that they come', () => {
  let nowMs = 1_000
  const files = { apart: undefined as readonly string[] | undefined, isCorrupt: false }
  const damaged: { key: string; problem: string }[] = []
  const logged: string[] = []
  const faults = new StoreFaults({
    store: { nestedPrefixes: async () => [], damaged, missing: undefined },
    files,
    log: {
      warn: () => undefined,
      error: (_facts: object, title: string) => void logged.push(title),
    } as never,
    monotonicMs: () => nowMs,
  })
  const seen = (): string[] => faults.current.map(({ code, forMs }) => `${code} for ${forMs}`)
  expect(seen()).toEqual([])
  files.isCorrupt = true
  damaged.push({ key: 'w/s/public/a', problem: 'it is no JSON' })
  expect(seen()).toEqual(['etcd-corrupt for 0', 'damaged for 0'])
  expect(faults.current[0]!.reason).toContain('its members have different data')
  nowMs += 500
  files.apart = ['a:1', 'b:2']
  expect(seen()).toEqual(['etcd-corrupt for 500', 'etcd-apart for 0', 'damaged for 500'])
  files.isCorrupt = false
  expect(seen()).toEqual(['etcd-apart for 0', 'damaged for 500'])
  nowMs += 1
  files.isCorrupt = true
  expect(seen()).toEqual(['etcd-corrupt for 0', 'etcd-apart for 1', 'damaged for 501'])
  expect(logged).toEqual([
    'etcd has raised its alarm CORRUPT and refuses every write',
    'the endpoints of etcd are not one cluster',
    'etcd has raised its alarm CORRUPT and refuses every write',
  ])
})
