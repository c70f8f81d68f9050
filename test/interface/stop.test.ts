import { expect, test } from 'vitest'
import { startWaypost } from '../support/waypost.ts'
import { clientsOf, sleep } from './client.ts'

test.concurrent('SIGTERM answers the held polls, empty, and exits 0 within 5 s', async () => {
  const server = await startWaypost()
  const { svc, nacos } = clientsOf(server.url)
  const header = { 'Long-Pulling-Timeout': '30000' }
  const packet = { 'Listening-Configs': 'quiet\u0002G\u0002\u0001' }
  const polls = [svc, nacos, svc].map((client) => client.post('/cs/configs/listener', packet, header))
  const held = async () => /^waypost_polls_held 3$/m.test(await (await fetch(`${server.url}/metrics`)).text())
  while (!(await held())) await sleep(20)
  const startedAt = performance.now()
  const [code, ...answers] = await Promise.all([server.stop(), ...polls])
  expect(code).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(5_000)
  for (const answer of answers) {
    expect(answer.status).toBe(200)
    expect(answer.text.trim()).toBe('')
  }
})

test.concurrent('every publish that was answered true before SIGTERM is there after a restart', async () => {
  const server = await startWaypost()
  const { svc } = clientsOf(server.url)
  const names = Array.from({ length: 300 }, (_, n) => `begun.${n}`)
  const publish = (dataId: string) => svc.post('/cs/configs', { dataId, group: 'G', content: dataId })
  const writes = Promise.allSettled(names.map(publish))
  await sleep(30)
  expect(await server.stop()).toBe(0)
  const outcomes = await writes
  const again = await server.restart()
  const reader = clientsOf(again.url).svc
  for (const [n, outcome] of outcomes.entries()) {
    if (outcome.status !== 'fulfilled' || outcome.value.text !== 'true') continue
    expect((await reader.get('/cs/configs', { dataId: names[n], group: 'G' })).text).toBe(names[n])
  }
  expect(await again.stop()).toBe(0)
})

test.concurrent('SIGINT stops the server too, and idle connections do not delay it', async () => {
  const server = await startWaypost()
  const { svc } = clientsOf(server.url)
  for (let n = 0; n < 5; n++) await svc.get('/ns/operator/metrics')
  const startedAt = performance.now()
  expect(await server.stop('SIGINT')).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(5_000)
})

test.concurrent('an ephemeral instance is there after a stop and a start', async () => {
  const server = await startWaypost()
  const key = { serviceName: 'stays', ip: '127.0.0.1', port: 80 }
  await clientsOf(server.url).svc.post('/ns/instance', key)
  expect(await server.stop()).toBe(0)
  const again = await server.restart()
  const list = (await clientsOf(again.url).svc.get('/ns/instance/list', key)).json()
  expect(list.hosts).toMatchObject([{ ip: '127.0.0.1', healthy: true }])
  await again.stop()
})
