/**
 * The readers of formats agree with those that applications use: SnakeYAML as Spring sets it up and PyYAML, `java.util.Properties`,
 * tomllib, Python's json, and expat. Texts are random, of few parts: many are wrong, and many mean nearly the same.
 */
import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { keysOf } from '../../src/formats/changed-keys.ts'
import { check } from '../../src/formats/check.ts'
import { type Finding, isWarning } from '../../src/formats/finding.ts'
import { needTool } from '../support/need-tool.ts'
import {
  type Command,
  copyJars,
  IN_PYTHON,
  JAVA_TOOLS,
  prepare,
  PREPARE_LIMIT_MS,
  preparedFolder,
  type PreparedProgram,
} from './prepared-program.ts'
import { type JudgedType, textsOf } from './reader-texts.ts'

const PROGRAM: PreparedProgram = {
  folder: 'readers',
  locks: ['pom.xml', 'requirements.txt'],
  install: [copyJars('lib'), ...IN_PYTHON.install],
  build: [['sh', '-c', "javac -encoding UTF-8 -cp 'lib/*' -d classes Reader.java"]],
}
const JAVA: Command = ['java', '-cp', 'classes:lib/*', 'Reader']
const PYTHON: Command = ['venv/bin/python', 'reader.py']
const COUNT = 2_500
/** Each asks a program, which may take long on a busy machine. */
const LIMIT_MS = 300_000

/** A kind of text that is judged otherwise here than by a reader, and is meant to be. */
interface Difference {
  readonly name: string
  readonly type: JudgedType
  /** Whether it is this kind. `error`: the first error found here; `said`: the error of the reader. */
  readonly isThis: (judged: Judged) => boolean
}

interface Judged {
  readonly text: string
  readonly error: Finding | undefined
  readonly said: string
}

const DIFFERENCES: readonly Difference[] = [
  {
    name: 'a tag of an application, such as !Ref, is for its reader',
    type: 'yaml',
    isThis: ({ error, said }) => error === undefined && /for the tag '?!/.test(said),
  },
  {
    name: 'YAML 1.2 has colons in names of anchors, and YAML 1.1 has none: a blank is asked for',
    type: 'yaml',
    isThis: ({ text, error }) => error !== undefined && /[&*]\w+:/.test(text),
  },
  {
    name: 'later lines of a list in brackets and of a text in quotes are indented',
    type: 'yaml',
    isThis: ({ error }) => /must be sufficiently indented|^Missing closing/.test(error?.text ?? ''),
  },
  {
    name: 'an anchor may be named twice: only Python refuses it',
    type: 'yaml',
    isThis: ({ error, said }) => error === undefined && said.includes('duplicate anchor'),
  },
  {
    name: 'a key may be there twice for Python alone',
    type: 'yaml',
    isThis: ({ error, said }) => error?.code === 'duplicateKey' && said === '',
  },
  {
    name: 'a slash may have a backslash for Python alone',
    type: 'yaml',
    isThis: ({ error, said }) => error?.code === 'wrongEscape' && said === '',
  },
  {
    name: 'a character of !!binary may be none of base64 for Python alone, and !!bool may be any word for Java',
    type: 'yaml',
    isThis: ({ text, error, said }) =>
      error?.code === 'wrongTagged' && said === '' && /!!(?:binary|bool)/.test(text),
  },
  {
    name: 'the line ends of YAML 1.1 alone are taken',
    type: 'yaml',
    isThis: ({ text, error }) => error === undefined && text.includes('\u0085'),
  },
  {
    name: 'a tab at the end of a line, or in front of a block, is taken',
    type: 'yaml',
    isThis: ({ text, error, said }) =>
      error === undefined && text.includes('\t') && said.includes('next token'),
  },
  {
    name: 'a merge sign alone is a text',
    type: 'yaml',
    isThis: ({ error, said }) => error === undefined && said.includes('yaml.org,2002:merge'),
  },
  {
    name: 'the tag of what is merged counts here alone',
    type: 'yaml',
    isThis: ({ text, error, said }) => error?.code === 'wrongTagged' && said === '' && /<<: !!/.test(text),
  },
  {
    name: 'a colon behind a bracket begins a text',
    type: 'yaml',
    isThis: ({ text, error }) => error === undefined && text.includes('{:'),
  },
  {
    name: 'a directive without a document is nothing',
    type: 'yaml',
    isThis: ({ text, error }) => error === undefined && /^%/m.test(text),
  },
  {
    name: 'NaN is JSON for Python alone',
    type: 'json',
    isThis: ({ text, error }) => error !== undefined && text.includes('NaN'),
  },
  { name: 'a text of blanks is not judged', type: 'json', isThis: ({ text }) => text.trim() === '' },
  { name: 'a text of blanks is not judged', type: 'xml', isThis: ({ text }) => text.trim() === '' },
]

