import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort, temporaryDirectory } from './support/waypost.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Started {
  readonly npm: ChildProcess
  readonly url: string
  output(): string
}

/** `npm start` in a process group of its own, as a terminal has it, once the server answers. */
async function npmStart(cwd = root): Promise<Started> {
  const port = await freePort()
  const flags = ['--port', String(port), '--data-dir', temporaryDirectory('data-')]
  const npm = spawn('npm', ['start', '--', ...flags], { cwd, detached: true })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await waitFor(
    () => output.includes('try  '),
    () => output,
  )
  return { npm, url: `http://127.0.0.1:${port}`, output: () => output }
}

async function waitFor(condition: () => boolean, why: () => string): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 1_800) throw new Error(why())
    await sleep(50)
  }
}

const noWindows = process.platform === 'win32' ? 'Windows has no signals' : undefined

test.skipIf(noWindows)(
  'SIGTERM to npm stops the server cleanly, whichever shell npm uses',
  async () => {
    const { npm, output } = await npmStart()
    const ended = once(npm, 'exit')
    npm.kill('SIGTERM')
    await waitFor(() => output().includes('the server has stopped'), output)
    await ended
  },
  120_000,
)

test.skipIf(noWindows)(
  'Ctrl-C in a terminal, a signal to all of npm, its shell and the server, does so as well',
  async () => {
    const { npm, output } = await npmStart()
    const ended = once(npm, 'exit')
    process.kill(-npm.pid!, 'SIGINT')
    await waitFor(() => output().includes('the server has stopped'), output)
    await ended
  },
  120_000,
)

test.skipIf(noWindows)(
  'a console that cannot be built keeps no server from starting: /ui says why',
  async () => {
    const copy = temporaryDirectory('copy-')
    for (const name of [
      'package.json',
      'package-lock.json',
      'src',
      'scripts',
      'console',
      'packages',
      'tsconfig.json',
      'dist',
    ])
      cpSync(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    appendFileSync(join(copy, 'console', 'src', 'main.tsx'), '\nconst broken = {\n')
    const { npm, url, output } = await npmStart(copy)
    const ended = once(npm, 'exit')
    try {
      expect(output()).toContain('The console could not be built; the server works without it.')
      const page = await fetch(`${url}/ui`)
      expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('main.tsx')])
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
    } finally {
      npm.kill('SIGTERM')
      await ended
    }
  },
  120_000,
)

test.each([
  ['--help', 0, /one +\S+:8848\/ui, gRPC 9848, other servers 10848, etcd 11848 and 11849\n/],
  ['--help --port 34948', 0, /three +\S+:34968\/ui, gRPC 35968, other servers 36968, etcd 37968 and 37969\n/],
  ['--port 0', 2, /--port must be a number from 1 to \d+/],
  ['--port', 2, /--port must be a number/],
  ['--log-level debug', 2, /write --flag=value instead of a word of its own: debug/],
])('`npm run cluster -- %s` says its ports or what is wrong, and starts nothing', (args, code, said) => {
  const script = join(root, 'scripts', 'cluster.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args.split(' ')], {
    encoding: 'utf8',
  })
  expect([status, stdout + stderr]).toEqual([code, expect.stringMatching(said)])
})

test('the scripts of package.json need no shell', async () => {
  const { default: about } = (await import('../package.json', { with: { type: 'json' } })) as {
    default: { scripts: Record<string, string> }
  }
  for (const script of Object.values(about.scripts))
    expect(script).toMatch(/^(node|oxlint|oxfmt)( [\w./-]+)*$/)
})
