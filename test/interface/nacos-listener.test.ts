import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, sleep, unique } from './client.ts'

const waypost = serverForThisFile()
const listener = '/cs/configs/listener'
const held = { 'Long-Pulling-Timeout': '30000' }
/** A poll that is held takes longer. */
const HELD_MS = 20_000

async function published(content: string, tenant?: string): Promise<string> {
  const dataId = unique('watched')
  await waypost.nacos.post('/cs/configs', { dataId, group: 'G', content, tenant })
  return dataId
}

const watched = (...fields: string[]) => `${fields.join('\u0002')}\u0001`
const listen = (items: string, headers: Record<string, string> = held) =>
  waypost.nacos.post(listener, { 'Listening-Configs': items }, headers)

test('a poll with a difference is answered at once, encoded and with a newline at its end', async () => {
  const dataId = await published('new', 'blue')
  const answer = await listen(watched(dataId, 'G', md5('old'), 'blue'))
  expect(answer).toMatchObject({ status: 200, text: `${dataId}%02G%02blue%01\n` })
})

test('an item is echoed as the client named it: without a tenant, or with an empty one', async () => {
  const dataId = await published('new')
  expect((await listen(watched(dataId, 'G', ''))).text).toBe(`${dataId}%02G%01\n`)
  const named = decodeURIComponent((await listen(watched(dataId, 'G', '', ''))).text.trim())
  expect([watched(dataId, 'G', ''), watched(dataId, 'G')]).toContain(named)
})

test('a packet may be encoded twice', async () => {
  const dataId = await published('new')
  const answer = await listen(encodeURIComponent(watched(dataId, 'G', '')))
  expect(answer.text).toBe(`${dataId}%02G%01\n`)
})

test('the packet may be in the query string', async () => {
  const dataId = await published('new')
  const query = { 'Listening-Configs': watched(dataId, 'G', '') }
  const answer = await waypost.nacos.call('POST', listener, { query, headers: held })
  expect(answer.text).toBe(`${dataId}%02G%01\n`)
})

test('a held poll is answered after a change', async () => {
  const dataId = await published('old')
  const poll = listen(watched(dataId, 'G', md5('old')))
  await sleep(50)
  await waypost.nacos.post('/cs/configs', { dataId, group: 'G', content: 'new' })
  expect((await poll).text).toBe(`${dataId}%02G%01\n`)
})

test.concurrent('a poll without a change has an empty answer', async () => {
  const startedAt = performance.now()
  const answer = await listen(watched(unique('quiet'), 'G', ''), { 'Long-Pulling-Timeout': '2000' })
  expect(answer).toMatchObject({ status: 200 })
  expect(answer.text.trim()).toBe('')
  expect(performance.now() - startedAt).toBeGreaterThan(1_400)
})

test('No-Hangup answers at once', async () => {
  const startedAt = performance.now()
  const headers = { ...held, 'Long-Pulling-Timeout-No-Hangup': 'true' }
  expect((await listen(watched(unique('quiet'), 'G', ''), headers)).status).toBe(200)
  expect(performance.now() - startedAt).toBeLessThan(HELD_MS)
})

describe('without the timeout header', () => {
  test('a poll without a difference is answered at once', async () => {
    const startedAt = performance.now()
    const answer = await listen(watched(unique('quiet'), 'G', ''), {})
    expect(answer.status).toBe(200)
    expect(answer.text.trim()).toBe('')
    expect(performance.now() - startedAt).toBeLessThan(HELD_MS)
  })

  test('a poll with a difference is answered in the body, or in the headers that old clients read', async () => {
    const dataId = await published('new')
    const answer = await listen(watched(dataId, 'G', ''), {})
    expect(answer.status).toBe(200)
    const shown = `${answer.text} ${String(answer.headers['probe-modify-response-new'] ?? '')}`
    expect(shown).toContain(`${dataId}%02G%01`)
  })
})

test.each([undefined, '', 'plain\u0001', 'a\u0002g\u0001'])('the packet %j is a 400', async (items) => {
  const answer = await waypost.nacos.post(listener, { 'Listening-Configs': items }, held)
  expect(answer.status).toBe(400)
  expect(answer.headers['content-type'] ?? '').not.toMatch(/problem/)
  expect(answer.text).toMatch(/invalid probeModify|Listening-Configs/)
})
