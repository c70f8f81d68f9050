import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { Client, serverForThisFile, sleep, unique, until } from './client.ts'

const waypost = serverForThisFile({ settings: { 'max-held-polls': 2 } })
const JAVA = { 'User-Agent': 'Nacos-Java-Client:v1.4.8' }

/** The values that a scrape gives, by name and labels as they are written. */
async function scrape(): Promise<Map<string, number>> {
  const answer = await new Client(waypost.server.url).get('/metrics')
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = answer.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line))]))
}

/** Waits until a value is above what it was before. */
async function rises(name: string, work: () => Promise<unknown>, by = 1): Promise<void> {
  const before = (await scrape()).get(name) ?? 0
  await work()
  await until(scrape, (values) => (values.get(name) ?? 0) >= before + by)
}

async function valueOf(name: string): Promise<number | undefined> {
  return (await scrape()).get(name)
}

function listen(dataId: string): Promise<unknown> {
  const body = `Listening-Configs=${encodeURIComponent(`${dataId}\u0002G\u0002\u0001`)}`
  const headers = { 'Long-Pulling-Timeout': 1_500, 'content-type': 'application/x-www-form-urlencoded' }
  return waypost.svc.call('POST', '/cs/configs/listener', { body, headers })
}

async function publish(dataId = unique('d')): Promise<void> {
  expect((await waypost.svc.post('/cs/configs', { dataId, group: 'G', content: 'x' })).text).toBe('true')
}

const PUBLISH = 'method="POST",route="/svc/v1/cs/configs",dialect="svc"'

describe('a publish', () => {
  test('is counted by route, with its latency', async () => {
    await rises(`waypost_http_requests_total{${PUBLISH},status="2xx"}`, () => publish())
    await rises(`waypost_http_request_duration_seconds_count{${PUBLISH}}`, () => publish())
    await rises(`waypost_http_request_duration_seconds_bucket{le="60",${PUBLISH}}`, () => publish())
  })

  test('is counted as a commit, a change and an item', async () => {
    await rises('waypost_store_commit_duration_seconds_count', () => publish())
    await rises('waypost_store_batch_changes_count', () => publish())
    await rises('waypost_store_commits_total{outcome="committed"}', () => publish())
    await rises('waypost_changes_total{kind="config-published"}', () => publish())
    await rises('waypost_configs', () => publish())
  })
})

