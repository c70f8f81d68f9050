import { expect, test } from 'vitest'
import type { SigningKey } from '../../core/access/access-records.ts'
import { configKey } from '../../core/config/state/config-item.ts'
import { importConfigs, type ImportItem, type ImportParts } from './import-configs.ts'

const ITEM: ImportItem = {
  key: configKey('', 'G', 'a'),
  type: 'text',
  notes: {},
  bytes: 1,
  read: async () => Buffer.from('x'),
}

/** The state of the item on a server with these signing keys, the oldest first. */
function server(secrets: readonly string[], md5 = 'one') {
  const keys = secrets.map((secret, createdStamp): [string, SigningKey] => {
    return [secret, { secret, createdStamp, verifiesUntilMs: null, leakedBefore: 0 }]
  })
  const state = { config: () => ({ md5, notes: {} }), records: () => keys } as unknown as ImportParts['state']
  const publish = async () => undefined
  const carryOut = (dryRun: boolean, seenState?: string) =>
    importConfigs({ state, publish }, [ITEM], { policy: 'OVERWRITE', dryRun, seenState })
  return {
    seen: async () => (await carryOut(true)).state,
    isTaken: (seenState: string) =>
      carryOut(false, seenState).then(
        () => true,
        () => false,
      ),
  }
}

test('nobody can compute the state token of a dry run without a key of the server', async () => {
  const seen = await server(['k1']).seen()
  expect(seen).toMatch(/^[0-9a-f]{64}$/)
  expect(await server(['k1']).seen()).toBe(seen)
  expect(await server(['other']).seen()).not.toBe(seen)
  expect(await server(['k1'], 'two').seen()).not.toBe(seen)
})

test('the state token counts on all servers, as long as its key does', async () => {
  const seen = await server(['k1']).seen()
  expect(await server(['k1', 'k2']).isTaken(seen)).toBe(true)
  expect(await server(['k2']).isTaken(seen)).toBe(false)
  expect(await server(['k1', 'k2'], 'two').isTaken(seen)).toBe(false)
  expect(await server(['k1', 'k2']).seen()).toBe(await server(['k2']).seen())
})

test.each([
  ['a\u3164b', true],
  ['a b', false],
])('a dry run refuses the tag %j as a publish does: %s', async (configTags, isRefused) => {
  const state = { config: () => undefined, record: () => undefined, records: () => [] } as unknown
  const parts = { state: state as ImportParts['state'], publish: async () => undefined }
  const { failed, stoppedBy } = await importConfigs(parts, [{ ...ITEM, notes: { configTags } }], {
    policy: 'SKIP',
    dryRun: true,
  })
  expect([failed.length, stoppedBy?.code]).toEqual(isRefused ? [1, 'invalid-parameter'] : [0, undefined])
})
