/** Every spelling of an address is one instance, at every door; a new ip must be an address. */
import { describe, expect, test } from 'vitest'
import { NamingClient } from '../grpc/naming-fixture.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { Client, DIALECTS, type Json, type Params, type Reply, serverForThisFile, unique } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()
const at = (prefix: string): Client => new Client(`${waypost.server.url}${prefix}`)

/** The spellings of some addresses; the first of each is registered. */
const ADDRESSES = [
  ['[2001:db8::5]', '2001:db8::5', '2001:DB8:0:0:0:0:0:5', '2001:0db8::0005', '[2001:DB8:0::5]'],
  ['0:0:0:0:0:0:0:1', '::1', '[::1]', '0::1', '0000::0001'],
  ['FE80::1%eth0', 'fe80::1%eth0', '[fe80:0:0:0:0:0:0:1%eth0]'],
  ['::ffff:10.0.0.1', '::FFFF:a00:1', '[::ffff:10.0.0.1]'],
].flatMap(([first, ...others]) => others.map((other) => [first!, other] as const))

const port = 7001
const hostsOf = async (serviceName: string): Promise<Json[]> =>
  (await waypost.nacos.get('/ns/instance/list', { serviceName })).json().hosts

/** Registers an address, and expects it alone to be listed, as it was written. */
async function registered(ip: string, more: Params = {}): Promise<string> {
  const serviceName = unique('svc')
  expect((await waypost.svc.post('/ns/instance', { serviceName, ip, port, ...more })).text).toBe('ok')
  expect((await hostsOf(serviceName)).map((host) => host.ip)).toEqual([ip])
  return serviceName
}

/** Requests that set the weight, at each door. */
const CALLS: Record<string, (place: Params) => Promise<Reply>> = {
  'POST v1': (place) => waypost.nacos.post('/ns/instance', { ...place, weight: 3 }),
  'POST v3': (place) => at('/nacos/v3').post('/client/ns/instance', { ...place, weight: 3 }),
  'POST svc': (place) => waypost.svc.post('/ns/instance', { ...place, weight: 3 }),
  'PUT v1': (place) => waypost.nacos.put('/ns/instance', { ...place, weight: 3 }),
  'PUT v2': (place) => at('/nacos/v2').put('/ns/instance', { ...place, weight: 3 }),
  'PUT svc': (place) => waypost.svc.put('/ns/instance', { ...place, weight: 3 }),
  'PUT several': (place) =>
    waypost.svc.put('/ns/instance/batch', {
      serviceName: place['serviceName'],
      instances: JSON.stringify([{ ip: place['ip'], port: place['port'], ephemeral: true }]),
      weight: 3,
    }),
}

