import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWaypost } from '../support/waypost.ts'
import { clientsOf, serverForThisFile, unique, until, type Client, type Waypost } from './client.ts'
import { expectProblem } from './problem.ts'

const code = (name: string) => ({ type: `urn:waypost:problem:${name}` })

describe('a limit of the settings', () => {
  const waypost = serverForThisFile({
    settings: {
      'max-content': '2KiB',
      'max-content-memory': '8KiB',
      'max-form-body': '16KiB',
      'max-body': '4KiB',
      'max-request-line': '8KiB',
      'max-headers': 25,
      'max-parameters': 30,
      'max-json-depth': 4,
      'max-listening-items': 3,
      'max-held-polls-per-address': 2,
      'max-services-per-namespace': 2,
      'max-instances-per-namespace': 3,
    },
  })
  const configs = '/cs/configs'

  test('applies to the request line and to a body', async () => {
    const long = 'x'.repeat(9_000)
    const line = await waypost.svc.get(configs, { dataId: 'a', group: 'G', other: long })
    expect(line.status).toBe(431)
    expect(line.json()).toMatchObject(code('too-large'))
    const form = await waypost.svc.post('/ns/instance', {
      serviceName: 's',
      ip: '127.0.0.1',
      port: 1,
      app: long,
    })
    expect(form.status).toBe(413)
    expect(form.json()).toMatchObject(code('too-large'))
    const publish = await waypost.svc.post(configs, { dataId: 'a', group: 'G', content: 'x'.repeat(20_000) })
    expect(publish.status).toBe(413)
  })

  test('applies to a content', async () => {
    expectProblem(
      await waypost.svc.post(configs, { dataId: 'a', group: 'G', content: 'x'.repeat(2_049) }),
      400,
      'content',
    )
  })

  test('applies to header fields and parameters', async () => {
    const many = Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`p${i}`, 'x']))
    expect((await waypost.svc.get('/ns/operator/metrics', many)).json()).toMatchObject(code('too-many'))
    const headers = await waypost.svc.get('/ns/operator/metrics', '', many)
    expect(headers.status).toBe(431)
    expect(headers.json()).toMatchObject(code('too-many-headers'))
  })

  test('applies to the depth of JSON, in every parameter that may be JSON', async () => {
    const deep = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
    const service = { serviceName: unique('deep') }
    const instance = { ...service, ip: '127.0.0.1', port: 1 }
    expect((await waypost.svc.post('/ns/instance', { ...instance, metadata: deep(4) })).text).toBe('ok')
    const cluster = { ...service, clusterName: 'c', checkPort: 1, useInstancePort4Check: true }
    for (const [parameter, reply] of [
      ['metadata', await waypost.svc.post('/ns/instance', { ...instance, metadata: deep(5) })],
      ['beat', await waypost.svc.put('/ns/instance/beat', { ...service, beat: deep(5) })],
      ['selector', await waypost.svc.post('/ns/service', { ...service, selector: deep(5) })],
      ['healthChecker', await waypost.svc.put('/ns/cluster', { ...cluster, healthChecker: deep(5) })],
      ['value', await waypost.svc.put('/ns/operator/switches', { entry: 'batch', value: deep(5) })],
      [
        'instances',
        await waypost.svc.put('/ns/instance/metadata/batch', {
          namespaceId: 'public',
          ...service,
          metadata: 'a=b',
          instances: `[${deep(4)}]`,
        }),
      ],
    ] as const) {
      expect(reply.status, parameter).toBe(400)
      expect(reply.json()).toMatchObject({
        ...code('too-deep'),
        parameter,
        allowed: 'JSON that is nested at most 4 deep',
      })
    }
    const nacos = await waypost.nacos.post('/ns/instance', { ...instance, metadata: deep(5) })
    expect([nacos.status, nacos.text]).toEqual([400, 'metadata must be JSON that is nested at most 4 deep.'])
  })

  test('applies to all contents together', async () => {
    const publish = (dataId: string, bytes: number) =>
      waypost.svc.post(configs, { dataId, group: 'ALL', content: 'x'.repeat(bytes) })
    for (const dataId of ['a', 'b', 'c', 'd']) expect((await publish(dataId, 2_048)).text).toBe('true')
    const refused = await publish('e', 1)
    expect(refused.status).toBe(507)
    expect(refused.json()).toMatchObject({
      ...code('content-memory'),
      allowed: 'at most 8192 bytes of content in all',
    })
    expect((await waypost.nacos.post(configs, { dataId: 'e', group: 'ALL', content: 'x' })).status).toBe(507)
    expect((await waypost.svc.get(configs, { dataId: 'e', group: 'ALL' })).status).toBe(404)
    // Existing contents can be read, replaced by contents that are not larger, and deleted. Then a publish succeeds again.
    expect((await publish('a', 2_047)).text).toBe('true')
    expect((await publish('e', 1)).text).toBe('true')
    await waypost.svc.delete(configs, { dataId: 'b', group: 'ALL' })
    expect((await publish('f', 2_000)).text).toBe('true')
  })

  test('applies to the instances and services of a namespace', async () => {
    const namespaceId = unique('full')
    const register = (serviceName: string, port: number, client = waypost.svc) =>
      client.post('/ns/instance', { namespaceId, serviceName, ip: '127.0.0.1', port })
    for (const port of [1, 2, 3]) expect((await register('a', port)).text).toBe('ok')
    const refused = await register('a', 4)
    expect(refused.status).toBe(429)
    expect(refused.json()).toMatchObject({
      ...code('too-many-instances'),
      allowed: 'at most 3 instances in a namespace (max-instances-per-namespace)',
    })
    expect((await register('a', 4, waypost.nacos)).status).toBe(429)
    const beat = JSON.stringify({ ip: '127.0.0.1', port: 4, cluster: 'DEFAULT' })
    const beats = { namespaceId, serviceName: 'a', ip: '127.0.0.1', port: 4, beat }
    expect((await waypost.svc.put('/ns/instance/beat', beats)).status).toBe(429)
    // Known ones still beat and change.
    expect((await register('a', 3)).text).toBe('ok')
    expect((await waypost.svc.put('/ns/instance', { ...beats, port: 3, weight: 7 })).text).toBe('ok')
    expect((await waypost.svc.post('/ns/service', { namespaceId, serviceName: 'b' })).text).toBe('ok')
    const another = await waypost.svc.post('/ns/service', { namespaceId, serviceName: 'c' })
    expect([another.status, another.json().type]).toEqual([429, code('too-many-services').type])
  })

  test('applies to the polls of one address, and not to those of another', async () => {
    const poll = (localAddress: string) =>
      waypost.svc.call('POST', '/cs/configs/listener', {
        form: { 'Listening-Configs': 'quiet\u0002G\u0002\u0001' },
        headers: { 'long-pulling-timeout': 30_000 },
        localAddress,
      })
    const held = [poll('127.0.0.5'), poll('127.0.0.5')]
    const shown = async () => (await fetch(`${waypost.server.url}/metrics`)).text()
    await until(shown, (text) => /^waypost_polls_held 2$/m.test(text))
    expect((await poll('127.0.0.5')).status).toBe(503)
    held.push(poll('127.0.0.6'))
    await until(shown, (text) => /^waypost_polls_held 3$/m.test(text))
    await waypost.svc.post(configs, { dataId: 'quiet', group: 'G', content: 'loud' })
    for (const one of await Promise.all(held)) expect(one.status).toBe(200)
    expect((await poll('127.0.0.5')).status).toBe(200)
  })

  test('applies to the items of a poll', async () => {
    const items = (count: number) => 'a\u0002G\u0002x\u0001'.repeat(count)
    const poll = (count: number) =>
      waypost.svc.call('POST', '/cs/configs/listener', {
        form: { 'Listening-Configs': items(count) },
        headers: { 'long-pulling-timeout': 1_000 },
      })
    expect((await poll(3)).status).toBe(200)
    expectProblem(await poll(4), 400, 'Listening-Configs')
  })
})

