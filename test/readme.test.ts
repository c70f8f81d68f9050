import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { needTool } from './support/need-tool.ts'
import { startWaypost } from './support/waypost.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const tools = needTool('bash', 'curl')
const STEP_END = '---end of step---'

interface Step {
  readonly commands: string
  /** The output in the README for them. */
  readonly shown: string
}

test.skipIf(tools.skip)('the tour of the README answers what it shows', async () => {
  const steps = tourOf(readme)
  const server = await startWaypost({ settings: { 'log-level': 'silent' } })
  try {
    const outputs = await runTogether(steps, server.port)
    expect(steps.length).toBeGreaterThan(5)
    for (const [index, { commands, shown }] of steps.entries()) {
      expect(squeezed(outputs[index] ?? ''), commands).toMatch(patternOf(shown))
    }
  } finally {
    await server.stop()
  }
})

test('every settings flag that the README names exists', () => {
  const settings = readFileSync(join(root, 'docs/settings.md'), 'utf8')
  const flags = [...readme.matchAll(/npm start -- ([^`\n]*)/g)].flatMap(([, args]) =>
    [...args!.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag),
  )
  expect(flags).not.toEqual([])
  for (const flag of flags) expect(settings).toContain(`| \`${flag}\` |`)
})

/** The `sh` blocks of the README, each with the `text` block that shows what it prints. */
function tourOf(text: string): Step[] {
  const blocks = text.matchAll(/^```sh\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, commands, shown]) => ({ commands: commands!, shown: shown! }))
}

/** One shell for all steps, as a reader has: variables stay. Resolves with the output of each step. */
async function runTogether(steps: readonly Step[], port: number): Promise<string[]> {
  const script = steps.map(({ commands }) => `${commands}\nwait\necho '${STEP_END}'`).join('\n')
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    script.replaceAll('127.0.0.1:8848', `127.0.0.1:${port}`),
  ])
  return stdout.split(STEP_END)
}

/** Where lines end is not part of what is shown. */
function squeezed(text: string): string {
  return text.replaceAll(/\s/g, '')
}

function patternOf(shown: string): RegExp {
  const parts = squeezed(shown).split('…')
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*?')}$`)
}
