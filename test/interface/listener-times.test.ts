/** The times of long polls. */
import { expect, test } from 'vitest'
import { DIALECTS, md5, serverForThisFile, sleep, unique, type Dialect, type Reply } from './client.ts'

const waypost = serverForThisFile()

interface Watched {
  readonly dataId: string
  readonly md5: string
  readonly timeoutMs: number
}

async function listen(dialect: Dialect, { dataId, md5, timeoutMs }: Watched) {
  const form = { 'Listening-Configs': `${dataId}\u0002G\u0002${md5}\u0001` }
  return timed(
    waypost[dialect].post('/cs/configs/listener', form, { 'Long-Pulling-Timeout': String(timeoutMs) }),
  )
}

async function timed(reply: Promise<Reply>): Promise<Reply & { tookMs: number; endedAt: number }> {
  const startedAt = performance.now()
  const answer = await reply
  const endedAt = performance.now()
  return { ...answer, tookMs: endedAt - startedAt, endedAt }
}

test('a held poll is answered as soon as there is a change', async () => {
  const delays: number[] = []
  for (let round = 0; round < 9; round++) {
    const item = { dataId: unique('watched'), group: 'G' }
    await waypost.svc.post('/cs/configs', { ...item, content: 'before' })
    const poll = listen('svc', { ...item, md5: md5('before'), timeoutMs: 30_000 })
    await sleep(50)
    const change = await timed(waypost.svc.post('/cs/configs', { ...item, content: 'after' }))
    const answer = await poll
    expect(answer.text).toBe(`${item.dataId}%02G%01`)
    delays.push(answer.endedAt - change.endedAt)
  }
  // A millisecond where the machine has nothing else to do. An answer that waits for a tick takes longer.
  expect(delays.sort((a, b) => a - b)[4]).toBeLessThan(100)
})

// When exactly each is due is tested beside the code. On a busy machine an answer comes late.
const held = [
  [100, 450],
  [2_000, 1_400],
  [5_000, 4_400],
  [30_000, 29_300],
] as const
const rows = held.flatMap((times) => DIALECTS.map((dialect) => [...times, dialect] as const))
test.concurrent.each(rows)(
  'a poll of %i ms ends empty, and not before %i ms, on /%s',
  async (timeoutMs, atLeastMs, dialect) => {
    const answer = await listen(dialect, { dataId: unique('quiet'), md5: '', timeoutMs })
    expect(answer).toMatchObject({ status: 200, text: '' })
    expect(answer.tookMs).toBeGreaterThan(atLeastMs)
  },
  50_000,
)
