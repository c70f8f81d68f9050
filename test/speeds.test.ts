/** Each test file has one speed: `npm test`, the other parts of `.ci/run`, or `npm run test:nightly`. No test is in no run. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { LONG } from './support/speeds.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Projects that run files once more, with other servers. */
const ONCE_MORE = ['node-streams', 'on-etcd', 'night-node-streams', 'night-on-etcd']
const SHORT = ['short', 'short-unit', 'short-unit-processes']
const PROJECTS = [...SHORT, 'long', ...Object.keys(LONG), 'night', ...ONCE_MORE]
const NIGHT_MINUTES = 90

interface Listed {
  readonly file: string
  readonly projectName: string
}

interface Part {
  readonly name: string
  readonly minutes: number
  /** The arguments of scripts/test.js. */
  readonly tests?: readonly string[]
}

const { CI_PARTS } = (await script('ci-parts.js')) as { CI_PARTS: readonly Part[] }
const { partsOfNight } = (await script('night-parts.js')) as { partsOfNight(now: number): readonly Part[] }
const NIGHT_PARTS = partsOfNight(0)

/** All files of all projects, also those of the night. */
let all: Listed[]

beforeAll(async () => {
  all = await list()
}, 60_000)

describe('each test file', () => {
  test('is in one project, besides those that run files once more', () => {
    const listed = all.filter(({ projectName }) => !ONCE_MORE.includes(projectName)).map(({ file }) => file)
    expect(listed.filter((file, i) => listed.indexOf(file) !== i)).toEqual([])
    expect(testFiles().filter((file) => !listed.includes(file))).toEqual([])
    expect(new Set(all.map(({ projectName }) => projectName))).toEqual(new Set(PROJECTS.filter(hasFiles)))
  })

  test('of a project is in one part of `.ci/run`, or of the night where only the night has it', () => {
    const wrong = all.filter((listed) => {
      const parts = isOfNight(listed) ? NIGHT_PARTS : CI_PARTS
      return partsWith(parts, listed).length !== 1
    })
    expect(wrong).toEqual([])
  })

  test('with a long form for the night is in a part of the night', () => {
    const wrong = all
      .filter((listed) => !isOfNight(listed) && !ONCE_MORE.includes(listed.projectName))
      .filter(({ file }) => reaches(join(root, file), NIGHTLY))
      .filter((listed) => partsWith(NIGHT_PARTS, listed).length === 0)
    expect(wrong).toEqual([])
  })
})

test('the limits of the parts of a night are 90 minutes together, whichever long form has its turn', () => {
  const nights = Array.from({ length: 7 }, (_, day) => partsOfNight(day * 86_400_000))
  for (const parts of nights)
    expect(parts.reduce((sum, { minutes }) => sum + minutes, 0)).toBeLessThanOrEqual(NIGHT_MINUTES)
})

test('no test of a whole server, and no hook, has less time than usual', () => {
  const limited =
    /\n( *)(?:test|(?:before|after)(?:All|Each))\b.*\n(?:\1 .*\n|\n)*\1\}, (?:[1-5]?\d_000|\d{1,4})\)\n/
  const found = testFiles().filter(
    (file) => file.startsWith('test/') && limited.test(readFileSync(join(root, file), 'utf8')),
  )
  expect(found).toEqual([])
})

/** A file that imports one of these has a long form. */
const NIGHTLY = ['nightly', 'sampled'].map((name) => join(root, `test/support/${name}.ts`))
const reached = new Map<string, boolean>()

/** Whether a file imports one of these, by whatever way. */
function reaches(file: string, wanted: readonly string[]): boolean {
  if (wanted.includes(file)) return true
  const known = reached.get(file)
  if (known !== undefined) return known
  reached.set(file, false)
  const imports = [...readFileSync(file, 'utf8').matchAll(/(?:from|import) '(\.[^']+\.ts)'/g)]
    .map(([, name]) => resolve(dirname(file), name!))
    // Text of a test may look like an import.
    .filter((name) => existsSync(name))
  const found = imports.some((name) => reaches(name, wanted))
  reached.set(file, found)
  return found
}

function isOfNight({ projectName }: Listed): boolean {
  return projectName.startsWith('night')
}

function hasFiles(name: string): boolean {
  return name !== 'night' || all.some(({ projectName }) => projectName === 'night')
}

/** The parts that run a file, by their projects and the words that select files. */
function partsWith(parts: readonly Part[], { file, projectName }: Listed): string[] {
  return parts
    .filter(({ tests = [] }) => {
      const projects = tests.flatMap((option) => /^--project=(.*)$/.exec(option)?.[1] ?? [])
      const words = tests.filter((option) => !option.startsWith('-'))
      const hasProject = projects.some((name) =>
        name.endsWith('*') ? projectName.startsWith(name.slice(0, -1)) : name === projectName,
      )
      return hasProject && (words.length === 0 || words.some((word) => file.includes(word)))
    })
    .map(({ name }) => name)
}

/** The files that vitest runs in all projects, those of the night too. */
async function list(): Promise<Listed[]> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const env = { ...process.env, NIGHTLY: 'true' }
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'list', '--filesOnly', '--json'], {
    cwd: root,
    env,
    maxBuffer: 1e8,
  })
  return (JSON.parse(stdout) as Listed[]).map(({ file, projectName }) => ({
    file: relative(root, file).replaceAll('\\', '/'),
    projectName,
  }))
}

async function script(name: string): Promise<unknown> {
  return await import(pathToFileURL(join(root, 'scripts', 'runs', name)).href)
}

/** The test files of the project, but for the one that is about the project on-etcd itself. */
function testFiles(): string[] {
  return ['src', 'packages', 'console/src', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.test.ts') && file !== 'test/support/on-etcd.test.ts')
    .toSorted()
}
