import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import type { ManagedWaypost } from '../support/administrator.ts'
import { runWaypost } from '../support/waypost.ts'

/** The old server answers its clients meanwhile. */
const LIMIT_MS = 120_000

/** Reads a plan of a server that asks for no sign-in. Resolves with its file. */
export async function readPlanOf(url: string, ...flags: readonly string[]): Promise<string> {
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'swap-')), 'plan')
  const made = await runWaypost(
    ['move', '--from', url, '--plan', file, '--rate', '10000', ...flags],
    {},
    LIMIT_MS,
  )
  expect(made.code, `${made.stdout}${made.stderr}`).toBe(0)
  return file
}

/** Applies a plan to a server of `startManaged`. */
export async function applyPlan(file: string, url: string): Promise<void> {
  const args = ['move', '--apply', file, '--to', url, '--username', 'nacos']
  const applied = await runWaypost(args, { WAYPOST_PASSWORD: 'secret' }, LIMIT_MS)
  expect(applied, `${applied.stdout}${applied.stderr}`).toMatchObject({ code: 0 })
}

/** Imports nothing but what the clock of a server before it shows: its lists are ahead from then on. */
export async function importHead(
  { waypost }: Pick<ManagedWaypost, 'waypost'>,
  clockMs: number,
): Promise<void> {
  const body = new URLSearchParams({ username: 'nacos', password: 'secret' })
  const login = await fetch(`${waypost.url}/svc/v1/auth/login`, { method: 'POST', body })
  const { accessToken } = (await login.json()) as { accessToken: string }
  const head = { kind: 'plan', format: 1, madeMs: 1, sources: [], counts: {}, lastRefMs: clockMs }
  const { status } = await fetch(`${waypost.url}/svc/v1/operator/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson', Authorization: `Bearer ${accessToken}` },
    body: JSON.stringify(head),
  })
  expect(status).toBe(200)
}
