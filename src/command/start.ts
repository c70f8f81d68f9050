import { loadSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/settings.ts'
import { SettingsError } from '../settings/settings-error.ts'
import { banner } from './banner.ts'
import { startFailure } from './start-failure.ts'
import { packageVersion } from './version.ts'

/** A server to start: what main.ts hands in, so that commands join no parts themselves. */
export type StartServer = (settings: Settings) => Promise<{ readonly url: string; stop(): Promise<void> }>

/**
 * Runs the server until a signal stops it. Resolves with the exit code: 0 after a signal, 1 where the server could not
 * start or stop, 2 where the settings are wrong. A second signal ends the process at once with 1.
 */
export async function start(args: readonly string[], startServer: StartServer): Promise<number> {
  const settings = settingsOrProblems(args)
  if (!settings) return 2
  const signalled = firstSignal()
  const server = await startServer(settings).catch((error: unknown) =>
    complain(startFailure(error, settings)),
  )
  if (!server) return 1
  // A server lives on when nobody reads its output any more.
  process.stdout.on('error', () => {})
  process.stdout.write(banner(packageVersion(), settings, server.url))
  await signalled
  return server.stop().then(() => 0, stopFailed)
}

function stopFailed(error: unknown): number {
  complain(`stopping failed: ${error instanceof Error ? error.message : String(error)}`)
  return 1
}

function settingsOrProblems(args: readonly string[]): Settings | undefined {
  try {
    return loadSettings({ args, env: process.env })
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    for (const problem of error.problems) complain(problem)
    return undefined
  }
}

/** Resolves at the first SIGTERM or SIGINT, also at one that comes while the server is still starting. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const onSignal = () => {
      if (asked) process.exit(1)
      asked = true
      resolve()
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  })
}

function complain(problem: string): void {
  process.stderr.write(`waypost: ${problem}\n`)
}
