import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, sleep, unique, type Reply } from './client.ts'
import { expectProblem, refusals } from './problem.ts'

const waypost = serverForThisFile()
const listener = '/cs/configs/listener'
const configs = '/cs/configs'
/** A poll that is held takes longer: these clients wait for 30 s. */
const HELD_MS = 20_000

/** One watched item as the packet spells it; fields are given in the order dataId, group, md5, tenant. */
function watched(...fields: string[]): string {
  return `${fields.join('\u0002')}\u0001`
}

async function timed(reply: Promise<Reply>): Promise<Reply & { tookMs: number }> {
  const startedAt = performance.now()
  const answer = await reply
  return { ...answer, tookMs: performance.now() - startedAt }
}

// Only /nacos ends a line.
describe.each([
  ['svc', ''],
  ['nacos', '\n'],
] as const)('/%s:', (dialect, end) => {
  const expectRefused = refusals(dialect)
  function listen(items: string, timeoutMs: number | string = 30_000, headers: Record<string, string> = {}) {
    const all = { 'Long-Pulling-Timeout': String(timeoutMs), ...headers }
    return timed(waypost[dialect].post(listener, { 'Listening-Configs': items }, all))
  }

  async function published(content: string, tenant?: string): Promise<{ dataId: string; group: string }> {
    const item = { dataId: unique('watched'), group: 'G' }
    await waypost[dialect].post(configs, { ...item, content, tenant })
    return item
  }

  describe('a poll with a difference answers at once', () => {
    test('an item without a tenant is echoed with two fields and no newline', async () => {
      const { dataId, group } = await published('new')
      const answer = await listen(watched(dataId, group, md5('old')))
      expect(answer.status).toBe(200)
      expect(answer.text).toBe(`${dataId}%02${group}%01${end}`)
      expect(answer.tookMs).toBeLessThan(HELD_MS)
    })

    test('an item with a tenant is echoed with three fields', async () => {
      const { dataId, group } = await published('new', 'blue')
      const answer = await listen(watched(dataId, group, md5('old'), 'blue'))
      expect(answer.text).toBe(`${dataId}%02${group}%02blue%01${end}`)
    })

    test.each(['public', ''])(
      'the default namespace named %j is echoed as the client named it',
      async (name) => {
        const { dataId, group } = await published('new')
        expect((await listen(watched(dataId, group, '', name))).text).toBe(
          `${dataId}%02${group}%02${name}%01${end}`,
        )
      },
    )

    test('a client without a copy (an empty md5) gets an item that exists', async () => {
      const { dataId, group } = await published('there')
      expect((await listen(watched(dataId, group, ''))).text).toBe(`${dataId}%02${group}%01${end}`)
    })

    test('a client with a copy of an item that does not exist gets that item', async () => {
      const dataId = unique('missing')
      expect((await listen(watched(dataId, 'G', md5('ghost')))).text).toBe(`${dataId}%02G%01${end}`)
    })

    test('only the differing items are answered, in the order in which they were named', async () => {
      const items = await Promise.all(['a', 'b', 'c'].map((content) => published(content)))
      const [a, b, c] = items.map((item) => item.dataId)
      const packet = watched(a!, 'G', md5('x')) + watched(b!, 'G', md5('b')) + watched(c!, 'G', '')
      expect((await listen(packet)).text).toBe(`${a}%02G%01${c}%02G%01${end}`)
    })

    test('three thousand items in one poll are compared', async () => {
      const { dataId } = await published('among many')
      const others = Array.from({ length: 2_999 }, (_, n) => watched(`absent.${n}`, 'G', '')).join('')
      expect((await listen(others + watched(dataId, 'G', ''))).text).toBe(`${dataId}%02G%01${end}`)
    })
  })

  describe('a poll without a difference is held', () => {
    test('the creation and the deletion of an item answer it', async () => {
      const item = { dataId: unique('born'), group: 'G' }
      const beforeBirth = listen(watched(item.dataId, 'G', ''))
      await sleep(50)
      await waypost[dialect].post(configs, { ...item, content: 'born' })
      expect(await beforeBirth).toMatchObject({ status: 200, text: `${item.dataId}%02G%01${end}` })
      const beforeDeath = listen(watched(item.dataId, 'G', md5('born')))
      await sleep(50)
      await waypost[dialect].delete(configs, item)
      expect(await beforeDeath).toMatchObject({ status: 200, text: `${item.dataId}%02G%01${end}` })
    })

    test('a change in the default namespace answers every spelling of it, each with its own echo', async () => {
      const { dataId, group } = await published('before')
      const spellings = [[], [''], ['public']]
      const polls = spellings.map((tenant) => listen(watched(dataId, group, md5('before'), ...tenant)))
      await sleep(50)
      await waypost[dialect].post(configs, { dataId, group, content: 'after', tenant: 'public' })
      const answers = await Promise.all(polls)
      expect(answers.map((answer) => answer.text)).toEqual(
        spellings.map((tenant) => `${[dataId, group, ...tenant].join('%02')}%01${end}`),
      )
    })

    test.concurrent('equal content, and other tenants, groups and items, do not answer it', async () => {
      const { dataId, group } = await published('same', 'blue')
      const poll = listen(watched(dataId, group, md5('same'), 'blue'), 2_000)
      await sleep(50)
      await waypost[dialect].post(configs, { dataId, group, content: 'same', tenant: 'blue' })
      await waypost[dialect].post(configs, { dataId, group, content: 'other', tenant: 'green' })
      await waypost[dialect].post(configs, { dataId, group: 'H', content: 'other', tenant: 'blue' })
      const answer = await poll
      expect(answer).toMatchObject({ status: 200, text: '' })
      expect(answer.tookMs).toBeGreaterThan(1_400)
    })

    test('a hundred watchers of one item are all answered', async () => {
      const { dataId, group } = await published('before')
      const packet = watched(dataId, group, md5('before'))
      const polls = Array.from({ length: 100 }, () => listen(packet))
      await sleep(300)
      await waypost[dialect].post(configs, { dataId, group, content: 'after' })
      const answers = await Promise.all(polls)
      expect(new Set(answers.map((answer) => answer.text))).toEqual(
        new Set([`${dataId}%02${group}%01${end}`]),
      )
    })

    test('a watcher never misses the last of many quick changes', async () => {
      const { dataId, group } = await published('value 0')
      const writes = (async () => {
        for (let n = 1; n <= 60; n++)
          await waypost[dialect].post(configs, { dataId, group, content: `value ${n}` })
      })()
      let seen = 'value 0'
      while (seen !== 'value 60') {
        const answer = await listen(watched(dataId, group, md5(seen)), 30_000)
        expect(answer.text, `after ${seen}`).not.toBe('')
        seen = (await waypost[dialect].get(configs, { dataId, group })).text
      }
      await writes
    })
  })

  test('No-Hangup answers at once, with nothing if no item differs', async () => {
    const headers = { 'Long-Pulling-Timeout-No-Hangup': 'true' }
    const answer = await listen(watched(unique('quiet'), 'G', ''), 30_000, headers)
    expect(answer).toMatchObject({ status: 200, text: '' })
    expect(answer.tookMs).toBeLessThan(HELD_MS)
  })

  test('the packet may be in the query string', async () => {
    const { dataId } = await published('new')
    const query = { 'Listening-Configs': watched(dataId, 'G', '') }
    const headers = { 'Long-Pulling-Timeout': '30000' }
    const answer = await waypost[dialect].call('POST', listener, { query, headers })
    expect(answer.text).toBe(`${dataId}%02G%01${end}`)
  })

  test.each(['soon', '1e3', '3000.5', '0x10', '-', ...(dialect === 'svc' ? [''] : [])])(
    'the timeout %j is a 400',
    async (timeout) => {
      const answer = await listen(watched(unique('a'), 'g', ''), timeout)
      expectRefused(answer, 400, 'Long-Pulling-Timeout')
    },
  )

  const malformed = ['', '  ', 'plain', 'plain\u0001', watched('a', 'g'), watched('a', 'g', 'm', 't', 'more')]
  test.each([undefined, ...malformed])('Listening-Configs of %j is a 400', async (items) => {
    const headers = { 'Long-Pulling-Timeout': '30000' }
    const answer = await waypost[dialect].post(listener, { 'Listening-Configs': items }, headers)
    expectRefused(answer, 400)
    expect(answer.text).toMatch(
      dialect === 'svc' ? /Listening-Configs/ : /Listening-Configs|invalid probeModify/,
    )
  })
})

