/** Completion in shells, and the manual page. */
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { Terminal } from './terminal.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const MANUAL = fileURLToPath(new URL('../../dist/waypost.1', import.meta.url))
const directory = temporaryDirectory('completion-')
const terminal = new Terminal()

beforeAll(async () => {
  // The scripts ask the command on the path for the names of contexts.
  writeFileSync(join(directory, 'waypost'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`)
  chmodSync(join(directory, 'waypost'), 0o755)
  await terminal.ok('context', 'set', 'prod', '--server', 'http://127.0.0.1:1')
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(join(directory, shell), await terminal.ok('completion', shell))
})

const inShell = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, {
    env: {
      PATH: `${directory}:${process.env['PATH']}`,
      HOME: directory,
      WAYPOST_CLIENT_FILE: terminal.clientFile,
    },
  }).toString()

/** The words that may follow, as bash and fish say: a line of words of which the last one is being typed. */
const CASES: readonly (readonly [line: string, includes: string[], excludes: string[]])[] = [
  ['waypost co', ['completion', 'config', 'context'], ['start']],
  ['waypost config ', ['get', 'put', 'apply', 'watch'], ['start', 'instances']],
  ['waypost -n dev config g', ['get'], ['put']],
  ['waypost config get --o', ['--output'], ['--group']],
  ['waypost config get -o ', ['table', 'json', 'yaml', 'name'], ['get']],
  ['waypost import --policy ', ['abort', 'skip', 'overwrite'], ['get']],
  ['waypost status --context ', ['prod'], ['get']],
  ['waypost start --auth --p', ['--port', '--peer-port', '--password-rule'], ['--policy']],
]

describe.skipIf(needTool('bash').skip)('bash', () => {
  test.each(CASES)('completes %j', (line, includes, excludes) => {
    const words = line.split(' ')
    const script = `source ${join(directory, 'bash')}
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
      _waypost; printf '%s\\n' "\${COMPREPLY[@]}"`
    const found = inShell('bash', ['--norc', '-c', script]).split('\n')
    expect(found).toEqual(expect.arrayContaining(includes.filter((name) => name.startsWith(words.at(-1)!))))
    for (const name of excludes) expect(found).not.toContain(name)
  })
})

describe.skipIf(needTool('fish').skip)('fish', () => {
  test.each(CASES)('completes %j', (line, includes, excludes) => {
    const script = `source ${join(directory, 'fish')}; complete -C '${line}'`
    const found = inShell('fish', ['-c', script])
      .split('\n')
      .map((one) => one.split('\t')[0])
    const typed = line.split(' ').at(-1)!
    expect(found).toEqual(expect.arrayContaining(includes.filter((name) => name.startsWith(typed))))
    for (const name of excludes) expect(found).not.toContain(name)
  })
})

test.skipIf(needTool('zsh').skip)('the script for zsh can be read', () => {
  expect(inShell('zsh', ['-f', '-n', join(directory, 'zsh')])).toBe('')
})

test('another shell is refused, with those that there are', async () => {
  const { code, err } = await terminal.run(['completion', 'csh'])
  expect([code, err]).toEqual([2, expect.stringContaining('Allowed choices are bash, zsh, fish')])
})

describe('the manual page', () => {
  test('describes each command', () => {
    const text = readFileSync(MANUAL, 'utf8')
    for (const name of ['start', 'config apply', 'service disable', 'user add', 'completion'])
      expect(text).toContain(`.SS waypost ${name}`)
  })

  test.skipIf(needTool('groff').skip)('is read by groff without a warning', () => {
    expect(inShell('sh', ['-c', `groff -man -ww -z ${MANUAL} 2>&1`])).toBe('')
    const shown = inShell('sh', ['-c', `groff -man -Tutf8 -P-cbou ${MANUAL}`])
    expect(shown).toContain('waypost config get <item>'.replace('<item>', 'item'))
    expect(shown).toMatch(/\$ waypost config apply -f config\/prod --set shop -n prod --prune --yes/)
  })
})
