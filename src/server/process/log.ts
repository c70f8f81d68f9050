import pino, { type Logger } from 'pino'
import type { Settings } from '../../settings/settings.ts'

/**
 * Opens the server's log: one JSON object per line, on standard error. An `error` needs a person, a `warn` heals by
 * itself, an `info` is a fact for later. JSON escapes texts of clients.
 */
export function openLog(settings: Pick<Settings, 'logLevel'>): Logger {
  return pino(
    { level: settings.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  )
}
