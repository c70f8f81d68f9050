/** `npm run release`, with other makers in place of the slow ones, on a copy of the files that name the version. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryDirectory } from '../support/waypost.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
const { release } = (await import(pathToFileURL(join(project, 'scripts/release.js')).href)) as {
  release: (options: object) => Promise<void>
}

const VERSIONED = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'deploy/helm/waypost/Chart.yaml',
  'deploy/compose.yaml',
  'deploy/compose.cluster.yaml',
  'docs/install.md',
  'docs/recipes/run-it.md',
]
const makers = {
  npm: async (out: string) => writeFileSync(join(out, 'waypost-9.1.0.tgz'), 'package'),
  image: async (out: string) => {
    for (const arch of ['x64', 'arm64']) writeFileSync(join(out, `image-${arch}.tar`), arch)
  },
}

let root: string
let out: string
let printed: string[]

beforeEach(() => {
  root = temporaryDirectory('release-')
  out = join(root, 'release')
  printed = []
  for (const file of VERSIONED) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    cpSync(join(project, file), join(root, file))
  }
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  writeFileSync(
    join(root, 'CHANGELOG.md'),
    changes.replace(/^## .*/m, (first) => `## 9.1.0 (not released yet)\n\nNew.\n\n${first}`),
  )
})

const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const run = (options: object = {}): Promise<void> =>
  release({
    version: '9.1.0',
    out,
    root,
    makers,
    date: '2027-01-02',
    print: (text: string) => printed.push(text),
    ...options,
  })

test('it sets the version everywhere, makes all files with their sums, and uploads nothing', async () => {
  await run()
  expect(JSON.parse(read('package.json'))).toMatchObject({ name: 'waypost', version: '9.1.0' })
  const lock = JSON.parse(read('package-lock.json')) as {
    version: string
    packages: Record<string, { version: string }>
  }
  expect([lock.version, lock.packages['']?.version]).toEqual(['9.1.0', '9.1.0'])
  expect(parse(read('deploy/helm/waypost/Chart.yaml'))).toMatchObject({
    version: '9.1.0',
    appVersion: '9.1.0',
  })
  expect(read('deploy/compose.yaml')).toContain(':-waypost:9.1.0}')
  expect(read('deploy/compose.cluster.yaml')).toContain(':-waypost:9.1.0}')
  expect(read('CHANGELOG.md')).toContain('## 9.1.0 (2027-01-02)\n')
  // Nothing else of these files has changed.
  for (const file of VERSIONED.filter((name) => name !== 'CHANGELOG.md')) {
    const before = readFileSync(join(project, file), 'utf8').split('\n')
    const differing = read(file)
      .split('\n')
      .filter((line, i) => line !== before[i])
    expect([differing.length > 0, differing.every((line) => line.includes('9.1.0'))], file).toEqual([
      true,
      true,
    ])
  }
  const sums = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out }).toString()
  expect(sums).toBe('image/image-arm64.tar: OK\nimage/image-x64.tar: OK\nnpm/waypost-9.1.0.tgz: OK\n')
  expect(printed.at(-1)).toMatch(/^\nNothing was uploaded\./)
  expect(printed.at(-1)).toContain(join(out, 'npm', 'waypost-9.1.0.tgz'))
})

test('a dry run says so, and changes nothing', async () => {
  const before = VERSIONED.map(read)
  await run({ isDryRun: true })
  expect(VERSIONED.map(read)).toEqual(before)
  expect(existsSync(out)).toBe(false)
  expect(printed[1]).toContain('npm, image and SHA256SUMS')
})

describe('nothing is changed', () => {
  test.each([
    ['where the version is none', { version: 'v1' }, 'is no version'],
    ['where it is an older one', { version: '0.0.1' }, 'is older than'],
    ['where the changelog does not speak of it', { version: '9.2.0' }, 'has no heading "## 9.2.0'],
  ])('%s', async (...[, options, message]) => {
    const before = VERSIONED.map(read)
    await expect(run(options)).rejects.toThrow(message)
    expect(VERSIONED.map(read)).toEqual(before)
  })

  test('where an earlier release is in the directory', async () => {
    mkdirSync(join(out, 'npm'), { recursive: true })
    await expect(run()).rejects.toThrow('is not empty')
    expect(read('CHANGELOG.md')).toContain('## 9.1.0 (not released yet)\n')
  })
})

test('a maker that fails, or makes nothing, ends it', async () => {
  await expect(run({ makers: { deb: () => Promise.reject(new Error('no dpkg-deb')) } })).rejects.toThrow(
    'no dpkg-deb',
  )
  await expect(run({ makers: { deb: async () => undefined }, out: join(root, 'other') })).rejects.toThrow(
    'deb made no file',
  )
})

test('the command says how it is used', () => {
  const script = join(project, 'scripts/release.js')
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string }
  const dry = execFileSync(process.execPath, [script, '--dry-run', version], { cwd: project }).toString()
  expect(dry).toContain('Would make npm, archive, deb, image, chart, sbom and SHA256SUMS')
  expect(() => execFileSync(process.execPath, [script], { cwd: project, stdio: 'pipe' })).toThrow('usage:')
})
