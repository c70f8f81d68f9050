import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether a test must be skipped because a tool is missing, and the reason. */
export interface NeededTools {
  readonly skip: boolean
  readonly reason: string
}

/** Where servers are installed that are not on the path of a plain user. */
const SYSTEM_DIRECTORIES = ['/usr/sbin', '/usr/local/sbin']

/**
 * Looks for programs that a test needs, as in `beforeEach(({ skip }) => skip(go.skip, go.reason))` with
 * `const go = needTool('go')`, or `describe.skipIf(go.skip)('…')`. Throws with CI=true, where a missing tool is a failure.
 * Alternatives are separated by `|`: `needTool('mariadbd|mysqld')`.
 */
export function needTool(...names: string[]): NeededTools {
  const missing = names.filter((name) => !name.split('|').some(isInstalled))
  if (missing.length === 0) return { skip: false, reason: '' }
  const reason = `not installed here: ${missing.join(', ')}`
  if (process.env['CI'] === 'true') throw new Error(`A tool that this test needs is ${reason}`)
  return { skip: true, reason }
}

/** Like needTool, for a test that needs root too. */
export function needRootAndTool(...names: string[]): NeededTools {
  const tools = needTool(...names)
  if (tools.skip || process.getuid?.() === 0) return tools
  if (process.env['CI'] === 'true') throw new Error('This test needs root')
  return { skip: true, reason: 'needs root' }
}

/** Whether a program is installed. */
export function isInstalled(name: string): boolean {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_DIRECTORIES]
  return directories.some((directory) => isExecutable(join(directory, name)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
