import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nameText } from '../item.ts'
import { sourceItems } from './source-items.ts'

let root: string
let directory: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'source-'))
  directory = join(root, 'd')
  write('d/G/plain', 'plain')
  write('outside/secret', 'secret')
})

afterEach(() => rmSync(root, { recursive: true }))

function write(name: string, content: string): void {
  mkdirSync(join(root, name, '..'), { recursive: true })
  writeFileSync(join(root, name), content)
}

const link = (target: string, name: string): void => symlinkSync(target, join(directory, name))
const METADATA = 'metadata:\n- group: G\n  dataId: plain\n  type: yaml\n'

async function contents(path = directory): Promise<Record<string, string>> {
  const { items } = await sourceItems(path, 'DEFAULT_GROUP')
  return Object.fromEntries(items.map((item) => [nameText(item), item.content]))
}

test('names that are not UTF-8 are left out, on top, in a group and beside a folder', async () => {
  const bytes = (name: string): Buffer => Buffer.from(join(root, name), 'latin1')
  for (const name of ['d/\xC5', 'd/G/\xE4.yml', 'e/\xD6']) {
    mkdirSync(join(root, 'e/f/H'), { recursive: true })
    writeFileSync(bytes(name), 'x')
  }
  write('e/f/H/plain', 'plain')
  const why = 'the name is not UTF-8'
  const leftOut = async (path: string) => (await sourceItems(path, 'DEFAULT_GROUP')).leftOut
  expect(await leftOut(directory)).toEqual([
    { name: '%C5', why, isUnclear: true },
    { name: 'G/%E4.yml', why, isUnclear: true },
  ])
  expect(await leftOut(join(root, 'e'))).toEqual([{ name: '%D6', why, isUnclear: true }])
})

describe('a link counts as its end', () => {
  test('where that is a file or a directory inside', async () => {
    link('plain', 'G/again')
    link('../G/plain', 'G/around')
    link('G', 'H')
    expect(await contents()).toEqual({
      'G/plain': 'plain',
      'G/again': 'plain',
      'G/around': 'plain',
      'H/plain': 'plain',
      'H/again': 'plain',
      'H/around': 'plain',
    })
  })

  test('in a volume of Kubernetes, before and after its change', async () => {
    for (const version of ['1', '2']) {
      write(`d/..2026_${version}/app.yaml`, `version ${version}`)
      write(`d/..2026_${version}/K/deep`, `deep ${version}`)
      write(`d/..2026_${version}/.metadata.yml`, METADATA)
    }
    link('..2026_1', '..data')
    for (const name of ['app.yaml', 'K', '.metadata.yml']) link(join('..data', name), name)
    const shown = (version: string) => ({
      'DEFAULT_GROUP/app.yaml': `version ${version}`,
      'G/plain': 'plain',
      'K/deep': `deep ${version}`,
    })
    expect(await contents()).toEqual(shown('1'))
    link('..2026_2', '..new')
    renameSync(join(directory, '..new'), join(directory, '..data'))
    expect(await contents()).toEqual(shown('2'))
    const [plain] = (await sourceItems(directory, 'DEFAULT_GROUP')).items
    expect(plain!.metadata).toMatchObject({ type: 'yaml' })
  })

  test('where the user names it', async () => {
    link(directory, '../named')
    expect(await contents(join(root, 'named'))).toEqual({ 'G/plain': 'plain' })
  })
})

