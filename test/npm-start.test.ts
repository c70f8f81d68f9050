import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort, temporaryDirectory } from './support/waypost.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Started {
  readonly npm: ChildProcess
  output(): string
}

/** `npm start` in a process group of its own, as a terminal has it, once the server answers. */
async function npmStart(): Promise<Started> {
  const flags = ['--port', String(await freePort()), '--data-dir', temporaryDirectory('data-')]
  const npm = spawn('npm', ['start', '--', ...flags], { cwd: root, detached: true })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await waitFor(
    () => output.includes('try  '),
    () => output,
  )
  return { npm, output: () => output }
}

async function waitFor(condition: () => boolean, why: () => string): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 400) throw new Error(why())
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
  60_000,
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
  60_000,
)

test('the scripts of package.json need no shell', async () => {
  const { default: about } = (await import('../package.json', { with: { type: 'json' } })) as {
    default: { scripts: Record<string, string> }
  }
  for (const script of Object.values(about.scripts))
    expect(script).toMatch(/^(node|oxlint|oxfmt)( [\w./-]+)*$/)
})