describe('the limits of connections', () => {
  let server: Waypost
  let svc: Client
  beforeAll(async () => {
    const settings = {
      'max-connections': 6,
      'max-connections-per-address': 4,
      // All have come and are refused before the first one is late.
      'request-timeout': '3s',
      'unread-timeout': '3s',
    }
    server = await startWaypost({ settings })
    ;({ svc } = clientsOf(server.url))
  })
  afterAll(async () => {
    svc.close()
    await server.stop()
  })

  const opened = (localAddress: string) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', localAddress })
    const received = { text: '', closed: false }
    socket.on('data', (chunk) => (received.text += String(chunk)))
    socket.on('error', () => undefined)
    socket.on('close', () => (received.closed = true))
    return { received, socket }
  }

  const refusedOf = (all: readonly ReturnType<typeof opened>[]): number =>
    all.filter(({ received }) => received.text.includes('problem:too-many-connections')).length

  test('apply to one address and to all', async () => {
    const mine = Array.from({ length: 5 }, () => opened('127.0.0.11'))
    await expect.poll(() => refusedOf(mine)).toBe(1)
    // The first address has four: its oldest gives way to the third connection of the other one, and none to the fourth.
    const others = Array.from({ length: 4 }, () => opened('127.0.0.12'))
    await expect.poll(() => refusedOf(others)).toBe(1)
    expect(mine.filter(({ received }) => received.closed && received.text === '').length).toBe(1)
    // They send nothing, so each gets an error after request-timeout.
    await expect.poll(() => [...mine, ...others].every(({ received }) => received.closed)).toBe(true)
    expect([refusedOf(mine), refusedOf(others)]).toEqual([1, 1])
    expect((await svc.get('/ns/operator/metrics')).status).toBe(200)
  })
})
