import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageVersion } from '../../command/version.ts'
import { start, type StartServer } from './start.ts'

/** The flags of `dev`. */
export interface DevFlags {
  readonly port?: string
}

/** Runs an empty server for trying, until a signal stops it: then its data go. Resolves with the exit code of `start`. */
export async function dev(flags: DevFlags, startServer: StartServer): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-dev-'))
  const fixed = {
    'data-dir': directory,
    store: 'embedded',
    auth: 'off',
    temporary: true,
    'log-level': 'warn',
  }
  try {
    return await start({ flags: { ...flags, ...fixed } }, startServer, devBanner)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function devBanner(_: unknown, { url, grpcPort }: { url: string; grpcPort: number | undefined }): string {
  const grpc = grpcPort === undefined ? '' : `, and ${grpcPort} for gRPC`
  const box = boxed([
    `Waypost ${packageVersion()}, for trying`,
    '',
    `console  ${url}/ui`,
    `clients  ${new URL(url).host}${grpc}`,
    '',
    'Nobody signs in. Ctrl-C ends it, and its data are gone.',
  ])
  return `${box}  try      curl '${url}/svc/v1/cs/configs' -d 'dataId=hello&group=DEFAULT_GROUP&content=world'\n`
}

function boxed(lines: readonly string[]): string {
  const width = Math.max(...lines.map(({ length }) => length))
  const rule = '─'.repeat(width + 4)
  const rows = lines.map((line) => `│  ${line.padEnd(width)}  │`)
  return `┌${rule}┐\n${rows.join('\n')}\n└${rule}┘\n`
}
