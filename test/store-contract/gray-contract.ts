import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { deleteConfig, publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { promoteGray } from '../../src/core/config/commands/end-gray.ts'
import { publishGray } from '../../src/core/config/commands/publish-gray.ts'
import { viewOf } from '../../src/core/config/state/config-view.ts'
import { betaRule, type GrayRule, tagRule } from '../../src/core/config/state/gray-rule.ts'
import { grayHistoryKey } from '../../src/core/config/state/gray-version.ts'
import type { ContractStore, StoreBench } from './contract-store.ts'
import { sampleKey } from './samples.ts'
import type { ServerOnStore } from './server-on-store.ts'

const KEY = sampleKey('gray')
const BY = { ip: '10.9.9.9', user: 'ann' }
const HISTORY = { pageNo: 1, pageSize: 100 }

const formal = (text: string) =>
  publishConfig({
    key: KEY,
    content: Buffer.from(text),
    md5: hash('md5', text),
    type: 'yaml',
    notes: {},
    casMd5: undefined,
    operator: BY,
  })
const gray = (name: string, rule: GrayRule, text: string) =>
  publishGray({
    key: KEY,
    name,
    rule,
    content: Buffer.from(text),
    md5: hash('md5', text),
    type: undefined,
    encryptedDataKey: 'k',
    casMd5: undefined,
    operator: BY,
    comment: 'why',
  })

/** The views of clients: of an address with a version of its own, of a tag, and everybody else. */
const seenOn = ({ state }: ServerOnStore) =>
  [{ ip: '10.0.0.1' }, { ip: '', tag: 'x' }, { ip: '' }].map((who) =>
    viewOf(state, KEY, who)?.content.toString(),
  )

/** Gray versions come back as they were published, and end in one commit with what ends them. */
export function grayContract(bench: StoreBench): void {
  test('what clients see is the same after a restart, also of a text that is larger than a key of a store', async () => {
    let store: ContractStore = await bench.fresh()
    const large = 'ä\n'.repeat(300_000)
    const before = await store.serve()
    await before.engine.execute(formal('formal'))
    await before.engine.execute(gray('beta', betaRule('10.0.0.1, 10.0.0.2'), large))
    await before.engine.execute(gray('tag_x', tagRule('x'), 'tagged'))
    expect(seenOn(before)).toEqual([large, 'tagged', 'formal'])
    await before.engine.close()
    store = await bench.reopen(store)
    const after = await store.serve()
    expect(seenOn(after)).toEqual([large, 'tagged', 'formal'])
    await after.engine.execute(gray('beta', betaRule('10.0.0.3'), 'other'))
    expect(seenOn(after)).toEqual(['formal', 'tagged', 'formal'])
    await after.engine.close()
  })

  test('a promotion and a deletion are one commit each, also where the server is killed', async () => {
    let store: ContractStore = await bench.fresh()
    const server = await store.serve()
    await server.engine.execute(formal('formal'))
    await server.engine.execute(gray('beta', betaRule('10.0.0.1'), 'beta'))
    await server.engine.execute(gray('tag_x', tagRule('x'), 'tagged'))
    await server.engine.execute(promoteGray({ key: KEY, name: 'tag_x', operator: BY }))
    store = await bench.crash(store)
    const promoted = await store.serve()
    expect(seenOn(promoted)).toEqual(['tagged', 'tagged', 'tagged'])
    await promoted.engine.execute(gray('beta', betaRule('10.0.0.1'), 'beta'))
    await promoted.engine.execute(deleteConfig(KEY, BY))
    store = await bench.crash(store)
    expect(seenOn(await store.serve())).toEqual([undefined, undefined, undefined])
  })

  test('history has the records of both, and each record of a gray version says which one', async () => {
    const store: ContractStore = await bench.fresh()
    const server = await store.serve()
    await server.engine.execute(formal('formal'))
    await server.engine.execute(gray('beta', betaRule('10.0.0.1'), 'one'))
    await server.engine.execute(gray('beta', betaRule('10.0.0.1'), 'two'))
    await server.engine.execute(gray('tag_x', tagRule('x'), 'tagged'))
    await server.engine.execute(promoteGray({ key: KEY, name: 'beta', operator: BY }))
    const ofGray = await store.reads.history([grayHistoryKey(KEY)], HISTORY)
    const shown = await Promise.all(
      ofGray.entries.map(async ({ id, op, note }) => {
        const record = await store.reads.historyRecord(id)
        expect(record?.note).toEqual(note)
        return [op, note?.gray?.name, record?.content.toString()]
      }),
    )
    expect(shown).toEqual([
      ['D', 'tag_x', 'tagged'],
      ['D', 'beta', 'two'],
      ['I', 'tag_x', 'tagged'],
      ['U', 'beta', 'one'],
      ['I', 'beta', 'one'],
    ])
    const ofFormal = await store.reads.history([KEY], HISTORY)
    expect(ofFormal.entries.map(({ op }) => op)).toEqual(['U', 'I'])
    await server.engine.close()
  })
}
