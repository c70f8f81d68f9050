import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { startFixture } from './fixture.ts'

let at: ReturnType<typeof startFixture>
beforeEach(() => (at = startFixture()))

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const watched = (...fields: string[]) => `${fields.join('\u0002')}\u0001`
const POLL = { 'long-pulling-timeout': '30000' }

async function publish(dataId: string, content: string, more: Record<string, string> = {}) {
  await at.svc('POST', '/cs/configs', { params: { dataId, group: 'G', content, ...more } })
}

async function settled() {
  for (let turn = 0; turn < 10; turn++) await setImmediate()
}

describe.each(['svc', 'nacos'] as const)('%s: a poll', (dialect) => {
  const listen = (items: string, headers: Record<string, string> = POLL) =>
    at[dialect]('POST', '/cs/configs/listener', { params: { 'Listening-Configs': items }, headers })

  test.each([
    ['30000', 29_500],
    ['100', 500],
    ['-7', 500],
    ['99999999', 59_500],
  ])('with a timeout of %s is answered with nothing after %i ms', async (timeout, endsMs) => {
    const asked = await listen(watched('a', 'G', ''), { 'long-pulling-timeout': timeout })
    for (const nowMs of [endsMs - 1, endsMs + 200]) {
      expect(asked.later()).toBeUndefined()
      at.clock.nowMs = nowMs
      at.polls.tick(nowMs)
      await settled()
    }
    expect(String(asked.later()?.body)).toBe('')
  })

  test('is released when its client disconnects', async () => {
    const asked = await listen(watched('a', 'G', ''))
    asked.leave()
    expect(at.polls.size).toBe(0)
    await publish('a', 'new')
    await settled()
    expect(asked.later()).toBeUndefined()
  })

  test('is answered at once, and not held, by a server that stops', async () => {
    at.polls.answerAll()
    const asked = await listen(watched('a', 'G', ''))
    expect(asked).toMatchObject({ wasHeld: false, text: '' })
    expect(asked.answer?.status).toBe(200)
  })

  test('is refused with 503 if too many are held', async () => {
    at = startFixture({ maxHeld: 1 })
    await listen(watched('a', 'G', ''))
    const asked = await listen(watched('a', 'G', ''))
    expect(asked.wasHeld).toBe(false)
    expect(asked.answer?.status).toBe(503)
  })

  test('of too many items is a 400', async () => {
    expect((await listen(watched('a', 'G', '').repeat(101))).answer?.status).toBe(400)
  })
})

describe('/nacos', () => {
  const listen = (items: string, headers: Record<string, string> = POLL) =>
    at.nacos('POST', '/cs/configs/listener', { params: { 'Listening-Configs': items }, headers })

  test('a poll without a timeout is answered in headers, with whole items up to a limit', async () => {
    await publish('a', 'new')
    const asked = await listen(watched('a', 'G', '') + watched('b', 'G', ''), {})
    expect(asked).toMatchObject({ wasHeld: false, text: '' })
    expect(asked.answer?.headers).toMatchObject({
      'Probe-Modify-Response': 'a:G;',
      'Probe-Modify-Response-New': 'a%02G%01',
      'Cache-Control': 'no-cache,no-store',
    })
    const many = Array.from({ length: 100 }, (_, n) => watched(`${'ü'.repeat(100)}${n}`, 'G', 'x')).join('')
    const headers = Object.values((await listen(many, {})).answer!.headers!).join('')
    expect(headers.length).toBeLessThan(9_000)
    expect(headers).toMatch(/%02G%01$/)
  })

  test('answers of polls forbid caching', async () => {
    await publish('a', 'new')
    const { answer } = await listen(watched('a', 'G', ''))
    expect(answer?.headers).toMatchObject({ Pragma: 'no-cache' })
  })

  test('the watchers of an item, and the items of an address, are listed', async () => {
    await publish('a', 'x')
    await listen(watched('a', 'G', md5('x')) + watched('b', 'G', '', 'blue'))
    const get = async (path: string, params: Record<string, string>) =>
      JSON.parse((await at.nacos('GET', path, { params })).text)
    const watchers = (names: object) => ({ collectStatus: 200, lisentersGroupkeyStatus: names })
    const item = { dataId: 'a', group: 'G' }
    expect(await get('/cs/configs/listener', item)).toEqual(watchers({ '10.9.9.9': md5('x') }))
    const ip = '10.9.9.9'
    expect(await get('/cs/listener', { ip })).toEqual(watchers({ 'a+G': md5('x') }))
    expect(await get('/cs/listener', { ip, tenant: 'blue' })).toEqual(watchers({ 'b+G+blue': '' }))
    expect(await get('/cs/listener', { ip, all: 'true' })).toEqual(
      watchers({ 'a+G': md5('x'), 'b+G+blue': '' }),
    )
    expect(await get('/cs/listener', { ip: '10.0.0.1' })).toEqual(watchers({}))
  })
})