describe('a long poll', () => {
  test('is counted while it is held, and afterwards by its outcome', async () => {
    const dataId = unique('d')
    const poll = listen(dataId)
    const held = await until(scrape, (values) => values.get('waypost_polls_held') === 1)
    expect(held.get('waypost_polls_watched_items')).toBe(1)
    expect(held.get('waypost_http_requests_in_flight')).toBe(2)
    await rises('waypost_polls_ended_total{outcome="changed"}', () => publish(dataId))
    await poll
    await rises('waypost_polls_ended_total{outcome="timeout"}', () => listen(unique('d')))
  })

  test('is counted as left if its client disconnects', async () => {
    await rises('waypost_polls_ended_total{outcome="left"}', async () => {
      const socket = connect(waypost.server.port, '127.0.0.1')
      const body = 'Listening-Configs=left%02G%02%01'
      socket.write(
        `POST /svc/v1/cs/configs/listener HTTP/1.1\r\nHost: x\r\nLong-Pulling-Timeout: 30000\r\n` +
          `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      await until(scrape, (values) => values.get('waypost_polls_held') === 1)
      socket.destroy()
    })
  })

  test('beyond max-held-polls is refused, counted and logged', async () => {
    await rises('waypost_polls_refused_total', () => Promise.all([1, 2, 3].map(() => listen(unique('d')))))
    expect(await valueOf('waypost_polls_begun_total')).toBeGreaterThan(3)
    await until(
      async () => waypost.server.output(),
      (output) => output.includes('max-held-polls)'),
    )
  })
})

describe('naming', () => {
  test('counts services, instances and beats', async () => {
    const form = { serviceName: unique('s'), ip: '127.0.0.1', port: 1 }
    await rises('waypost_instances', () => waypost.svc.post('/ns/instance', form))
    expect(await valueOf('waypost_services')).toBeGreaterThan(0)
    await rises('waypost_beats_total{outcome="renewed"}', () => waypost.nacos.put('/ns/instance/beat', form))
    await rises('waypost_beats_total{outcome="unknown"}', () =>
      waypost.nacos.put('/ns/instance/beat', { ...form, port: 2 }),
    )
    expect(await valueOf('waypost_changes_total{kind="instance-saved"}')).toBeGreaterThan(0)
    await until(scrape, (values) => values.get('waypost_store_rows_behind') === 0)
    expect(await valueOf('waypost_store_commands_waiting')).toBe(0)
  })

  test('counts instances that became unhealthy or were removed because they are silent', async () => {
    const metadata = '{"preserved.heart.beat.timeout":"1000","preserved.ip.delete.timeout":"1500"}'
    const form = { serviceName: unique('s'), ip: '127.0.0.1', port: 1, metadata }
    await rises('waypost_instances_silent_total{outcome="unhealthy"}', () =>
      waypost.svc.post('/ns/instance', form),
    )
    await until(scrape, (values) => values.get('waypost_instances_silent_total{outcome="removed"}')! > 0)
  })

  test('counts pushes, acks and subscribers', async () => {
    const serviceName = unique('s')
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const query = { serviceName, udpPort: socket.address().port, clientIP: '127.0.0.1' }
    await waypost.nacos.get('/ns/instance/list', query, JAVA)
    expect(await valueOf('waypost_push_subscribers')).toBe(1)
    socket.on('message', (packet, from) => {
      const { lastRefTime } = JSON.parse(packet.toString()) as { lastRefTime: number }
      socket.send(
        JSON.stringify({ type: 'push-ack', lastRefTime: `${lastRefTime}`, data: '' }),
        from.port,
        from.address,
      )
    })
    const form = { serviceName, ip: '127.0.0.1', port: 1 }
    await rises('waypost_pushes_acked_total', () => waypost.svc.post('/ns/instance', form))
    expect(await valueOf('waypost_pushes_sent_total')).toBeGreaterThan(0)
    for (const name of ['resent', 'failed', 'too_large'])
      expect(await valueOf(`waypost_pushes_${name}_total`)).toBe(0)
    socket.close()
  })

  test('counts probes by outcome, and changes of health', async () => {
    const target = createServer().listen(0, '127.0.0.1')
    await once(target, 'listening')
    const { port } = target.address() as { port: number }
    const form = { serviceName: unique('s'), ip: '127.0.0.1', port, ephemeral: false }
    await rises('waypost_probes_total{outcome="up"}', () => waypost.svc.post('/ns/instance', form))
    expect(await valueOf('waypost_probe_targets')).toBe(1)
    expect(await valueOf('waypost_probes_running')).toBeLessThan(2)
    await rises('waypost_probe_health_changes_total', async () => target.close())
    expect(await valueOf('waypost_probes_total{outcome="refused"}')).toBeGreaterThan(0)
    expect(waypost.server.output()).toContain('a probe changed the health of an instance')
  })
})

describe('refusals and connections', () => {
  test('a refusal is counted by its code, and an unknown path is one label', async () => {
    await rises('waypost_http_refusals_total{code="config-not-found"}', () =>
      waypost.svc.get('/cs/configs', { dataId: unique('d'), group: 'G' }),
    )
    const unknown = 'waypost_http_requests_total{method="any",route="unknown",dialect="none",status="4xx"}'
    await rises(unknown, () => Promise.all([waypost.svc.get('/a'), waypost.svc.get('/b')]), 2)
    expect([...(await scrape()).keys()].some((name) => name.includes('route="/svc/v1/a"'))).toBe(false)
  })

  test('input that is not HTTP is counted', async () => {
    await rises('waypost_http_malformed_requests_total', async () => {
      const socket = connect(waypost.server.port, '127.0.0.1')
      socket.on('error', () => undefined).resume()
      socket.end('nonsense\r\n\r\n')
      await once(socket, 'close')
    })
  })

  test('connections are counted, and the process has its metrics', async () => {
    const socket = connect(waypost.server.port, '127.0.0.1')
    await once(socket, 'connect')
    const values = await scrape()
    expect(values.get('waypost_http_connections')).toBeGreaterThan(1)
    expect(values.get('waypost_http_connections_lost_total{reason="refused"}')).toBe(0)
    expect(values.get('waypost_ready')).toBe(1)
    expect(values.get('waypost_store_available')).toBe(1)
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(1e7)
    expect(values.get('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(values.get('waypost_event_loop_delay_seconds{quantile="0.5"}')).toBeLessThan(0.5)
    expect([...values.keys()].filter((name) => name.startsWith('waypost_build_info{version="'))).toHaveLength(
      1,
    )
    socket.destroy()
  })
})

describe('health', () => {
  test('/healthz and /readyz answer for every overriddenServerStatus', async () => {
    const root = new Client(waypost.server.url)
    const set = (value: string) =>
      waypost.svc.put('/ns/operator/switches', { entry: 'overriddenServerStatus', value })
    await set('DOWN')
    expect((await root.get('/healthz')).text).toBe('ok')
    expect(await root.get('/readyz')).toMatchObject({ status: 200, text: '{"ready":true}' })
    expect(await root.get('/metrics')).toMatchObject({ status: 200 })
    expect((await waypost.nacos.get('/console/health/readiness')).text).toBe('OK')
    await set('')
    root.close()
  })

  test('the log names neither a published item nor a new namespace: the audit does', async () => {
    await publish('not-in-the-log')
    await waypost.svc.post('/console/namespaces', {
      customNamespaceId: unique('not-in-the-log'),
      namespaceName: 'not-in-the-log',
    })
    await sleep(100)
    expect(waypost.server.output()).not.toContain('not-in-the-log')
  })
})
