import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { expect, test } from 'vitest'
import type { AuditEntry } from '../../core/audit/audit-event.ts'
import type { Store } from '../../core/engine/ports.ts'
import { loadSettings } from '../../settings/settings.ts'
import { openAudit } from './audit.ts'

const refused: AuditEntry = {
  username: 'ann',
  by: 'token',
  ip: '10.0.0.1',
  operation: 'read config',
  item: 'dev:G:config/a',
  result: 'refused',
  code: 'forbidden',
  detail: '',
}

test.each([true, false])(
  'at the end the lines have the last counts, whether the store works: %s',
  async (works) => {
    const file = join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.log')
    const saveAudit = () => (works ? Promise.resolve() : Promise.reject(new Error('disk full')))
    const store = { saveAudit } as unknown as Store
    const clock = () => ({ wallMs: 1_000, healthMs: 0, stamp: 7 })
    const settings = loadSettings({ flags: { 'audit-log': file }, env: {} })
    const audit = openAudit(
      { store, clock, report: () => undefined, onWritten: () => undefined },
      settings,
      {} as Logger,
    )
    audit.trail.record(refused)
    audit.trail.record(refused)
    const closed = audit.close()
    if (works) await closed
    else await expect(closed).rejects.toThrow('disk full')
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { audit: 7, count: 1 },
      { audit: 7, count: 2 },
    ])
  },
)
