import { parseArgs, type ParseArgsConfig } from 'node:util'

/** What a person got wrong on the command line; `message` says what and how it is right. */
export class UsageError extends Error {}

/** What went wrong at work: `message` is for the person who waits. */
export class TransferError extends Error {}

/** The values of flags, read strictly: an unknown or repeated one is a UsageError. */
export function readFlags<T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** A flag that must be given. */
export function required(name: string, value: string | undefined, meaning: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is required: ${meaning}`)
  return value
}

/** Where a server listens unless told otherwise. */
const DEFAULT_URL = 'http://127.0.0.1:8848'

/** The address of the server, without a slash at its end. */
export function serverUrl(value: string | undefined): string {
  const text = value ?? DEFAULT_URL
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(`--url must be an address such as ${DEFAULT_URL}, but is ${JSON.stringify(text)}`)
  return text.replace(/\/+$/, '')
}

/** Runs a command and answers its exit code: 0, 1 where the work failed, 2 for a wrong command line. */
export async function exitCodeOf(run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    process.stderr.write(`waypost: ${messageOf(error)}\n`)
    if (error instanceof UsageError) return 2
    return 1
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // fetch says only that it failed; what did stands in the cause.
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
