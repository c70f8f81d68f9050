/** `npm test` and what it leaves out are together all tests, and each file runs at one speed. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Projects that run files once more, with other servers. */
const ONCE_MORE = ['node-streams', 'on-etcd']

interface Listed {
  readonly file: string
  readonly projectName: string
}

describe('each test file', () => {
  test('is in one project, besides those that run files once more', async () => {
    const listed = (await list()).filter(({ projectName }) => !ONCE_MORE.includes(projectName))
    const files = listed.map(({ file }) => relative(root, file).replaceAll('\\', '/'))
    expect(files.toSorted()).toEqual(testFiles())
  })

  test('of `npm test` is in no other part', async () => {
    const [all, short, long] = await Promise.all([list(), list('short*'), list('!short*')])
    expect([...short, ...long].map(nameOf).toSorted()).toEqual(all.map(nameOf).toSorted())
    expect(new Set(short.map(({ projectName }) => projectName))).toEqual(
      new Set(['short', 'short-unit', 'short-unit-processes']),
    )
  })
})

/** What vitest would run, in the projects with such a name. */
async function list(project = '*'): Promise<Listed[]> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [vitest, 'list', '--filesOnly', '--json', `--project=${project}`]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 1e8 })
  return JSON.parse(stdout) as Listed[]
}

const nameOf = ({ file, projectName }: Listed): string => `${projectName} ${file}`

/** The test files of the project, but for the one that is about the project on-etcd itself. */
function testFiles(): string[] {
  return ['src', 'console/src', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.test.ts') && file !== 'test/support/on-etcd.test.ts')
    .toSorted()
}