describe('nothing is read of a directory that has', () => {
  test.each([
    ['a link to a file outside', () => link('/proc/self/environ', 'G/leak'), /G\/leak leads to/],
    ['a relative link to a file outside', () => link('../../outside/secret', 'G/leak'), /G\/leak leads to/],
    ['a link to a directory outside', () => link('../outside', 'O'), /O leads to/],
    ['a link to the directory around', () => link('..', 'O'), /O leads to/],
    ['a name that begins as its own', () => (write('d2/x', 'x'), link('../../d2/x', 'G/leak')), /leads to/],
    ['a link by another link', () => (link('../outside', '.o'), link('../.o/secret', 'G/leak')), /leads to/],
    ['a link to a hidden file', () => (write('d/.git/config', 'x'), link('../.git/config', 'G/x')), /hidden/],
    ['a link to nothing', () => link('nothing', 'G/leak'), /G\/leak is a link to nothing/],
    ['a link to itself', () => link('leak', 'G/leak'), /G\/leak is a link to nothing/],
    ['a link to a device', () => link('/dev/zero', 'leak'), /leak leads to/],
    ['metadata from outside', () => link('../outside/secret', '.metadata.yml'), /\.metadata\.yml leads to/],
    ['a directory of metadata', () => mkdirSync(join(directory, '.metadata.yml')), /is a directory/],
    ['a pipe', () => execFileSync('mkfifo', [join(directory, 'G/p')]), /p is neither a file nor a dir/],
    ['a pipe of metadata', () => execFileSync('mkfifo', [join(directory, '.metadata.yml')]), /is neither/],
    [
      'a link to a pipe',
      () => (execFileSync('mkfifo', [join(directory, '..p')]), link('../..p', 'G/p')),
      /neither/,
    ],
  ])('%s', async (...[, make, message]) => {
    make()
    await expect(contents()).rejects.toThrow(message)
  })

  test('a socket', async () => {
    const server = createServer().listen(join(directory, 'G/socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    await expect(contents()).rejects.toThrow(/socket is neither a file nor a directory/)
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('each item that no server takes is named at once:', () => {
  const metadata = (...lines: readonly string[]): void =>
    write(
      'd/.metadata.yml',
      `metadata:\n- group: G\n  dataId: plain\n${lines.map((line) => `  ${line}\n`).join('')}`,
    )
  const long = (length: number): string => 'x'.repeat(length)

  test.each([
    ['a blank before a name', () => write('d/G/ tr.yml', 'x'), 'No item can be called "G/ tr.yml": '],
    ['a blank behind a name', () => write('d/G/tr ', 'x'), '"G/tr "'],
    ['a blank behind a group', () => write('d/PAY /a', 'x'), '"PAY /a"'],
    ['a blank beside the same name', () => (write('d/G/ a', 'x'), write('d/G/a', 'y')), '"G/ a"'],
    ['brackets', () => write('d/G/a (1).yml', 'x'), '"G/a (1).yml"'],
    ['an escape of another program', () => write('d/G/%41.yml', 'x'), '"G/%41.yml"'],
    ['a group with @', () => write('d/@eaDir/a.yml', 'x'), '"@eaDir/a.yml"'],
    ['a long group', () => write(`d/${long(129)}/a`, 'x'), 'at most 128 in a group'],
    [
      'an unknown type',
      () => metadata('type: markdown'),
      '.metadata.yml, "G/plain": the type "markdown" is none of properties, ',
    ],
    ['a long description', () => metadata(`desc: ${long(129)}`), 'desc has at most 128 characters'],
    ['a long application', () => metadata(`appName: ${long(257)}`), 'appName has at most 256 characters'],
    ['too many tags', () => metadata('configTags: a,b,c,d,e,f'), 'configTags are at most 5 tags'],
  ])('%s', async (...[, make, message]) => {
    make()
    write('d/G/b?', 'x')
    write('d/G/c!', 'x')
    const error = await contents().then(
      () => '',
      (refused: Error) => refused.message,
    )
    expect(error).toContain(message)
    expect(error.split('\n').map((line) => /"[^"]*"/.exec(line)?.[0])).toEqual(
      expect.arrayContaining(['"G/b?"', '"G/c!"']),
    )
  })

  test.each([
    ['another spelling of a type', 'type: YML', 'yaml'],
    ['no type', 'type:', null],
    ['an empty type, as none', 'type: ""', null],
  ])('%s is no fault', async (...[, line, type]) => {
    metadata(line, `desc: ${long(128)}`, 'configTags: a,b,c,d,e')
    const [plain] = (await sourceItems(directory, 'DEFAULT_GROUP')).items
    expect(plain!.metadata).toMatchObject({ type })
  })
})