describe.each(ADDRESSES)('%s is found as %s', (ip, other) => {
  test('by registrations and changes: there is one, as it was first written', async () => {
    for (const [name, call] of Object.entries(CALLS)) {
      const serviceName = await registered(ip)
      const answer = await call({ serviceName, ip: other, port })
      expect(answer.status, `${name}: ${answer.text}`).toBe(200)
      expect(await hostsOf(serviceName), name).toMatchObject([{ ip, weight: 3 }])
    }
  })

  test('by beats, reads and health', async () => {
    const serviceName = await registered(ip)
    const place = { serviceName, ip: other, port }
    const beat = JSON.stringify({ ip: other, port })
    for (const form of [place, { serviceName, beat }])
      expect((await waypost.nacos.put('/ns/instance/beat', form)).json()).toMatchObject({ code: 10_200 })
    for (const client of [waypost.nacos, waypost.svc])
      expect((await client.get('/ns/instance', place)).json().ip).toBe(ip)
    expect((await at('/nacos/v2').get('/ns/instance', place)).json().data).toMatchObject({ ip, port })
    await waypost.svc.put('/ns/cluster', {
      serviceName,
      clusterName: 'DEFAULT',
      checkPort: 80,
      useInstancePort4Check: true,
      healthChecker: '{"type":"NONE"}',
    })
    await waypost.nacos.put('/ns/health/instance', { ...place, healthy: false })
    expect(await hostsOf(serviceName)).toMatchObject([{ ip, healthy: false }])
  })

  test('by the console and by batches', async () => {
    const serviceName = await registered(ip)
    const shown = (await waypost.svc.get('/console/instances', { serviceName, ip: other })).json()
    expect(shown.pageItems).toMatchObject([{ ip, port }])
    const found = (await waypost.svc.get('/console/timeline', { serviceName, ip: other })).json()
    expect(found.entries).toMatchObject([{ kind: 'registered' }])
    const form = { namespaceId: '', serviceName, metadata: '{"zone":"a"}' }
    const instances = JSON.stringify([{ ip: other, port, ephemeral: true, clusterName: 'DEFAULT' }])
    const { updated } = (await waypost.svc.put('/ns/instance/metadata/batch', { ...form, instances })).json()
    expect(updated).toEqual([`${ip.startsWith('[') ? ip : `[${ip}]`}:${port}:unknown:DEFAULT:ephemeral`])
    expect(await hostsOf(serviceName)).toMatchObject([{ ip, metadata: { zone: 'a' } }])
  })

  test('by removals, and late beats are known', async () => {
    for (const prefix of ['/nacos/v1/ns', '/nacos/v2/ns', '/nacos/v3/client/ns', '/svc/v1/ns']) {
      const serviceName = await registered(ip)
      await at(prefix).delete('/instance', { serviceName, ip: other, port })
      expect(await hostsOf(serviceName), prefix).toEqual([])
      const late = await waypost.nacos.put('/ns/instance/beat', {
        serviceName,
        beat: JSON.stringify({ ip, port }),
      })
      expect(late.json(), prefix).toMatchObject({ code: 10_200 })
      expect(await hostsOf(serviceName), prefix).toEqual([])
    }
  })

  test('by a connection, whose claim the instance of HTTP keeps', async () => {
    const serviceName = await registered(ip, { weight: 5 })
    const client = new NamingClient(await connectGrpc(waypost.server))
    await client.register(serviceName, { ip: other, port, weight: 2 })
    expect(await hostsOf(serviceName)).toMatchObject([{ ip, weight: 2 }])
    await client.deregister(serviceName, { ip, port })
    expect(await hostsOf(serviceName)).toMatchObject([{ ip, weight: 5 }])
    await client.grpc.close()
  })
})

test('a zone is a part of an address, and ::ffff:10.0.0.1 is not 10.0.0.1', async () => {
  const ips = ['fe80::1', 'fe80::1%eth0', 'fe80::1%eth1', '10.0.0.1', '::ffff:10.0.0.1']
  const serviceName = unique('svc')
  for (const ip of ips) await waypost.svc.post('/ns/instance', { serviceName, ip, port })
  expect((await hostsOf(serviceName)).map(({ ip }) => ip).toSorted()).toEqual(ips.toSorted())
})

describe.each(DIALECTS)('/%s', (dialect) => {
  const isStrict = dialect === 'svc'
  test.each([
    ['h:80', true],
    ['10.0.0.7:8080', true],
    ['[10.0.0.7]:80', true],
    ['10.1.1.300', isStrict],
    ['1.2.3', isStrict],
    ['2130706433', isStrict],
    ['localhost.', isStrict],
    ['a_b.example', false],
    ['[fe80::1%eth0]', false],
  ])('refuses a new instance with the ip %s: %s', async (ip, isRefused) => {
    const place = { serviceName: unique('svc'), ip, port }
    const answer = await waypost[dialect].post('/ns/instance', place)
    if (isRefused) refusals(dialect)(answer, 400, 'ip')
    else expect(answer.text).toBe('ok')
    const beat = { serviceName: unique('svc'), beat: JSON.stringify({ ip, port }) }
    const beaten = await waypost[dialect].put('/ns/instance/beat', beat)
    if (isStrict) expect(beaten.status).toBe(isRefused ? 400 : 200)
    else expect(beaten.json().code).toBe(isRefused ? 20_404 : 10_200)
    expect(await hostsOf(beat.serviceName)).toHaveLength(isRefused ? 0 : 1)
  })
})

test('what is registered at an odd address goes on, by /svc too', async () => {
  const place = { serviceName: unique('svc'), ip: '10.1.1.300', port }
  await waypost.nacos.post('/ns/instance', place)
  for (const answer of [
    await waypost.svc.post('/ns/instance', place),
    await waypost.svc.put('/ns/instance/beat', { ...place, beat: JSON.stringify({ ip: place.ip, port }) }),
    await waypost.svc.put('/ns/instance', { ...place, weight: 4 }),
  ])
    expect(answer.text).toBe('ok')
  expect((await waypost.svc.get('/ns/instance', place)).json()).toMatchObject({ ip: place.ip, weight: 4 })
  await waypost.svc.delete('/ns/instance', place)
  expect(await hostsOf(place.serviceName)).toEqual([])
})
