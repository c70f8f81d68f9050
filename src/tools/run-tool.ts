import { NotExaminable } from '../store/embedded/doctor/sqlite-check.ts'
import { type FlagKinds, type Flags, readToolFlags, WrongArguments } from './tool-arguments.ts'
import { ToolProgress } from './tool-progress.ts'

/** What a tool came to. `text` is for people and `json` for machines; `code` is that of the process. */
export interface ToolResult {
  readonly code: number
  readonly text: string
  readonly json: object
}

/** A command besides `start`. */
export interface Tool {
  readonly flags: FlagKinds
  run(flags: Flags, progress: ToolProgress): Promise<ToolResult> | ToolResult
}

const USAGE = 2

/**
 * Runs a tool to its end and prints what it came to, as JSON with `--json`. Resolves with the exit code: the tool's,
 * 1 where it failed, 2 where it was asked wrongly or of a directory that it cannot work on.
 */
export async function runTool(tool: Tool, args: readonly string[]): Promise<number> {
  const progress = new ToolProgress()
  const asJson = args.includes('--json')
  try {
    const { code, text, json } = await tool.run(
      readToolFlags(args, { ...tool.flags, json: 'switch' }),
      progress,
    )
    progress.end()
    await written(asJson ? `${JSON.stringify(json)}\n` : printable(text))
    return code
  } catch (error) {
    progress.end()
    const message = error instanceof Error ? error.message : String(error)
    if (asJson) await written(`${JSON.stringify({ error: message })}\n`)
    process.stderr.write(printable(`waypost: ${message}\n`))
    return error instanceof WrongArguments || error instanceof NotExaminable ? USAGE : 1
  }
}

/** Resolves when the text is on its way: the end of the process would cut what a pipe has not taken yet. */
async function written(text: string): Promise<void> {
  await new Promise((resolve) => process.stdout.write(text, resolve))
}

/** What stands in a damaged store must not steer a terminal. */
function printable(text: string): string {
  return text.replaceAll(
    /(?!\n)\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}
