import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { NamingClient } from '../grpc/naming-fixture.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { browserTool } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000

describe.skipIf(browserTool.skip)('services in a browser', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()

  const instances = async (): Promise<Record<string, unknown>[]> => {
    const { list } = (await here.client.get('/ns/catalog/instances', { serviceName: 'shop' })).json() as {
      list: Record<string, unknown>[]
    }
    return list
  }

  test('a service is made, and its instances are changed, disabled and deregistered', async () => {
    const visit = await here.open()
    await visit.at('#/services?ns=public')
    await visit.button('New service').click()
    await visit.dialog().getByLabel('Service name').fill('shop')
    await visit.dialog().getByLabel('Protect threshold').fill('2')
    expect(await visit.dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await visit.dialog().getByLabel('Protect threshold').fill('0.4')
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.link('shop').waitFor()
    for (const ip of ['10.0.0.1', '10.0.0.2'])
      await here.client.post('/ns/instance', {
        serviceName: 'shop',
        ip,
        port: 80,
        ephemeral: false,
        metadata: '{"token":"t-1"}',
      })

    await visit.link('shop').click()
    const row = visit.page.getByRole('row', { name: /10\.0\.0\.1:80/ })
    await row.getByRole('button', { name: 'Show the hidden value' }).waitFor()
    expect(await visit.page.getByText('t-1').count()).toBe(0)
    await row.getByRole('button', { name: 'Disable' }).click()
    await row.getByText('Switched off: clients do not get it.').waitFor()
    await row.getByText('By an operator (127.0.0.1)').first().waitFor()
    await row.getByRole('button', { name: 'Edit 10.0.0.1:80' }).click()
    await visit.dialog().getByLabel('Weight').fill('7')
    await visit.dialog().getByLabel('Metadata').fill('zone = eu=1\n')
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await row.getByText('zone=eu=1').waitFor()
    const [first] = await instances()
    expect(first).toMatchObject({ enabled: false, weight: 7 })
    expect(first?.['metadata']).toEqual({ zone: 'eu=1' })

    await visit.link('Explain').click()
    await visit.page.getByText('The client gets 1 of 2 instances.').waitFor()
    await visit.page
      .getByRole('row', { name: /10\.0\.0\.1:80/ })
      .getByText('It is disabled.')
      .waitFor()
    await visit.field('Clusters').fill('other')
    await visit.page.getByText('The client gets 0 of 2 instances.').waitFor()
    expect(visit.page.url()).toContain('clusters=other')
    await visit.link('Instances').click()

    await visit.field('Select all on this page').check()
    await visit.button('Edit 2 selected').click()
    await visit.dialog().getByText('Nothing will be changed yet.').waitFor()
    await visit.dialog().getByLabel('Traffic').selectOption('Enabled')
    await visit.dialog().getByText('What will be changed: 1').waitFor()
    await visit.dialog().getByLabel('Metadata to write').fill('rack=r1')
    await visit.dialog().getByLabel('Metadata keys to remove').fill('token')
    await visit.dialog().getByText('What will be changed: 2').waitFor()
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.getByText('2 on this page: 2 healthy, 0 disabled').waitFor()
    const now = await instances()
    expect(now.map(({ weight, metadata }) => [weight, metadata])).toEqual([
      [7, { zone: 'eu=1', rack: 'r1' }],
      [1, { rack: 'r1' }],
    ])

    await row.getByRole('button', { name: 'Deregister 10.0.0.1:80' }).click()
    await visit.dialog().getByRole('button', { name: 'Deregister', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    expect(await instances()).toHaveLength(1)

    await visit.link('Timeline').click()
    const entry = (name: string) =>
      visit.page.getByRole('row', { name: new RegExp(`10\\.0\\.0\\.1:80.*${name}`) })
    await entry('Removed It was deregistered').waitFor()
    await entry('Disabled By an operator').waitFor()
    await entry('Weight changed By an operator 1 → 7').waitFor()
    await visit.field('Instance address').fill('10.0.0.2')
    await entry('Removed').waitFor({ state: 'detached' })

    await visit.link('Settings').click()
    await visit.button('Delete').click()
    await visit.dialog().getByRole('button', { name: 'Delete' }).click()
    await visit.page.getByText('The service still has instances.').waitFor()
  })

  test('each instance says why it is as it is, while one looks', async () => {
    const probed = createServer((_, response) => response.writeHead(503).end())
    probed.listen(0, '127.0.0.1')
    await once(probed, 'listening')
    const { port } = probed.address() as AddressInfo
    const serviceName = 'reasons'
    const healthChecker = { type: 'HTTP', path: '/', headers: '', expectedResponseCode: 200 }
    const cluster = { clusterName: 'web', checkPort: 80, useInstancePort4Check: true }
    await here.client.post('/ns/service', { serviceName })
    await here.client.put('/ns/cluster', {
      serviceName,
      ...cluster,
      healthChecker: JSON.stringify(healthChecker),
    })
    const more = { clusterName: 'web', ephemeral: false, metadata: 'zone=b' }
    await here.client.post('/ns/instance', { serviceName, ip: '127.0.0.1', port, ...more })
    const times = { 'preserved.heart.beat.timeout': '8000', 'preserved.ip.delete.timeout': '86400000' }
    const metadata = JSON.stringify(times)
    await here.client.post('/ns/instance', { serviceName, ip: '10.0.0.3', port: 80, metadata })

    const visit = await here.open()
    await visit.at(`#/service?ns=public&group=DEFAULT_GROUP&name=${serviceName}`)
    const row = (address: string) => visit.page.getByRole('row', { name: address })
    const reason = row('10.0.0.3:80').locator('.reason')
    await reason.getByText(/^Last beat \d+s ago$/).waitFor()
    // The seconds go on by themselves, and silence comes to light.
    await reason.getByText(/^Last beat ([3-9]|\d\d)s ago/).waitFor()
    await reason.getByText(/^Last beat \d+s ago · removed in (23h|24h|1d)$/).waitFor()
    await row(`127.0.0.1:${port}`)
      .getByText(/^HTTP check: .*503.* \(\d+ ms\)$/)
      .waitFor()
    expect(await visit.wrong()).toEqual([])

    await visit.field('Instance address').fill('10.0.0')
    await row(`127.0.0.1:${port}`).waitFor({ state: 'detached' })
    await visit.field('Instance address').fill('')
    await visit.field('Metadata').fill('zone=b')
    await row('10.0.0.3:80').waitFor({ state: 'detached' })
    expect(visit.page.url()).toContain('metadata=zone%3Db')
    await visit.field('State').selectOption('Healthy')
    await visit.page.getByText('Nothing matches.').waitFor()
    probed.close()
  })

  test('those who follow a service are shown, whatever they speak', async () => {
    const serviceName = 'followed'
    await here.client.post('/ns/service', { serviceName })
    const headers = { 'User-Agent': 'nacos-sdk-python/0.1.14' }
    await here.client.call('GET', '/ns/instance/list', { query: { serviceName }, headers })
    const overGrpc = await connectGrpc(here.waypost, { setup: { clientVersion: 'Nacos-Java-Client:v3.0.3' } })
    const names = { namespace: 'public', groupName: 'DEFAULT_GROUP', serviceName }
    await overGrpc.ask('SubscribeServiceRequest', { ...names, subscribe: true, clusters: '' })
    const visit = await here.open()
    await visit.at(`#/service?ns=public&group=DEFAULT_GROUP&name=${serviceName}&tab=subscribers`)
    const row = (agent: string) => visit.page.getByRole('row', { name: agent })
    await row('nacos-sdk-python/0.1.14').getByText('Reads the list').waitFor()
    await row('Nacos-Java-Client:v3.0.3').getByText('Connection (gRPC)').waitFor()
    await overGrpc.close()
    await row('Nacos-Java-Client:v3.0.3').waitFor({ state: 'detached' })
  })

  test('a connected client is found, and its connection is closed', async () => {
    const labels = { module: 'naming', AppName: 'till' }
    const overGrpc = await connectGrpc(here.waypost, {
      setup: { clientVersion: 'Nacos-Go-Client:v2.3.5', labels },
    })
    await new NamingClient(overGrpc).register('connected')
    const visit = await here.open()
    await visit.at('#/servers')
    await visit.link('Clients').click()
    const row = visit.page.getByRole('row', { name: 'Nacos-Go-Client:v2.3.5' })
    await row.getByText(`127.0.0.1:${here.waypost.port}`, { exact: true }).waitFor()
    expect(await row.getByRole('cell').allTextContents()).toEqual(
      expect.arrayContaining(['till', 'naming', '1']),
    )
    await visit.field('Address, library, application, user').fill('nobody')
    await visit.page.getByText('Nothing matches.').waitFor()
    expect(visit.page.url()).toContain('text=nobody')
    await visit.field('Address, library, application, user').fill('till')
    await row.getByRole('button', { name: /^Close the connection of 127\.0\.0\.1:/ }).click()
    await visit.dialog().getByRole('button', { name: 'Close the connection' }).click()
    await overGrpc.ended
    await row.waitFor({ state: 'detached' })
    expect(await visit.wrong()).toEqual([])
  })
})
