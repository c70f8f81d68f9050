import type { Logger } from 'pino'
import { appendTo, appendToStream, EventLines } from '../../audit/event-lines.ts'
import { WrittenTrail } from '../../audit/written-trail.ts'
import type { KeptRecords } from '../../core/engine/ports.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import { AuditCleaner } from '../../jobs/audit-cleaner.ts'
import type { Settings } from '../../settings/settings.ts'
import { wallMs } from './clocks.ts'

/** The audit of a server. */
export type Audit = ReturnType<typeof openAudit>

interface ServerAuditParts {
  readonly store: KeptRecords
  readonly clock: () => Now
  readonly report: (error: unknown, text: string) => void
  /** Called when new events can be found. */
  readonly onWritten: () => void
}

/** Begins the audit of a server. */
export function openAudit(parts: ServerAuditParts, settings: Settings, log: Logger) {
  const { store, clock, report, onWritten } = parts
  const lines = eventLines(settings.auditLog, log)
  let hasNew = false
  const trail = new WrittenTrail({
    store,
    clock,
    wallMs,
    onEvent: (event) => {
      hasNew = true
      lines?.write(event)
    },
    onDrop: () => log.error({}, 'events of the audit are lost: the store does not take those before them'),
  })
  const { auditRetentionMs: retentionMs, auditMaxEvents: maxEvents } = settings
  const cleaner = new AuditCleaner({ store, wallMs, retentionMs, maxEvents })
  let isFailing = false
  return {
    trail,
    cleaner,
    /** Writes the waiting events. Events that cannot be written keep waiting; the first failure is reported. */
    async flush(): Promise<void> {
      try {
        const isNew = hasNew
        hasNew = false
        await trail.flush()
        isFailing = false
        if (isNew) onWritten()
      } catch (error) {
        if (!isFailing) report(error, 'events of the audit could not be written: they are kept for now')
        isFailing = true
      }
    },
    /** Writes all recorded events. Rejects if the store cannot write. */
    async close(): Promise<void> {
      cleaner.stop()
      try {
        await trail.close()
      } finally {
        // The trail sends the last counts.
        await lines?.close()
      }
    },
  }
}

function eventLines(target: string, log: Logger): EventLines | undefined {
  if (target === '') return undefined
  const append = target === 'stdout' ? appendToStream(process.stdout) : appendTo(target)
  return new EventLines(append, (error) =>
    log.error({ target, err: error }, 'lines of the audit cannot be written: look at the setting audit-log'),
  )
}
