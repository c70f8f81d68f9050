/** The package of `npm run deb`, installed and removed in a root of Debian of its own. */
import { execFile, execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, existsSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { needRootAndTool } from '../support/need-tool.ts'
import { freePort, temporaryDirectory } from '../support/waypost.ts'
import { ReplayOfRecordedAnswers } from '../move/replay-of-recorded-answers.ts'
import { runFirstDay } from './first-day.ts'
import { InstalledServer } from './installed-server.ts'
import { packed, runLong } from './packed.ts'

const tools = needRootAndTool('dpkg-deb', 'mmdebstrap', 'chroot')
const LIMIT_MS = 600_000

/** The environment of root, and nothing of the tests. */
const ENVIRONMENT = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  DEBIAN_FRONTEND: 'noninteractive',
  LC_ALL: 'C.UTF-8',
}

describe('in a Debian of its own', () => {
  const root = join(temporaryDirectory('deb-root-'), 'debian')
  const inRoot = (path: string): string => join(root, path)
  const run = (...command: string[]): string =>
    execFileSync('chroot', [root, ...command], { encoding: 'utf8', env: ENVIRONMENT, stdio: 'pipe' })
  const linkAtBoot = inRoot('etc/systemd/system/multi-user.target.wants/waypost.service')
  let server: InstalledServer | undefined

  beforeAll(async () => {
    if (tools.skip) return
    const include = '--include=adduser,curl,init-system-helpers,libstdc++6'
    await runLong('mmdebstrap', '--quiet', '--variant=essential', include, 'trixie', root)
    const file = await packed('deb', { arch: process.arch, out: temporaryDirectory('deb-') })
    copyFileSync(file, inRoot('tmp/waypost.deb'))
  }, LIMIT_MS)
  beforeEach(({ skip }) => skip(tools.skip, tools.reason))
  afterAll(() => server?.stop())

  test(
    'is installed with a user, a directory that only it may read, and a service that starts at boot',
    () => {
      run('dpkg', '--install', '/tmp/waypost.deb')
      expect(run('stat', '-c', '%U:%G %a', '/var/lib/waypost')).toBe('waypost:waypost 700\n')
      expect(run('dpkg', '--verify', 'waypost')).toBe('')
      expect(isEnabled()).toBe(true)
      expect(run('waypost', 'version')).toMatch(/^\d/)
    },
    LIMIT_MS,
  )

  test(
    'runs the command of its unit as its user, and publishes',
    async () => {
      const port = await freePort()
      const start = /^ExecStart=(.*)$/m.exec(
        readFileSync(inRoot('usr/lib/systemd/system/waypost.service'), 'utf8'),
      )![1]!
      const user = ['--userspec=waypost:waypost', root, 'env', `WAYPOST_PORT=${port}`]
      server = await InstalledServer.start({
        command: ['chroot', ...user, ...start.split(' ')],
        port,
        env: ENVIRONMENT,
      })
      expect(await server.firstUse()).toBe('world')
      expect(run('waypost', 'health', '--port', String(port))).toBe(`${server.url} answers\n`)
      expect(await server.stop()).toBe(0)
      expect(run('stat', '-c', '%U', '/var/lib/waypost/waypost.db')).toBe('waypost\n')
    },
    LIMIT_MS,
  )

  test(
    'keeps the settings that an administrator changed, and a service that one disabled, when it is installed again',
    () => {
      appendFileSync(inRoot('etc/waypost/waypost.conf'), 'log-level=warn\n')
      // As `systemctl disable` does.
      rmSync(linkAtBoot)
      run('dpkg', '--install', '/tmp/waypost.deb')
      expect(readFileSync(inRoot('etc/waypost/waypost.conf'), 'utf8')).toContain('log-level=warn')
      expect(isEnabled()).toBe(false)
    },
    LIMIT_MS,
  )

  test(
    'keeps settings and data when it is removed, and deletes both when it is purged',
    () => {
      run('dpkg', '--remove', 'waypost')
      expect(existsSync(inRoot('usr/bin/waypost'))).toBe(false)
      expect(existsSync(inRoot('var/lib/waypost/waypost.db'))).toBe(true)
      expect(existsSync(inRoot('etc/waypost/waypost.conf'))).toBe(true)
      run('dpkg', '--purge', 'waypost')
      for (const path of ['var/lib/waypost', 'etc/waypost', 'usr/lib/waypost', 'usr/share/doc/waypost'])
        expect(existsSync(inRoot(path)), path).toBe(false)
      expect(isEnabled()).toBe(false)
    },
    LIMIT_MS,
  )

  test(
    'the pages for a first day can be followed without a terminal',
    async () => {
      run('dpkg', '--install', '/tmp/waypost.deb')
      const oldServer = await ReplayOfRecordedAnswers.start('1.4.8')
      try {
        await runFirstDay({
          url: `http://127.0.0.1:${await freePort()}`,
          oldUrl: oldServer.url,
          run: (script) => runApart(script),
        })
      } finally {
        await oldServer.stop()
      }
    },
    LIMIT_MS,
  )

  /** Runs a script of bash in the home of root, without a terminal. */
  async function runApart(script: string): Promise<string> {
    const shell = ['setsid', '--wait', 'bash', '-c', `cd; exec 2>&1; ${script}`]
    const { stdout } = await promisify(execFile)('chroot', [root, ...shell], {
      env: { ...ENVIRONMENT, HOME: '/root' },
      maxBuffer: 16e6,
    })
    return stdout
  }

  function isEnabled(): boolean {
    return lstatSync(linkAtBoot, { throwIfNoEntry: false }) !== undefined
  }
})
