import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort, runWaypost, startWaypost, temporaryDirectory } from './support/waypost.ts'
import type { Waypost, WaypostOptions } from './support/waypost.ts'

const started: Waypost[] = []

async function startOne(options: WaypostOptions = {}): Promise<Waypost> {
  const server = await startWaypost(options)
  started.push(server)
  return server
}

function settingsFile(content: string): string {
  const file = join(temporaryDirectory('settings-'), 'settings')
  writeFileSync(file, content)
  return file
}

afterEach(async () => {
  for (const server of started.splice(0)) await server.kill()
})

describe('the command', () => {
  test('prints its version', async () => {
    const { code, stdout } = await runWaypost(['--version'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('prints help with its commands and exit codes', async () => {
    const [help, flag] = [await runWaypost(['help']), await runWaypost(['--help'])]
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toMatch(/start .*\n(?:.*\n)*? {2}version .*\n(?:.*\n)*Exit codes:\n {2}0 {2}done/)
    expect(flag).toEqual(help)
  })

  test.each([
    ['help', 'start'],
    ['start', '--help'],
  ])('prints help with the settings at %s %s', async (...args) => {
    const { code, stdout } = await runWaypost(args)
    expect(code).toBe(0)
    expect(stdout).toMatch(/Where data are kept:\n {2}--data-dir <value>/)
    expect(stdout).toContain('$ waypost start --auth')
  })

  // Without any word it starts a server: test/package.test.ts.
  test('refuses an unknown word with exit code 2 and says what there is', async () => {
    const { code, stderr } = await runWaypost(['strat'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/unknown command 'strat'\n\(Did you mean start\?\)/)
  })
})

describe('a start', () => {
  test('prints one banner with version, address, data directory and a curl line', async () => {
    const server = await startOne({ settings: { 'log-level': 'silent' } })
    const lines = server.output().trimEnd().split('\n')
    expect(lines).toHaveLength(6)
    expect(lines[0]).toMatch(/^Waypost \d+\.\d+\.\d+$/)
    expect(lines[1]).toContain(server.url)
    expect(lines[2]).toBe(`  console  ${server.url}/ui`)
    expect(lines[3]).toBe(`  gRPC     port ${server.port + 1_000}`)
    expect(lines[4]).toContain(server.dataDir)
    expect(lines[5]).toContain(`curl '${server.url}/`)
  })

  test('reads a setting from a flag, else the environment, else the file', async () => {
    const [fromFlag, fromEnvironment, fromFile] = [await freePort(), await freePort(), await freePort()]
    const env = { WAYPOST_PORT: `${fromEnvironment}`, WAYPOST_SETTINGS: settingsFile(`port=${fromFile}`) }
    const server = await startOne({ port: fromFlag, env })
    expect(server.output()).toContain(`:${fromFlag}`)
  })

  test.each([
    ['JSON', (port: number) => `{ "port": ${port}, "namespace-quota": 7 }`],
    ['lines', (port: number) => `# ours\nport = ${port}\nnamespace-quota=7\n`],
  ])('takes settings from a file of %s', async (_form, write) => {
    const port = await freePort()
    const server = await startOne({ port, settingsFile: settingsFile(write(port)) })
    const answer = await fetch(`${server.url}/svc/v1/console/namespaces`)
    expect(await answer.json()).toMatchObject({ data: [{ quota: 7 }] })
  })

  test('with an unknown setting ends with 2 and suggests a similar one', async () => {
    expect(await runWaypost(['start', '--prot', '1'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        "waypost: unknown option '--prot'\n(Did you mean --port?)\nAdd --help to see how the command is used.\n",
    })
    const { code, stderr } = await runWaypost(['start'], { WAYPOST_DATADIR: 'x' })
    expect(code).toBe(2)
    expect(stderr).toMatch(/Unknown setting WAYPOST_DATADIR.*Did you mean WAYPOST_DATA_DIR\?/)
  })

  test('with a wrong value ends with 2 and names its source and the allowed values', async () => {
    const { code, stderr } = await runWaypost(['start'], { WAYPOST_PORT: '70000' })
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /setting port: "70000", from the environment variable WAYPOST_PORT.*from 0 to 65535/,
    )
  })

  test.each([
    ['port', (port: number) => new RegExp(`^waypost: port ${port} .*--port\\.\n$`)],
    ['grpc-port', (port: number) => new RegExp(`^waypost: cannot listen on grpc-port ${port}: .*\n$`)],
  ])('on a used %s ends with 1 and one line that names it, and nothing in the log', async (setting, said) => {
    const blocker = createServer()
    const port = await freePort()
    await new Promise<void>((resolve) => blocker.listen(port, '127.0.0.1', resolve))
    const data = `--data-dir=${temporaryDirectory('data-')}`
    const other = setting === 'port' ? [] : [`--port=${await freePort()}`]
    const { code, stdout, stderr } = await runWaypost(['start', `--${setting}=${port}`, ...other, data])
    blocker.close()
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(said(port))
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 at %s', async (signal) => {
    const server = await startOne()
    expect(await server.stop(signal)).toBe(0)
  })

  test('works again on the same port and data directory after a crash', async () => {
    const server = await startOne()
    await server.kill()
    const again = await server.restart()
    started.push(again)
    expect(again.port).toBe(server.port)
    expect(again.dataDir).toBe(server.dataDir)
    expect(await again.stop()).toBe(0)
  })
})

describe('authentication', () => {
  test('must be on, or off on purpose, where others reach the server', async () => {
    const args = ['start', '--host', '0.0.0.0', '--port', String(await freePort())]
    const { code, stderr } = await runWaypost([...args, '--data-dir', temporaryDirectory('data-')])
    expect(code).toBe(1)
    expect(stderr).toContain('--open-to-everyone')
    const open = await startOne({ settings: { host: '0.0.0.0', 'open-to-everyone': true } })
    expect((await fetch(`${open.url}/svc/v1/ns/operator/switches`)).status).toBe(200)
    const closed = await startOne({ settings: { host: '0.0.0.0', auth: 'on' } })
    expect((await fetch(`${closed.url}/svc/v1/ns/operator/switches`)).status).toBe(403)
  })

  test('without an administrator names the page that makes one, with the code, and the curl line', async () => {
    const server = await startOne({ settings: { auth: 'on', 'grpc-port': 0 } })
    const [, page, code] = /^ +(\S+#\/first-administrator\?code=([\w-]+))$/m.exec(server.output())!
    expect(page).toBe(`${server.url}/ui/#/first-administrator?code=${code}`)
    expect(server.output()).toContain(`/svc/v1/auth/users/admin' -d 'code=${code}'`)
    expect(server.output()).toContain('gRPC     off\n')
  })

  test('is on with --auth alone, and prints a new code at each start until there is an administrator', async () => {
    const server = await startOne({ settings: { auth: 'on' } })
    const codeIn = (output: string) => /code=([\w-]+)/.exec(output)?.[1]
    const first = codeIn(server.output())
    const again = await server.restart()
    started.push(again)
    const second = codeIn(again.output())
    expect(second).toMatch(/^(\w{4}-){6}\w{4}$/)
    expect(second).not.toBe(first)
    const made = await fetch(`${again.url}/svc/v1/auth/users/admin`, {
      method: 'POST',
      body: new URLSearchParams({ code: second! }),
    })
    expect(await made.json()).toEqual({ username: 'nacos', password: expect.stringMatching(/^[\w-]{22}$/) })
    const third = await again.restart()
    started.push(third)
    expect(codeIn(third.output())).toBeUndefined()
  })

  test('once there is an administrator, it is off only where a setting says so, and the log warns', async () => {
    const server = await startOne({ settings: { auth: 'on' } })
    const code = /code=([\w-]+)/.exec(server.output())![1]!
    await fetch(`${server.url}/svc/v1/auth/users/admin`, {
      method: 'POST',
      body: new URLSearchParams({ code }),
    })
    await server.stop()
    const { dataDir } = server
    const statusOf = async ({ url }: Waypost) => (await fetch(`${url}/svc/v1/ns/operator/switches`)).status
    const usual = await startOne({ dataDir })
    expect(await statusOf(usual)).toBe(403)
    await usual.stop()
    const report = await startOne({ dataDir, settings: { auth: 'report' } })
    expect(await statusOf(report)).toBe(200)
    expect(report.output()).toContain('this would be refused if authentication were on')
    await report.stop()
    const off = await startOne({ dataDir, settings: { auth: 'off' } })
    expect(await statusOf(off)).toBe(200)
    expect(off.output()).toContain('authentication is off by the setting auth')
  })
})
