/** Old servers that answer nothing, slowly, or without an end: each command that reads them says so, and ends. */
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { sampled } from '../support/sampled.ts'
import { MAIN, runWaypost } from '../support/waypost.ts'

const LIMIT_MS = 40_000
const PART = Buffer.alloc(1024 * 1024, 'x')

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function serverWith(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that is found to be an old one, and has no things. */
const found =
  (then: RequestListener): RequestListener =>
  (asked, response) =>
    asked.url!.includes('/console/server/state') ? response.end('{"version":"2.1.0"}') : then(asked, response)

const newPlan = (): string => join(mkdtempSync(join(inject('temporaryDirectory'), 'silent-')), 'plan')

/** Each command that asks a server of others. */
const COMMANDS: Readonly<Record<string, (url: string) => string[]>> = {
  'move --from': (url) => ['move', '--from', url, '--plan', newPlan()],
  'move --to': (url) => ['move', '--apply', newPlan(), '--to', url],
  'parity --old': (url) => ['parity', '--old', url, '--new', url],
}

function drip(response: ServerResponse): void {
  const dripping = setInterval(() => response.write('x'), 200)
  closing.push(() => clearInterval(dripping))
}

const SLOW: Readonly<Record<string, RequestListener>> = {
  'never answers': () => {},
  'answers a byte now and then': (_, response) => drip(response),
  // The way back reads its plan before it asks again.
  'is silent once it is found': found(() => {}),
}
const SAYING = Object.entries(COMMANDS).flatMap(([name, args]) =>
  Object.entries(SLOW)
    .filter(([way]) => name !== 'move --to' || !way.includes('found'))
    .map(([way, answer]) => ({ name, args, way, answer })),
)

test.each(sampled(SAYING, ({ way }) => way))(
  '$name says what it waits for: a server that $way',
  async ({ args, answer }) => {
    const url = await serverWith(answer)
    const child = spawn(process.execPath, [MAIN, ...args(url)])
    closing.push(() => child.kill('SIGKILL'))
    let stderr = ''
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
    await expect.poll(() => stderr, { timeout: LIMIT_MS }).toContain(`waypost: waiting for ${url}/`)
  },
  2 * LIMIT_MS,
)

describe.each(Object.entries(COMMANDS))('%s', (_, args) => {
  test.each<[string, RequestListener]>([
    ['without an end', (_asked, response) => endless(response)],
    ['of 2^60 bytes, as it says', (_asked, response) => endless(response, String(2n ** 60n))],
  ])(
    'ends, and says why: an answer %s',
    async (_way, answer) => {
      const url = await serverWith(answer)
      const { code, stderr } = await runWaypost(args(url), {}, LIMIT_MS)
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^(?:waypost: waiting for \S+, \d+ s\n)*waypost: [^\n]*\n$/),
      ])
    },
    2 * LIMIT_MS,
  )
})

function endless(response: ServerResponse, length?: string): void {
  if (length !== undefined) response.setHeader('content-length', length)
  Readable.from(parts()).pipe(response)
}

function* parts(): Generator<Buffer> {
  for (;;) yield PART
}
