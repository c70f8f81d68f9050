/** The questions of an incident, from a terminal: who has which version, what has happened, and what leaves. */
import { expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'
import { terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()

const publish = (dataId: string, content: string) =>
  here.svc.post('/cs/configs', { dataId, group: 'G', content })

/** Listens, and says that the client has a text with this md5. */
async function listen(client: GrpcClient, dataId: string, md5: string): Promise<void> {
  const configListenContexts = [{ group: 'G', dataId, tenant: '', md5 }]
  await client.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
}

const MD5_OF_NEW = '22af645d1859cb5ca6da0c484f1f37ea'

test('config listeners says which version each client has', async () => {
  const dataId = unique('app')
  await publish(dataId, 'new')
  expect(JSON.parse(await here.terminal.ok('config', 'listeners', `G/${dataId}`, '-o', 'json'))).toEqual([])
  const [current, old] = [await connectGrpc(here.server), await connectGrpc(here.server)]
  await listen(current, dataId, MD5_OF_NEW)
  await listen(old, dataId, 'ab'.repeat(16))
  const [headings, ...rows] = (await here.terminal.ok('config', 'listeners', dataId, '-g', 'G'))
    .trimEnd()
    .split('\n')
  expect(headings).toMatch(/^CLIENT +LIBRARY +VIA +HAS +MD5 +HEARD/)
  expect(rows.map((row) => /(the formal version|another text)/.exec(row)?.[1]).toSorted()).toEqual([
    'another text',
    'the formal version',
  ])
  for (const client of [current, old]) await client.close()
}, 60_000)

test('config put --wait ends when the clients have it', async () => {
  const dataId = unique('app')
  await publish(dataId, 'old')
  const put = (content: string, ...more: string[]) =>
    here.terminal.run(['config', 'put', `G/${dataId}`, '-', '--wait', ...more], content)
  const published = async (content: string) => {
    await expect
      .poll(async () => (await here.svc.get('/cs/configs', { dataId, group: 'G' })).text, { timeout: 20_000 })
      .toBe(content)
  }
  expect(await put('new')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Nobody listened for it.') as string,
  })
  await publish(dataId, 'old')
  const client = await connectGrpc(here.server)
  await listen(client, dataId, '149603e6c03516362a8da23f624db945')
  const waiting = put('new')
  await published('new')
  await listen(client, dataId, MD5_OF_NEW)
  expect(await waiting).toMatchObject({
    code: 0,
    out: expect.stringContaining('The client that listened has it.') as string,
  })
  const late = await put('newer', '--timeout', '1')
  expect(late.code).toBe(1)
  expect(late.err).toMatch(/After 1 s these clients do not have it: 127\.0\.0\.1:\d+ \(has another text\)/)
  const gone = put('newest', '--timeout', '15')
  await published('newest')
  await client.close()
  expect((await gone).err).toMatch(/127\.0\.0\.1:\d+ \(has not come back\)/)
  expect((await put('new', '--timeout', 'soon')).err).toContain('--timeout must be a number of seconds')
}, 120_000)

test('service timeline has what happened, with who and why; instances say who disabled them', async () => {
  const serviceName = unique('shop')
  for (const ip of ['10.0.0.7', '10.0.0.8'])
    await here.svc.post('/ns/instance', { serviceName, ip, port: 80, ephemeral: 'false' })
  await here.terminal.ok('service', 'disable', serviceName, '10.0.0.7:80')
  const shown = await here.terminal.ok('service', 'timeline', serviceName)
  const [headings, ...rows] = shown.trimEnd().split('\n')
  expect(headings).toMatch(/^TIME +ADDRESS +CLUSTER +HAPPENED +CAUSE +BY +WHAT/)
  expect(rows[0]).toMatch(/10\.0\.0\.7:80 +DEFAULT +disabled +operator +127\.0\.0\.1/)
  expect(rows).toHaveLength(3)
  const one = await here.terminal.ok('service', 'timeline', serviceName, '--ip', '10.0.0.8')
  expect(one.trimEnd().split('\n')).toHaveLength(2)
  expect(await here.terminal.ok('service', 'instances', serviceName)).toMatch(
    /10\.0\.0\.7:80 .* no: by 127\.0\.0\.1, \d+s ago/,
  )
  const elsewhere = await here.terminal.run(['service', 'timeline', serviceName, '--ip', '10.9.9.9'])
  expect(elsewhere.err).toMatch(/^Nothing has happened since \d{4}-/)
}, 60_000)

test('service instances say when a silent one leaves', async () => {
  const serviceName = unique('beating')
  const metadata = '{"preserved.heart.beat.timeout":"1000","preserved.ip.delete.timeout":"600000"}'
  await here.svc.post('/ns/instance', { serviceName, ip: '10.0.0.9', port: 80, ephemeral: 'true', metadata })
  expect(await here.terminal.ok('service', 'instances', serviceName)).toMatch(/last beat \d+s ago/)
  await expect
    .poll(() => here.terminal.ok('service', 'instances', serviceName), { timeout: 60_000, interval: 500 })
    .toMatch(/unhealthy +last beat \d+s ago +in \d+m/)
  expect(await here.terminal.ok('service', 'explain', serviceName)).toContain(
    'it is unhealthy, and the client did not ask for healthy ones only',
  )
}, 120_000)

test('a poll that was answered is no alarm, and says since when its client has not come back', async () => {
  const dataId = unique('polled')
  await publish(dataId, 'new')
  const form = { 'Listening-Configs': `${dataId}\u0002G\u0002${'0'.repeat(32)}\u0001` }
  expect(
    (await here.svc.post('/cs/configs/listener', form, { 'long-pulling-timeout': '30000' })).text,
  ).toContain(dataId)
  expect(await here.terminal.ok('config', 'listeners', dataId, '-g', 'G')).toMatch(
    /has not come back since \d{4}-/,
  )
  expect(await here.terminal.ok('status')).not.toContain(dataId)
}, 60_000)

test('a service whose last instance left stands in the status with time and reason until it is dismissed', async () => {
  const serviceName = unique('pay')
  const instance = { serviceName, ip: '10.0.0.7', port: 80 }
  await here.svc.post('/ns/instance', instance)
  expect(await here.terminal.ok('status')).not.toContain(serviceName)
  await here.svc.delete('/ns/instance', instance)
  expect(await here.terminal.ok('status')).toMatch(
    new RegExp(
      `attention  service-lost: DEFAULT_GROUP@@${serviceName}, the last instance 10.0.0.7:80 left at \\d{4}-\\S+ \\(deregistration\\)`,
    ),
  )
  expect(await here.terminal.ok('service', 'timeline', serviceName)).toMatch(/removed +deregistration/)
  await here.terminal.ok('service', 'dismiss', serviceName)
  expect(await here.terminal.ok('status')).not.toContain(serviceName)
}, 60_000)

test('each of many services whose last instances left can be dismissed, and one that never was is absent', async () => {
  const many = Array.from({ length: 52 }, () => unique('lost'))
  for (const serviceName of many) {
    const instance = { serviceName, ip: '10.0.0.7', port: 80 }
    await here.svc.post('/ns/instance', instance)
    await here.svc.delete('/ns/instance', instance)
    await here.svc.delete('/ns/service', { serviceName })
  }
  await here.terminal.ok('service', 'dismiss', many[0]!)
  expect((await here.terminal.run(['service', 'dismiss', unique('never')])).code).toBe(1)
  // Other tests look for their services among those that need attention.
  for (const serviceName of many.slice(1)) await here.svc.delete('/console/attention', { serviceName })
}, 60_000)

test('a connected client that says nothing is shown with its silence, and when it leaves', async () => {
  const serviceName = unique('frozen')
  // It replies to nothing, as a process that was stopped.
  const client = await connectGrpc(here.server, { reply: () => undefined })
  const instance = { ip: '10.0.0.9', port: 80, ephemeral: true, healthy: true, enabled: true, weight: 1 }
  await client.ask('InstanceRequest', {
    namespace: 'public',
    groupName: 'DEFAULT_GROUP',
    serviceName,
    type: 'registerInstance',
    instance,
  })
  const instances = () => here.terminal.ok('service', 'instances', serviceName)
  expect(await instances()).toMatch(/connected \d+s ago/)
  await expect
    .poll(instances, { timeout: 20_000, interval: 1_000 })
    .toMatch(/healthy +silent for \d+s +in \d+s/)
  await client.close()
}, 60_000)
