import { beforeEach, expect, test } from 'vitest'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { DamagedKeys } from '../failures/damaged-keys.ts'
import { Keys } from '../keys/keys.ts'
import { loadKeys, loadKind } from './load-keys.ts'

const keys = new Keys('w/')
const ofRevision = { createRevision: 1, modRevision: 1, version: 1, lease: 0n }
const damagedKey: KeyValue = { key: 'w/r/signing-key/a', value: Buffer.from('x'), ...ofRevision }

let stored: readonly KeyValue[]
let damaged: DamagedKeys
/** The keys that the kept keys have learned of. */
let learned: string[]
/** Reads wait for it. */
let reading: Promise<void>

beforeEach(() => {
  stored = [damagedKey]
  damaged = new DamagedKeys(() => undefined)
  learned = []
  reading = Promise.resolve()
})

const partsNow = () => ({
  client: {
    range: () => Promise.resolve({ revision: 5, kvs: [], count: 0, more: false }),
    async *pages({ key }: { key: string }) {
      await reading
      const kvs = stored.filter((one) => one.key.startsWith(key))
      yield { revision: 5, kvs, count: kvs.length, more: false }
    },
  },
  keys,
  inUse: { look: () => Promise.resolve(5) },
  known: { clear: () => undefined, loaded: () => undefined },
  readParts: () => Promise.reject(new Error('no parts')),
  damaged,
  kept: { loading: () => undefined, loaded: ({ key }: KeyValue) => void learned.push(key) },
})

test('the kept keys learn of keys when everything is loaded, and not from a part at an earlier revision', async () => {
  await loadKeys(partsNow())
  expect(learned).toEqual([damagedKey.key])
  await loadKind(partsNow(), 'small-record', 4)
  expect(learned).toEqual([damagedKey.key])
})

test('a damaged key stays one while it is read again, until it is gone', async () => {
  await loadKeys(partsNow())
  let letGo = (): void => undefined
  reading = new Promise((resolve) => (letGo = resolve))
  const loading = loadKind(partsNow(), 'small-record', 5)
  expect(damaged.has(damagedKey.key)).toBe(true)
  letGo()
  await loading
  expect(damaged.has(damagedKey.key)).toBe(true)
  stored = []
  await loadKind(partsNow(), 'small-record', 5)
  expect(damaged.size).toBe(0)
})
