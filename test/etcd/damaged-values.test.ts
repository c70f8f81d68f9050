/** Commands on a store in etcd that has a value which no server has written: the exit code is 1, and the key is named. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeOnEtcd } from '../support/etcd.ts'
import { runWaypost, temporaryDirectory } from '../support/waypost.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()

/** Adds a user, which begins the store. */
async function addUser(): Promise<void> {
  const password = join(temporaryDirectory('secret-'), 'password')
  writeFileSync(password, 'a good secret\n')
  const flags = ['--first', '--password-file', password, ...here.flags(here.prefix)]
  const made = await runWaypost(['user', 'add', 'ann', ...flags])
  expect(made.stderr).toBe('')
}

describeOnEtcd('values in etcd that no server has written', 90_000, () => {
  test.each([
    ['r/user/ann', '{"value":{"passwordHash":7},"stamp":1}', 'passwordHash must be a text'],
    ['r/user/ann', '[]', 'must be an object'],
    ['r/user/ann', '{"value":', 'JSON'],
    ['b/10.0.0.1:8848', '{"number":1}', 'process must be a text'],
  ])('%s = %s is damage to all commands that read it', async (name, text, problem) => {
    await addUser()
    const { prefix } = here
    await here.put(`${prefix}/${name}`, text)
    const target = join(temporaryDirectory('copy-'), 'new')
    for (const command of [
      ['user', 'list'],
      ['backup', '--to', `${target}-backup`],
      ['copy-store', '--from', 'etcd', '--to', target],
    ]) {
      const { code, stderr } = await runWaypost([...command, ...here.flags(prefix)])
      expect([command[0], code, stderr]).toEqual([command[0], 1, expect.stringContaining(problem)])
      expect(stderr).toContain(`${prefix}/${name}`)
      expect(stderr).toContain('waypost doctor --store etcd')
    }
    const doctor = await here.doctor(prefix)
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(`${prefix}/${name}`)])
  })

  test('the record of a copy that is not whole is damage, too', async () => {
    const { prefix } = here
    await here.put(`${prefix}/format`, '{"copy":{"source":7}}')
    const { code, stderr } = await runWaypost(['user', 'list', ...here.flags(prefix)])
    expect([code, stderr]).toEqual([1, expect.stringContaining('source must be a text')])
  })
})
