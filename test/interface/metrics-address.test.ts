/** An address of its own for measurements. */
import { describe, expect, test } from 'vitest'
import { startWaypost, freePort } from '../support/waypost.ts'
import { Client, serverForThisFile } from './client.ts'

const waypost = serverForThisFile({
  settings: { auth: 'on', 'metrics-host': '127.0.0.1', 'metrics-port': 0 },
})

const address = (): Client => new Client(/"url":"(http:[^"]*)\/metrics"/.exec(waypost.server.output())![1]!)

describe('with metrics-host', () => {
  test('measurements need no sign-in there, and a permission on the main address', async () => {
    const page = await address().get('/metrics')
    expect(page.status).toBe(200)
    expect(page.text).toContain('waypost_build_info{')
    expect(await new Client(waypost.server.url).get('/metrics')).toMatchObject({ status: 403 })
  })

  test('nothing else is served there than what probes ask', async () => {
    const client = address()
    expect((await client.get('/healthz')).text).toBe('ok')
    expect((await client.get('/readyz')).status).toBe(200)
    const others = [
      '/',
      '/openapi.json',
      '/svc/v1/cs/configs?dataId=d&group=G',
      '/nacos/v1/ns/operator/metrics',
    ]
    for (const path of [...others, '/svc/v1/auth/users', '/metrics/x', '/Metrics'])
      expect(await client.get(path), path).toMatchObject({ status: 404 })
    expect(await client.post('/svc/v1/auth/login', { username: 'nacos', password: 'x' })).toMatchObject({
      status: 404,
    })
    expect(await client.post('/metrics')).toMatchObject({ status: 405 })
  })

  test('a web page under a name of its own is refused there as well', async () => {
    const answer = await address().get(
      '/metrics',
      {},
      { Host: 'evil.example', Origin: 'http://evil.example' },
    )
    expect(answer.status).toBe(421)
  })
})

test('a switch that limits URLs does not close the measurements', async () => {
  const server = await startWaypost()
  const root = new Client(server.url)
  await root.put('/svc/v1/ns/operator/switches', {
    entry: 'limitedUrlMap',
    value: '/metrics:503,/svc/v1/cs:403',
  })
  expect(await root.get('/svc/v1/cs/configs', { dataId: 'd', group: 'G' })).toMatchObject({ status: 403 })
  expect(await root.get('/metrics')).toMatchObject({ status: 200 })
  root.close()
  await server.stop()
})

test('a start whose metrics-port is taken says so, and ends', async () => {
  const port = await freePort()
  const first = await startWaypost({ settings: { 'metrics-host': '127.0.0.1', 'metrics-port': port } })
  await expect(
    startWaypost({ settings: { 'metrics-host': '127.0.0.1', 'metrics-port': port } }),
  ).rejects.toThrow(/cannot listen on metrics-host and metrics-port: .*EADDRINUSE/)
  expect(await first.stop()).toBe(0)
})
