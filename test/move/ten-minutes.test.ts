/** The commands of docs/recipes/from-nacos.md, with recorded answers of Java 1.4.8 as the old server. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startManaged } from '../support/administrator.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { Terminal } from '../terminal/terminal.ts'
import { ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/recipes/from-nacos.md', import.meta.url)), 'utf8')

/** How the commands end, by their beginning. Not all answers were recorded: the plan and the comparison lack some. */
const ENDS: readonly (readonly [begin: string, code: number, said: RegExp])[] = [
  ['login', 0, /^Signed in to /],
  ['move --from', 1, / 1 {2}config\n/],
  ['move --apply', 0, / 0 kept, 0 refused\n/],
  ['parity', 2, / 1 +1 +0 {2}config\n/],
  ['config list', 0, /sh\.x/],
  ['status', 0, /configs +1\n/],
  ['service list', 0, /^/],
]

test('the commands of the ten minutes bring the data of a Nacos server over', async () => {
  const commands = [...page.matchAll(/^\$ waypost (.*)$/gm)].map(([, command]) => command!)
  // The server that they make is here already, with its administrator.
  expect(commands.splice(0, 2).map((command) => command.split(' ')[0])).toEqual(['user', 'start'])
  expect(commands.map((command) => ENDS.find(([begin]) => command.startsWith(begin))?.[0])).toEqual(
    ENDS.map(([begin]) => begin),
  )
  const old = await ReplayOfRecordedAnswers.start('1.4.8')
  const { waypost } = await startManaged({ settings: { auth: 'report' } })
  const terminal = new Terminal({ WAYPOST_PASSWORD: 'secret' })
  const plan = join(temporaryDirectory('minutes-'), 'nacos.plan')
  const here = (command: string): string[] =>
    command
      .replaceAll('http://127.0.0.1:8848/nacos', old.url)
      .replaceAll('127.0.0.1:18848', `127.0.0.1:${waypost.port}`)
      .replaceAll('nacos.plan', plan)
      .replaceAll('ann', 'nacos')
      .split(' ')
  try {
    for (const [index, [, code, said]] of ENDS.entries()) {
      const ran = await terminal.run(here(commands[index]!))
      expect([ran.code, ran.out], commands[index] + ran.err).toEqual([code, expect.stringMatching(said)])
    }
  } finally {
    await Promise.all([old.stop(), waypost.stop()])
  }
}, 60_000)
