import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort, temporaryDirectory } from '../support/waypost.ts'
import { buildStages, readDockerfile, readDockerignore, type Stage } from './dockerfile.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const instructions = readDockerfile(join(root, 'Dockerfile'))
let image: Stage
let server: ChildProcess | undefined

/** No images can be pulled everywhere: what the Dockerfile does is done in an empty directory, with the Node of the tests. */
beforeAll(() => {
  const directory = temporaryDirectory('container-')
  const included = readDockerignore(join(root, '.dockerignore'))
  image = buildStages(instructions, { context: root, included, directory, run: runLine })
}, 240_000)

afterAll(() => void server?.kill('SIGKILL'))

function runLine(line: string, stage: Stage): void {
  for (const [program = '', ...args] of line.split(' && ').map((part) => part.trim().split(/\s+/))) {
    if (program === 'mkdir') makeDirectory(stage, args)
    else if (program === 'ln') makeLink(stage, args)
    // The cache belongs to this machine, and there may be no such user.
    else if (program === 'npm' && args[0] !== 'cache')
      execFileSync('npm', args, {
        cwd: join(stage.root, stage.workdir),
        env: environment(stage),
        stdio: 'pipe',
      })
    else if (program !== 'chown' && program !== 'npm') throw new Error(`${program} is not simulated`)
  }
}

/** `mkdir [-m MODE] PATH`. */
function makeDirectory({ root: stageRoot }: Stage, args: readonly string[]): void {
  const mode = args[0] === '-m' ? Number.parseInt(args[1]!, 8) : 0o755
  mkdirSync(join(stageRoot, args.at(-1)!), { mode, recursive: true })
}

/** `ln -s TARGET PATH`, with a target that is relative. */
function makeLink({ root: stageRoot }: Stage, [, target = '', path = '']: readonly string[]): void {
  mkdirSync(dirname(join(stageRoot, path)), { recursive: true })
  symlinkSync(target, join(stageRoot, path))
}

/** What is set in a stage, without anything of the tests: absolute paths are in the directory of the stage. */
function environment(stage: Stage, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { HOME } = process.env
  const PATH = `${join(stage.root, 'usr/local/bin')}:${process.env['PATH']}`
  const set = Object.entries(stage.env).map(([name, value]) => [
    name,
    value.startsWith('/') ? join(stage.root, value) : value,
  ])
  return { PATH, HOME, npm_config_prefer_offline: 'true', ...Object.fromEntries(set), ...more }
}

test('the image holds the program and what it needs, and no tools or sources', () => {
  const files = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'node_modules',
    'package.json',
    'sbom.json',
  ]
  expect(readdirSync(join(image.root, 'app')).sort()).toEqual(files)
  const packages = readdirSync(join(image.root, 'app/node_modules')).filter((name) => !name.startsWith('.'))
  expect(packages).toContain('libsql')
  expect(packages.length).toBeLessThan(8)
})

test('the server runs as a user without rights, and its data survives the container', () => {
  expect(image.user).toBe('10001:10001')
  expect(image.volumes).toEqual([image.env['WAYPOST_DATA_DIR']])
  const run = instructions.filter(({ name }) => name === 'RUN').map(({ text }) => text)
  expect(run.at(-1)).toBe(`mkdir -m 700 /var/lib/waypost && chown ${image.user} /var/lib/waypost`)
  expect(Object.keys(image.env).join(' ')).not.toMatch(/token|secret|password|key/i)
})

test('the command starts the server, whose callers must sign in, and the health check sees whether it answers', async () => {
  const env = environment(image, { WAYPOST_PORT: String(await freePort()), WAYPOST_HOST: '127.0.0.1' })
  const cwd = join(image.root, image.workdir)
  const [check, ...checkArgs] = image.healthcheck
  const health = (): number | null => spawnSync(check!, checkArgs, { cwd, env }).status
  expect(health()).toBe(1)
  const [program, ...args] = [...image.entrypoint, ...image.command]
  server = spawn(program!, args, { cwd, env, stdio: 'ignore' })
  await expect.poll(health, { timeout: 20_000, interval: 200 }).toBe(0)
  expect(existsSync(join(image.root, 'var/lib/waypost/waypost.db'))).toBe(true)
  const refused = await fetch(
    `http://127.0.0.1:${env['WAYPOST_PORT']}/nacos/v1/ns/service/list?pageNo=1&pageSize=9`,
  )
  expect(refused.status).toBe(403)
  const ended = once(server, 'exit')
  server.kill(instructions.find(({ name }) => name === 'STOPSIGNAL')!.text as NodeJS.Signals)
  expect(await ended).toEqual([0, null])
}, 60_000)
