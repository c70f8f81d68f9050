import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, sleep, unique, type Reply } from './client.ts'
import { expectProblem } from './problem.ts'

const waypost = serverForThisFile()
const listener = '/cs/configs/listener'
const configs = '/cs/configs'
/** A poll that is held takes longer: these clients wait for 30 s. */
const HELD_MS = 20_000

/** One watched item as the packet spells it; fields are given in the order dataId, group, md5, tenant. */
function watched(...fields: string[]): string {
  return `${fields.join('\u0002')}\u0001`
}

async function timed(reply: Promise<Reply>): Promise<Reply & { tookMs: number; endedAt: number }> {
  const startedAt = performance.now()
  const answer = await reply
  const endedAt = performance.now()
  return { ...answer, tookMs: endedAt - startedAt, endedAt }
}

function listen(items: string, timeoutMs: number | string = 30_000, headers: Record<string, string> = {}) {
  const all = { 'Long-Pulling-Timeout': String(timeoutMs), ...headers }
  return timed(waypost.svc.post(listener, { 'Listening-Configs': items }, all))
}

async function published(content: string, tenant?: string): Promise<{ dataId: string; group: string }> {
  const item = { dataId: unique('watched'), group: 'G' }
  await waypost.svc.post(configs, { ...item, content, tenant })
  return item
}

describe('a poll with a difference answers at once', () => {
  test('an item without a tenant is echoed with two fields and no newline', async () => {
    const { dataId, group } = await published('new')
    const answer = await listen(watched(dataId, group, md5('old')))
    expect(answer.status).toBe(200)
    expect(answer.text).toBe(`${dataId}%02${group}%01`)
    expect(answer.tookMs).toBeLessThan(HELD_MS)
  })

  test('an item with a tenant is echoed with three fields', async () => {
    const { dataId, group } = await published('new', 'blue')
    const answer = await listen(watched(dataId, group, md5('old'), 'blue'))
    expect(answer.text).toBe(`${dataId}%02${group}%02blue%01`)
  })

  test.each(['public', ''])(
    'the default namespace named %j is echoed as the client named it',
    async (name) => {
      const { dataId, group } = await published('new')
      expect((await listen(watched(dataId, group, '', name))).text).toBe(`${dataId}%02${group}%02${name}%01`)
    },
  )

  test('a client without a copy (an empty md5) gets an item that exists', async () => {
    const { dataId, group } = await published('there')
    expect((await listen(watched(dataId, group, ''))).text).toBe(`${dataId}%02${group}%01`)
  })

  test('a client with a copy of an item that does not exist gets that item', async () => {
    const dataId = unique('missing')
    expect((await listen(watched(dataId, 'G', md5('ghost')))).text).toBe(`${dataId}%02G%01`)
  })

  test('only the differing items are answered, in the order in which they were named', async () => {
    const items = await Promise.all(['a', 'b', 'c'].map((content) => published(content)))
    const [a, b, c] = items.map((item) => item.dataId)
    const packet = watched(a!, 'G', md5('x')) + watched(b!, 'G', md5('b')) + watched(c!, 'G', '')
    expect((await listen(packet)).text).toBe(`${a}%02G%01${c}%02G%01`)
  })

  test('three thousand items in one poll are compared', async () => {
    const { dataId } = await published('among many')
    const others = Array.from({ length: 2_999 }, (_, n) => watched(`absent.${n}`, 'G', '')).join('')
    expect((await listen(others + watched(dataId, 'G', ''))).text).toBe(`${dataId}%02G%01`)
  })
})