interface Answer {
  /** What a reader makes of a text, in a form that two texts have alike if it cannot tell them apart. */
  readonly value: string | undefined
  readonly said: string
}

function answersOf([program, ...args]: Command, type: JudgedType, texts: readonly string[]): Answer[] {
  const input = texts.map((text) => `${type} ${Buffer.from(text).toString('base64')}\n`).join('')
  const cwd = preparedFolder(PROGRAM)
  const { stdout, stderr } = spawnSync(program, args, { cwd, input, maxBuffer: 1e9, encoding: 'utf8' })
  const lines = stdout.trimEnd().split('\n')
  if (lines.length !== texts.length) throw new Error(`${program} has read ${lines.length} texts: ${stderr}`)
  return lines.map((line) => {
    const rest = Buffer.from(line.slice(1), 'base64').toString()
    return line.startsWith('+') ? { value: rest, said: '' } : { value: undefined, said: rest }
  })
}

const tools = needTool(...JAVA_TOOLS, ...IN_PYTHON.tools)
const note = tools.skip ? ` (${tools.reason})` : ''

describe.skipIf(tools.skip)(`readers of applications${note}`, { timeout: LIMIT_MS }, () => {
  beforeAll(() => prepare(PROGRAM), PREPARE_LIMIT_MS)

  test.each<[string, JudgedType, Command]>([
    ['SnakeYAML', 'yaml', JAVA],
    ['PyYAML', 'yaml', PYTHON],
    ['java.util.Properties', 'properties', JAVA],
    ['tomllib', 'toml', PYTHON],
    ['json', 'json', PYTHON],
    ['expat', 'xml', PYTHON],
  ])('%s takes the texts that are right here, and no others', async (_, type, command) => {
    const texts = textsOf(type, COUNT)
    const answers = answersOf(command, type, texts)
    const judged = await Promise.all(
      texts.map(async (text, index): Promise<Judged & Answer> => {
        const errors = (await check(type, text)).filter((one) => !isWarning(one))
        return { text, error: errors[0], ...answers[index]! }
      }),
    )
    const differing = judged.filter(({ error, value }) => (error === undefined) !== (value !== undefined))
    const known = DIFFERENCES.filter((one) => one.type === type)
    expect(differing.filter((one) => !known.some(({ isThis }) => isThis(one)))).toEqual([])
    // Most texts must be none of the differences, and some right ones be among them.
    expect(judged.filter(({ value }) => value !== undefined).length).toBeGreaterThan(texts.length / 40)
    expect(differing.length).toBeLessThan(texts.length / 4)
  })

  test.each<[string, JudgedType, Command]>([
    ['SnakeYAML', 'yaml', JAVA],
    ['java.util.Properties', 'properties', JAVA],
    ['tomllib', 'toml', PYTHON],
    ['json', 'json', PYTHON],
    ['expat', 'xml', PYTHON],
  ])('two texts that %s tells apart never compare as equal', async (_, type, command) => {
    const texts = textsOf(type, COUNT)
    const answers = answersOf(command, type, texts)
    /** Texts by their keys and values, and by what the reader makes of them. */
    const groups = new Map<string, Map<string, string>>()
    let listed = 0
    for (const [index, text] of texts.entries()) {
      const { value } = answers[index]!
      const found = await keysOf(type, text)
      if (value === undefined || found === undefined || !('keys' in found)) continue
      listed++
      const keys = JSON.stringify([...found.keys].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      const group = groups.get(keys) ?? new Map<string, string>()
      groups.set(keys, group.set(value, text))
    }
    expect(
      [...groups.values()].filter((group) => group.size > 1).map((group) => [...group.values()]),
    ).toEqual([])
    expect(listed).toBeGreaterThan(texts.length / 40)
    // Otherwise nothing would have been compared.
    expect(groups.size).toBeLessThan(listed)
  })
})
