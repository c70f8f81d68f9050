/** Tokens of the server before this one count with its secret: for users of here, with their rights of here, for a while. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { runWaypost, startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const KEY = Buffer.from('5b'.repeat(64), 'hex')
const until = (ms: number) => new Date(Date.now() + ms).toISOString()

let managed: ManagedWaypost
let waypost: Waypost

/** The users are there before the old server stops: a password that is set later ends its tokens. */
beforeAll(async () => {
  managed = await startManaged()
  const permissions = { ':G:config/*': 'rw' } as const
  await managed.addUser({ username: 'ann', password: 'secret of ann', permissions })
  await managed.addUser({ username: 'ben', password: 'secret of ben', permissions: {} })
  await managed.waypost.stop()
  const file = join(temporaryDirectory('secret-'), 'secret')
  writeFileSync(file, KEY.toString('base64'))
  const settings = { auth: 'on', 'accept-token-secret': file, 'accept-token-until': until(3_600_000) }
  const { port, dataDir } = managed.waypost
  waypost = await startWaypost({ port, dataDir, settings })
})
afterAll(async () => waypost?.stop())

/** As a Java server of 2.x or 3.x signs with a key of 64 bytes; of 1.x: HS256. */
function oldToken(username: string, { alg = 'HS512', key = KEY } = {}): Promise<string> {
  const end = Math.floor(Date.now() / 1000) + 600
  return new SignJWT({}).setProtectedHeader({ alg }).setSubject(username).setExpirationTime(end).sign(key)
}

async function publish(token: string): Promise<number> {
  const body = new URLSearchParams({ dataId: 'd', group: 'G', content: 'c', accessToken: token })
  const { status } = await fetch(`${waypost.url}/nacos/v1/cs/configs`, { method: 'POST', body })
  return status
}

test('they count for a user of this server with its rights here, and for no administrator', async () => {
  expect(await publish(await oldToken('ann'))).toBe(200)
  expect(await publish(await oldToken('ann', { alg: 'HS256' }))).toBe(200)
  const others = ['ben', 'eve', 'nacos'].map(async (username) => publish(await oldToken(username)))
  expect(await Promise.all(others)).toEqual([403, 403, 403])
  expect(await publish(await oldToken('ann', { key: Buffer.alloc(64, 1) }))).toBe(403)
})

test('the audit names them, and that they are accepted', async () => {
  const events = async (operation: string) =>
    JSON.parse(await managed.ask('GET', `/svc/v1/audit?operation=${encodeURIComponent(operation)}`))
      .events as {
      username: string
      by: string
      item: string
    }[]
  await expect
    .poll(async () => (await events('publish config')).map(({ username, by }) => `${username} ${by}`))
    .toContain('ann old-token')
  expect((await events('accept old tokens')).map(({ item }) => item)).toEqual([
    expect.stringContaining('until 2'),
  ])
})

test('a start is refused with a secret that is published', async () => {
  const directory = temporaryDirectory('secret-')
  const file = join(directory, 'secret')
  writeFileSync(file, `SecretKey${'0123456789'.repeat(6)}\n`)
  const flags = {
    'data-dir': join(directory, 'data'),
    'accept-token-secret': file,
    'accept-token-until': until(9_000),
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const { code, stdout, stderr } = await runWaypost(['start', '--port=0', ...args])
  expect(code).not.toBe(0)
  expect(stdout + stderr).toContain('is published')
})
