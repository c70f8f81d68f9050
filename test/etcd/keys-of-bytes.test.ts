/** Keys in etcd that are no UTF-8: each is left out, named in hex, and read once. */
import { expect, test } from 'vitest'
import { keyText } from '@waypost/etcd-client/key-text'
import { describeOnEtcd } from '../support/etcd.ts'
import { publish, register, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const { put, servers, start } = here
const WAIT = { timeout: 20_000 }
/** The folders that servers follow, and those that are read on demand. */
const FOLLOWED = 'b c e g h i k p q r s r/user c/public/G'.split(' ')
const ON_DEMAND = 'a v w x y'.split(' ')

const odd = (folder: string, rest: string): string =>
  keyText(Buffer.concat([Buffer.from(folder), Buffer.of(0xff, 0xfe), Buffer.from(rest)]))

describeOnEtcd('keys that are no UTF-8', 120_000, () => {
  test('of every folder are left out by running servers, new ones and the doctor, and can be removed', async () => {
    const server = await start('bytes', 1)
    await server.engine.execute(publish('sound', { md5: '8a3fd7adae8ce6d2ee2f2a6fb54e2bd0' }))
    await server.engine.execute(register(80))
    const all = [...FOLLOWED, ...ON_DEMAND].map((folder) => odd(`bytes/${folder}/`, 'x'))
    for (const key of all) await put(key, '{}')
    const hexOf = (folder: string): string => Buffer.from(`bytes/${folder}/`).toString('hex') + 'fffe78'
    const named = (one: StoreServer): string => one.damaged.map(({ key }) => key).join(' ')
    const wanted = FOLLOWED.map(hexOf)
    await expect.poll(() => wanted.filter((hex) => !named(server).includes(`(hex ${hex})`)), WAIT).toEqual([])
    const later = await start('bytes', 2)
    for (const folder of ['c', 's', 'i', 'r', 'p', 'b'])
      expect(named(later)).toContain(`bytes/${folder}/\\xff\\xfex (hex ${hexOf(folder)})`)
    for (const one of [server, later]) {
      expect(await one.store.compare({ each: true })).toEqual([])
      await one.engine.execute(publish(`after ${one === later}`, { md5: 'x' }))
      expect(one.failures).toEqual([])
    }
    const doctor = await here.doctor('bytes')
    for (const folder of [...FOLLOWED, ...ON_DEMAND]) expect(doctor.stdout).toContain(hexOf(folder))
    for (const key of all) await here.raw.txn({ compare: [], success: [{ do: 'delete', key }] })
    await expect.poll(() => server.store.damaged, WAIT).toEqual([])
    await expect.poll(() => later.store.damaged, WAIT).toEqual([])
  })

  test('that fill several pages are read once each', async () => {
    await start('pages', 11)
    await servers.pop()!.stop()
    const text = 'x'.repeat(100_000)
    for (let index = 0; index < 150; index++) await put(odd('pages/s/', String(index)), text)
    const later = await start('pages', 12)
    expect(later.store.damaged).toHaveLength(150)
    expect(await later.store.compare({ each: true })).toEqual([])
    expect(await later.store.compare({ counts: { service: 0 } })).toEqual([])
    const doctor = await here.doctor('pages')
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining('150')])
  })
})
