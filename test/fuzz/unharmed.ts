import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { expect } from 'vitest'
import type { Waypost } from '../support/waypost.ts'

/** By then a server has closed what its clients have left; a request that is begun may take `request-timeout`. */
const CLOSED_MS = 30_000

/**
 * Expects that a run has done a server no harm, which may answer all the same: no fault was caught at a boundary, none is in
 * its log, and no socket is left open whose client has gone. Call it before a restart.
 */
export async function expectUnharmed(server: Waypost): Promise<void> {
  expect(await faultsOf(server)).toBeUndefined()
  expect(server.output()).not.toMatch(/"level":(50|60)/)
  await expect.poll(() => leftSockets(server), { timeout: CLOSED_MS, interval: 250 }).toBe(0)
}

/** The faults that `/readyz` counts; undefined where there is none. */
export async function faultsOf({ url }: Pick<Waypost, 'url'>): Promise<unknown> {
  const { get } = url.startsWith('https:') ? https : http
  const text = await new Promise<string>((resolve, reject) => {
    const request = get(`${url}/readyz`, { agent: false, rejectUnauthorized: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
    request.on('error', reject)
  })
  return (JSON.parse(text) as { faults?: unknown }).faults
}

/** `CLOSE_WAIT` in /proc/net/tcp: the other side has closed its end, and this one has not. */
const CLOSE_WAIT = '08'

/** How many connections of a server its clients have left, and it has not. Where there is no /proc: none is seen. */
function leftSockets({ port }: Pick<Waypost, 'port'>): number {
  const ports = [port, port + 1_000].map((each) => each.toString(16).toUpperCase().padStart(4, '0'))
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === CLOSE_WAIT && ports.includes(local.split(':')[1] ?? ''))
    .length
}