test('on /svc the timeout is required', async () => {
  const answer = await waypost.svc.post(listener, { 'Listening-Configs': watched('a', 'g', '') })
  expectProblem(answer, 400, 'Long-Pulling-Timeout')
})

describe('on /nacos', () => {
  test('a packet may be encoded twice', async () => {
    const dataId = unique('watched')
    await waypost.nacos.post(configs, { dataId, group: 'G', content: 'new' })
    const form = { 'Listening-Configs': encodeURIComponent(watched(dataId, 'G', '')) }
    const answer = await waypost.nacos.post(listener, form, { 'Long-Pulling-Timeout': '30000' })
    expect(answer.text).toBe(`${dataId}%02G%01\n`)
  })

  test('a poll without a timeout is answered at once, in headers that old clients read', async () => {
    const dataId = unique('watched')
    const ask = () => waypost.nacos.post(listener, { 'Listening-Configs': watched(dataId, 'G', '') })
    const quiet = await timed(ask())
    expect(quiet).toMatchObject({ status: 200, text: '' })
    expect(quiet.tookMs).toBeLessThan(HELD_MS)
    await waypost.nacos.post(configs, { dataId, group: 'G', content: 'new' })
    const answer = await ask()
    expect(answer).toMatchObject({ status: 200, text: '' })
    expect(answer.headers['probe-modify-response-new']).toBe(`${dataId}%02G%01`)
  })
})
