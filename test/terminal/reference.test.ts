/** The documents and the help about the commands. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { examplesOf } from '../../src/command/command-line.ts'
import { makeProgram } from '../../src/main/program.ts'
import { apiDocument } from '../../src/server/doors/api-document.ts'

const unused = () => Promise.reject(new Error('no command runs here'))
const program = makeProgram({
  startServer: unused,
  directoryTools: unused,
  storeCopies: unused,
  storedAccounts: unused,
})

function leavesOf(command: Command, words: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]]
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]))
}

const leaves = leavesOf(program)
const guide = readFileSync(new URL('../../docs/terminal.md', import.meta.url), 'utf8')

test('docs/terminal.md describes the JSON of every command that has one, and of no other', () => {
  const table = guide.slice(guide.indexOf('| Command '))
  const described = [...table.matchAll(/^\| (`[^|]*`) +\|/gm)].flatMap(([, cell]) =>
    cell!.match(/(?<=`)[a-z -]+(?=`)/g),
  )
  const named = described.filter((name) => name !== null && name.trim() !== '' && name !== ', ')
  const withOutput = leaves.filter(([, one]) => one.options.some(({ long }) => long === '--output'))
  expect(named.toSorted()).toEqual(withOutput.map(([name]) => name).toSorted())
})

test('the guide names the schemas that the API document has', () => {
  const { components } = JSON.parse(apiDocument()) as { components: { schemas: object } }
  const table = guide.slice(guide.indexOf('| Command '))
  const schemas = [...table.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name)
  expect(schemas.length).toBeGreaterThan(10)
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(schemas))
})

describe('each command', () => {
  test.each(leaves)('%s has a sentence, and says what its words and flags are', (_, command) => {
    expect(command.description()).toMatch(/^[A-Z].*\.$/)
    for (const argument of command.registeredArguments) expect(argument.description).not.toBe('')
    for (const option of command.options) if (!option.hidden) expect(option.description).not.toBe('')
  })

  test.each(leaves)('the examples of %s are lines that it reads', (name, command) => {
    for (const [line] of examplesOf(command)) {
      expect(line).toContain(`waypost ${name}`)
      for (const [flag] of line.matchAll(/(?<= )--[\w-]+/g))
        expect(command.options.map(({ long }) => long)).toContain(flag)
    }
  })
})

test('the settings of `start` are in groups', () => {
  const help = program.commands.find((one) => one.name() === 'start')!.helpInformation()
  expect(help).toContain('\nSign-in and TLS:\n  --auth [value]')
})
