import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { freePort, temporaryDirectory } from './support/waypost.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const DASHBOARD = 'deploy/helm/waypost/files/grafana.json'

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

interface Package {
  readonly bin: Readonly<Record<string, string>>
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string>>
}

const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package
let packed: Packed
let tarball: string

beforeAll(() => {
  const to = temporaryDirectory('package-')
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', to], { cwd: root })
  packed = (JSON.parse(output.toString()) as Packed[])[0]!
  tarball = join(to, packed.filename)
}, 60_000)

describe('the package', () => {
  const pathsOf = (): string[] => packed.files.map(({ path }) => path)

  test('holds the program, its licences and the documents of operators, and nothing for development', () => {
    const paths = pathsOf()
    const needed = [
      'main.js',
      'worker.js',
      'copier.js',
      'copier-thread.js',
      'examiner.js',
      'bcrypt.js',
      'LICENSES.txt',
      'openapi.json',
      'waypost.1',
    ].map((name) => `dist/${name}`)
    expect(paths).toEqual(
      expect.arrayContaining([...needed, 'LICENSE', 'README.md', 'docs/settings.md', DASHBOARD]),
    )
    const ofPage = ['index.html', 'index.html.br', 'index.html.gz', 'LICENSES.txt'].map(
      (name) => `dist/console/${name}`,
    )
    expect(paths).toEqual(expect.arrayContaining(ofPage))
    const others =
      /^(?!dist\/[\w-]+\.(js|js\.map|txt|json|1)$|dist\/console\/(assets\/)?[\w-]+\.(html|js|css|svg|txt)(\.br|\.gz)?$|docs\/[\w/-]+\.(md|yaml)$|[A-Z]+(\.md)?$|package\.json$)/
    expect(paths.filter((path) => others.test(path) && path !== DASHBOARD)).toEqual([])
    expect(packed.size).toBeLessThan(4.5 * 1024 * 1024)
  })

  test('names files that it holds, a program that can be run, and the Node that it needs', () => {
    const named = [...Object.values(about.bin), ...Object.values(about.exports)]
    for (const path of named) expect(pathsOf()).toContain(path.replace(/^\.\//, ''))
    const program = readFileSync(join(root, about.bin['waypost']!), 'utf8')
    expect(program.startsWith('#!/usr/bin/env node\n')).toBe(true)
    expect(packed.files.find(({ path }) => path === about.bin['waypost'])!.mode & 0o111).toBe(0o111)
    expect(about.engines).toEqual({ node: '>=20.19' })
  })

  test('needs no package but those that npm installs with it', () => {
    const imported = readdirSync(join(root, 'dist'))
      .filter((name) => name.endsWith('.js'))
      .flatMap((name) => [
        ...readFileSync(join(root, 'dist', name), 'utf8').matchAll(/^import .*?["']([^"'.][^"']*)["'];$/gm),
      ])
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith('node:'))
    // Packages that are bundled may name modules of Node without the prefix.
    const packages = imported.filter((name) => !builtinModules.includes(name))
    expect(new Set(packages)).toEqual(new Set(Object.keys(about.dependencies)))
  })
})

test('`npx waypost` starts a server in an empty directory; it publishes, answers and stops', async () => {
  const directory = temporaryDirectory('empty-')
  const port = await freePort()
  const env = { ...process.env, npm_config_prefer_offline: 'true', WAYPOST_PORT: String(port) }
  // The steps of `npx waypost` with the package of the registry.
  const words = ['exec', '--yes', '--package', tarball, '--', 'waypost']
  const npx = spawn('npm', words, { cwd: directory, env, detached: true })
  let output = ''
  for (const stream of [npx.stdout, npx.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = once(npx, 'exit')
  try {
    await expect.poll(() => output, { timeout: 120_000, interval: 50 }).toContain('try  ')
    expect(output).toContain('`waypost help` lists the commands')
    const items = `http://127.0.0.1:${port}/svc/v1/cs/configs`
    const item = new URLSearchParams({ dataId: 'hello', group: 'DEFAULT_GROUP' })
    const published = await fetch(items, {
      method: 'POST',
      body: `${item}&content=world`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(await published.text()).toBe('true')
    expect(await (await fetch(`${items}?${item}`)).text()).toBe('world')
    expect(readdirSync(directory)).toEqual(['data'])
    // Chunks that are loaded on demand are in the package as well.
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200)
    expect(await (await fetch(`http://127.0.0.1:${port}/ui/`)).text()).toContain('<title>Waypost</title>')
  } finally {
    process.kill(-npx.pid!, 'SIGTERM')
    await ended
  }
  await expect.poll(() => output, { timeout: 10_000 }).toContain('the server has stopped')
}, 180_000)
