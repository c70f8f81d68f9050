import pino, { type Logger } from 'pino'
import type { Settings } from './settings/settings.ts'

/**
 * The server's log: one line of JSON a fact, on standard error. error: a person must act; warn: it heals by
 * itself; info: what an operator wants to find later. What clients sent is escaped by being JSON.
 */
export function openLog(settings: Pick<Settings, 'logLevel'>): Logger {
  return pino(
    { level: settings.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  )
}
