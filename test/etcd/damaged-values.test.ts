/** Commands on a store in etcd that has a value which no server has written: the exit code is 1, and the key is named. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/store/etcd/client/clock.ts'
import { connectTo } from '../../src/store/etcd/client/connection.ts'
import { EtcdClient } from '../../src/store/etcd/client/etcd-client.ts'
import { ETCD_HOOK_MS, type Etcd, etcdTools, startEtcd } from '../support/etcd.ts'
import { runWaypost, temporaryDirectory } from '../support/waypost.ts'

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''

let etcd: Etcd
let raw: EtcdClient
let prefixes = 0

const onEtcd = (prefix: string): string[] => [
  `--etcd-endpoints=${etcd.endpoints.join(',')}`,
  `--etcd-prefix=${prefix}`,
]

/** A store with one user, in a prefix of its own. */
async function newStore(): Promise<string> {
  const prefix = `damaged-${prefixes++}`
  const password = join(temporaryDirectory('secret-'), 'password')
  writeFileSync(password, 'a good secret\n')
  const made = await runWaypost(
    ['user', 'add', 'ann', '--first', '--password-file', password].concat(onEtcd(prefix)),
  )
  expect(made.stderr).toBe('')
  return prefix
}

async function write(key: string, text: string): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'put', key, value: Buffer.from(text) }] })
}

describe.skipIf(etcdTools.skip)(
  `values in etcd that no server has written${note}`,
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      etcd = await startEtcd()
      const { endpoints } = etcd
      raw = new EtcdClient({
        endpoints,
        clock: systemClock,
        random: Math.random,
        open: connectTo(systemClock),
      })
    }, ETCD_HOOK_MS)
    afterAll(async () => {
      raw?.close()
      await etcd?.stop()
    })

    test.each([
      ['r/user/ann', '{"value":{"passwordHash":7},"stamp":1}', 'passwordHash must be a text'],
      ['r/user/ann', '[]', 'must be an object'],
      ['r/user/ann', '{"value":', 'JSON'],
      ['b/10.0.0.1:8848', '{"number":1}', 'process must be a text'],
    ])('%s = %s is damage to all commands that read it', async (name, text, problem) => {
      const prefix = await newStore()
      await write(`${prefix}/${name}`, text)
      const target = join(temporaryDirectory('copy-'), 'new')
      for (const command of [
        ['user', 'list'],
        ['backup', '--to', `${target}-backup`],
        ['copy-store', '--from', 'etcd', '--to', target],
      ]) {
        const { code, stderr } = await runWaypost([...command, ...onEtcd(prefix)])
        expect([command[0], code, stderr]).toEqual([command[0], 1, expect.stringContaining(problem)])
        expect(stderr).toContain(`${prefix}/${name}`)
        expect(stderr).toContain('waypost doctor --store etcd')
      }
      const doctor = await runWaypost(['doctor', '--store', 'etcd', ...onEtcd(prefix)])
      expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(`${prefix}/${name}`)])
    })

    test('the record of a copy that is not whole is damage, too', async () => {
      const prefix = `damaged-${prefixes++}`
      await write(`${prefix}/format`, '{"copy":{"source":7}}')
      const { code, stderr } = await runWaypost(['user', 'list', ...onEtcd(prefix)])
      expect([code, stderr]).toEqual([1, expect.stringContaining('source must be a text')])
    })
  },
)
