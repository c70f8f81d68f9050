/** A request that was allowed once is judged again: a poll when it is answered, and a beat each time it comes. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../interface/client.ts'
import {
  bearer,
  changed,
  HOOK_LIMIT_MS,
  ITEM,
  MARK,
  SERVICE,
  sessionOf,
  startVault,
  type Vault,
} from './vault.ts'

let vault: Vault
/** Of a session of the user. */
let cookie: string

beforeAll(async () => {
  vault = await startVault()
  cookie = await sessionOf(vault.client)
}, HOOK_LIMIT_MS)
afterAll(async () => {
  vault?.client.close()
  await vault?.waypost.stop()
})

describe('a poll that is held', () => {
  const md5 = createHash('md5').update('polled').digest('hex')
  const item = { ...ITEM, dataId: 'vault-polled' }
  const form = {
    'Listening-Configs': `${item.dataId}\u0002${item.group}\u0002${md5}\u0002${item.tenant}\u0001`,
  }
  const publish = (content: string) => vault.manage('POST', '/svc/v1/cs/configs', { ...item, content })

  test.each(['svc', 'nacos'])('tells nothing once the permission is taken, on /%s', async (dialect) => {
    await publish('polled')
    await vault.become('reader')
    const headers = { ...bearer(vault.token), 'Long-Pulling-Timeout': '30000' }
    const path = `/${dialect}/v1/cs/configs/listener`
    const poll = vault.client.call('POST', path, { form, headers })
    await until(
      () => vault.client.get('/metrics', {}, bearer(vault.admin)),
      ({ text }) => /^waypost_polls_held 1$/m.test(text),
    )
    await vault.become('newcomer')
    await publish('changed')
    expect((await poll).text).not.toContain(MARK)
    expect((await vault.client.call('POST', path, { form, headers })).status).toBe(403)
  })
})

describe('a beat that is repeated word for word', () => {
  const target = (dialect: string, more: object) =>
    `/${dialect}/v1/ns/instance/beat?${new URLSearchParams({ ...SERVICE, ip: '10.0.0.1', port: '80', ...more })}`
  const put = async (path: string, headers = {}) => (await vault.client.call('PUT', path, { headers })).status

  beforeAll(() => vault.manage('POST', '/svc/v1/ns/instance', { ...SERVICE, ip: '10.0.0.1', port: '80' }))

  test.each(['svc', 'nacos'])('is refused as soon as the permission is taken, on /%s', async (dialect) => {
    const plain = target(dialect, {})
    const ways = [
      () => put(plain, bearer(vault.token)),
      () => put(target(dialect, { accessToken: vault.token })),
    ]
    for (const beat of ways) {
      await vault.become('writer')
      const seen = [await beat(), await beat(), await beat()]
      await vault.become('reader')
      seen.push(await beat())
      await vault.become('outsider')
      seen.push(await beat())
      await vault.become('writer')
      seen.push(await beat())
      expect(seen).toEqual([200, 200, 200, 403, 403, 200])
    }
  })

  test.each(['svc', 'nacos'])('is judged by who sends it, on /%s', async (dialect) => {
    await vault.become('writer')
    const beat = target(dialect, {})
    expect(await put(beat, bearer(vault.token))).toBe(200)
    expect(await put(beat, bearer(vault.token))).toBe(200)
    expect(await put(beat)).toBe(403)
    expect(await put(beat, bearer(changed(vault.token)))).toBe(403)
    expect(await put(beat, bearer(vault.expired))).toBe(403)
    expect(await put(beat, { cookie: `${cookie}x` })).toBe(403)
    expect(await put(beat, { cookie })).toBe(200)
    expect(await put(beat, { authorization: 'Bearer', cookie: '' })).toBe(403)
    expect(await put(beat, bearer(vault.token))).toBe(200)
  })
})