describe('a poll without a difference is held', () => {
  test('it is answered as soon as there is a change', async () => {
    const delays: number[] = []
    for (let round = 0; round < 9; round++) {
      const { dataId, group } = await published('before')
      const poll = listen(watched(dataId, group, md5('before')))
      await sleep(50)
      const change = await timed(waypost.svc.post(configs, { dataId, group, content: 'after' }))
      const answer = await poll
      expect(answer.text).toBe(`${dataId}%02${group}%01`)
      delays.push(answer.endedAt - change.endedAt)
    }
    // A millisecond where the machine has nothing else to do. An answer that waits for a tick takes longer.
    expect(delays.sort((a, b) => a - b)[4]).toBeLessThan(100)
  })

  test('the creation and the deletion of an item answer it', async () => {
    const item = { dataId: unique('born'), group: 'G' }
    const beforeBirth = listen(watched(item.dataId, 'G', ''))
    await sleep(50)
    await waypost.svc.post(configs, { ...item, content: 'born' })
    expect(await beforeBirth).toMatchObject({ status: 200, text: `${item.dataId}%02G%01` })
    const beforeDeath = listen(watched(item.dataId, 'G', md5('born')))
    await sleep(50)
    await waypost.svc.delete(configs, item)
    expect(await beforeDeath).toMatchObject({ status: 200, text: `${item.dataId}%02G%01` })
  })

  test('a change in the default namespace answers every spelling of it, each with its own echo', async () => {
    const { dataId, group } = await published('before')
    const spellings = [[], [''], ['public']]
    const polls = spellings.map((tenant) => listen(watched(dataId, group, md5('before'), ...tenant)))
    await sleep(50)
    await waypost.svc.post(configs, { dataId, group, content: 'after', tenant: 'public' })
    const answers = await Promise.all(polls)
    expect(answers.map((answer) => answer.text)).toEqual(
      spellings.map((tenant) => `${[dataId, group, ...tenant].join('%02')}%01`),
    )
  })

  test.concurrent('equal content, and other tenants, groups and items, do not answer it', async () => {
    const { dataId, group } = await published('same', 'blue')
    const poll = listen(watched(dataId, group, md5('same'), 'blue'), 2_000)
    await sleep(50)
    await waypost.svc.post(configs, { dataId, group, content: 'same', tenant: 'blue' })
    await waypost.svc.post(configs, { dataId, group, content: 'other', tenant: 'green' })
    await waypost.svc.post(configs, { dataId, group: 'H', content: 'other', tenant: 'blue' })
    const answer = await poll
    expect(answer).toMatchObject({ status: 200, text: '' })
    expect(answer.tookMs).toBeGreaterThan(1_400)
  })

  test('a hundred watchers of one item are all answered', async () => {
    const { dataId, group } = await published('before')
    const packet = watched(dataId, group, md5('before'))
    const polls = Array.from({ length: 100 }, () => listen(packet))
    await sleep(300)
    await waypost.svc.post(configs, { dataId, group, content: 'after' })
    const answers = await Promise.all(polls)
    expect(new Set(answers.map((answer) => answer.text))).toEqual(new Set([`${dataId}%02${group}%01`]))
  })

  test('a watcher never misses the last of many quick changes', async () => {
    const { dataId, group } = await published('value 0')
    const writes = (async () => {
      for (let n = 1; n <= 60; n++) await waypost.svc.post(configs, { dataId, group, content: `value ${n}` })
    })()
    let seen = 'value 0'
    while (seen !== 'value 60') {
      const answer = await listen(watched(dataId, group, md5(seen)), 3_000)
      expect(answer.text, `after ${seen}`).not.toBe('')
      seen = (await waypost.svc.get(configs, { dataId, group })).text
    }
    await writes
  }, 20_000)
})

describe('the hold time', () => {
  // When exactly each is due is tested beside the code. On a busy machine an answer comes late.
  const held = [
    [100, 450],
    [2_000, 1_400],
    [5_000, 4_400],
    [30_000, 29_300],
  ] as const
  test.concurrent.each(held)(
    'a poll of %i ms ends empty, and not before %i ms',
    async (timeoutMs, atLeastMs) => {
      const answer = await listen(watched(unique('quiet'), 'G', ''), timeoutMs)
      expect(answer).toMatchObject({ status: 200, text: '' })
      expect(answer.tookMs).toBeGreaterThan(atLeastMs)
    },
    50_000,
  )

  test('No-Hangup answers at once, with nothing if no item differs', async () => {
    const headers = { 'Long-Pulling-Timeout-No-Hangup': 'true' }
    const answer = await listen(watched(unique('quiet'), 'G', ''), 30_000, headers)
    expect(answer).toMatchObject({ status: 200, text: '' })
    expect(answer.tookMs).toBeLessThan(HELD_MS)
  })
})

describe('a poll that cannot be parsed is a 400', () => {
  test('without the header, which is named', async () => {
    const answer = await waypost.svc.post(listener, { 'Listening-Configs': watched('a', 'g', '') })
    expectProblem(answer, 400, 'Long-Pulling-Timeout')
  })

  test.each(['soon', '', '-'])('with the header %j', async (header) => {
    expectProblem(await listen(watched(unique('a'), 'g', ''), header), 400, 'Long-Pulling-Timeout')
  })

  test('without Listening-Configs, which is named', async () => {
    const answer = await waypost.svc.post(listener, {}, { 'Long-Pulling-Timeout': '30000' })
    expectProblem(answer, 400, 'Listening-Configs')
  })

  const malformed = ['', '  ', 'plain\u0001', 'a\u0002g\u0001', 'a\u0002g\u0002m\u0002t\u0002more\u0001']
  test.each(malformed)('with Listening-Configs %j', async (items) => {
    expectProblem(await listen(items), 400, 'Listening-Configs')
  })
})
