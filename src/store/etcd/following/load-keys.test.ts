import { expect, test } from 'vitest'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { DamagedKeys } from '../failures/damaged-keys.ts'
import { Keys } from '../keys/keys.ts'
import { loadKeys, loadKind } from './load-keys.ts'

const keys = new Keys('w/')
const ofRevision = { createRevision: 1, modRevision: 1, version: 1, lease: 0n }
const kv: KeyValue = { key: 'w/r/signing-key/a', value: Buffer.from('x'), ...ofRevision }

test('the kept keys learn of keys when everything is loaded, and not from a part at an earlier revision', async () => {
  const learned: string[] = []
  const parts = {
    client: {
      range: () => Promise.resolve({ revision: 5, kvs: [], count: 0, more: false }),
      // oxlint-disable-next-line typescript/require-await
      async *pages({ key }: { key: string }) {
        yield { revision: 5, kvs: kv.key.startsWith(key) ? [kv] : [], count: 1, more: false }
      },
    },
    keys,
    inUse: { look: () => Promise.resolve(5) },
    known: { clear: () => undefined, loaded: () => undefined },
    readParts: () => Promise.reject(new Error('no parts')),
    damaged: new DamagedKeys(() => undefined),
    kept: { loading: () => undefined, loaded: ({ key }: KeyValue) => void learned.push(key) },
  }
  await loadKeys(parts)
  expect(learned).toEqual([kv.key])
  await loadKind(parts, 'small-record', 4)
  expect(learned).toEqual([kv.key])
})
