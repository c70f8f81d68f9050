/** `npm run archive`: Waypost with its Node.js in one file, and the unit of systemd in it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { freePort, temporaryDirectory } from '../support/waypost.ts'
import { InstalledServer } from './installed-server.ts'
import { packed, runLong } from './packed.ts'

const tools = needTool('xz', 'tar', 'systemd-analyze', 'systemd-sysusers')
const LIMIT_MS = 600_000
/** Of systemd, in tenths: it counts 0 to 20 as OK, and 100 as unsafe. */
const MOST_EXPOSURE = 15

describe('the archive', () => {
  const directory = temporaryDirectory('archive-')
  const home = join(directory, 'waypost')
  const unit = join(directory, 'waypost.service')

  beforeAll(async () => {
    if (tools.skip) return
    await unpack(await packed('archive', { arch: 'x64', out: directory }), home)
    const text = readFileSync(join(home, 'lib/systemd/system/waypost.service'), 'utf8')
    writeFileSync(unit, text.replaceAll('/opt/waypost/', `${home}/`))
  }, LIMIT_MS)

  beforeEach(({ skip }) => skip(tools.skip, tools.reason))

  test.skipIf(process.arch !== 'x64')('starts from a link to its program, publishes, and stops', async () => {
    const link = join(directory, 'waypost-link')
    symlinkSync(join(home, 'bin/waypost'), link)
    const port = await freePort()
    const flags = ['--port', String(port), '--data-dir', join(directory, 'data'), '--auth', 'on']
    // Without a Node.js on the path.
    const env = { PATH: '/usr/bin:/bin', HOME: directory }
    const server = await InstalledServer.start({ command: [link, 'start', ...flags], port, env })
    expect(await server.firstUse()).toBe('world')
    expect(server.output).toContain('"node":"v24.')
    expect(await server.stop()).toBe(0)
  })

  test('holds licences, documents, the manual, completions, and a bill of materials', () => {
    const documents = readdirSync(join(home, 'share/doc/waypost'))
    expect(documents).toEqual(expect.arrayContaining(['LICENSE', 'LICENSE.node', 'README.md', 'docs']))
    expect(readFileSync(join(home, 'share/man/man1/waypost.1'), 'utf8')).toContain('.TH WAYPOST 1')
    const completions = [
      ['share/bash-completion/completions/waypost', 'complete -o default'],
      ['share/zsh/site-functions/_waypost', '#compdef waypost'],
      ['share/fish/vendor_completions.d/waypost.fish', 'complete -c waypost'],
    ] as const
    for (const [path, text] of completions) expect(readFileSync(join(home, path), 'utf8')).toContain(text)
    const bill = readFileSync(join(home, 'lib/waypost/app/sbom.json'), 'utf8')
    expect(bill).toContain('"purl": "pkg:generic/nodejs@24.')
  })

  test('has a unit that systemd finds right and well confined, and the user for it', () => {
    expect(spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
    const security = ['security', '--offline=true', `--threshold=${MOST_EXPOSURE}`, '--no-pager', unit]
    const { status, stdout } = spawnSync('systemd-analyze', security, { encoding: 'utf8' })
    expect(status, stdout).toBe(0)
    const users = readFileSync(join(home, 'lib/sysusers.d/waypost.conf'), 'utf8')
    const root = temporaryDirectory('sysusers-')
    mkdirSync(join(root, 'etc'))
    execFileSync('systemd-sysusers', [`--root=${root}`, '-'], { input: users, stdio: 'pipe' })
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toMatch(
      /^waypost:.*:\/var\/lib\/waypost:.*nologin$/m,
    )
  })
})

async function unpack(file: string, to: string): Promise<void> {
  mkdirSync(to)
  await runLong('tar', '-xJf', file, '-C', to, '--strip-components=1')
}
