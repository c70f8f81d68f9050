/** The measurements of servers, and the charts of the overview. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserTool, Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000

/** As servers answer that have been measuring for a while; the second has just been started. */
const MEMBERS = [
  {
    key: '10.0.0.1:8848',
    figures: {
      stepMs: 20_000,
      storeBytes: 4_000_000,
      lines: {
        requestsPerSecond: [10, 40, 20],
        processorShare: [0.1, 0.3, 0.2],
        memoryBytes: [90_000_000, 91_000_000, 92_000_000],
        connections: [1, 3, 2],
        storeBytes: [3_000_000, 3_000_000, 4_000_000],
      },
    },
  },
  {
    key: '10.0.0.2:8848',
    figures: {
      stepMs: 20_000,
      storeBytes: 4_000_000,
      lines: {
        requestsPerSecond: [],
        processorShare: [],
        memoryBytes: [],
        connections: [],
        storeBytes: [],
      },
    },
  },
]

describe.skipIf(browserTool.skip)('figures in a browser', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()
  let visit: Visit
  beforeAll(async () => {
    for (const tenant of ['', 'dev', 'dev'])
      await here.client.post('/cs/configs', { tenant, dataId: `a-${tenant}`, group: 'G', content: 'a' })
    const instance = { serviceName: 'orders', ip: '127.0.0.9', ephemeral: false }
    await here.client.post('/ns/instance', { ...instance, port: 1, enabled: false })
    await here.client.post('/ns/instance', { ...instance, port: 2 })
    visit = await Visit.open(here.browser, `${here.waypost.url}/ui/`)
  }, FLOW_MS)
  afterAll(async () => {
    expect(visit?.faults).toEqual([])
    await visit?.close()
  })

  test('the page of the servers has the size of the store of this one', async () => {
    await visit.at('#/servers')
    await visit.page.getByRole('columnheader', { name: 'Store' }).first().waitFor()
    await visit.page
      .getByRole('cell', { name: /^[\d.,]+ (kB|MB)$/ })
      .first()
      .waitFor()
  })

  test('each server has its lines of the last hour, which are read aloud too', async () => {
    await visit.page.route('**/svc/v1/operator/cluster', (route) =>
      route.fulfill({ json: { members: MEMBERS } }),
    )
    await visit.at('#/home')
    await visit.at('#/servers')
    await visit.page
      .getByRole('img', { name: 'Requests per second in the last hour: now 20, at most 40' })
      .waitFor()
    await visit.page
      .getByRole('img', { name: 'Processor of the server in the last hour: now 20 %, at most 30 %' })
      .waitFor()
    await visit.page.getByRole('row', { name: /10\.0\.0\.2:8848.*not measured yet/ }).waitFor()
    expect(await visit.wrong()).toEqual([])
  })

  test('the overview draws health, namespaces and load', async () => {
    await visit.at('#/home')
    await visit.page.getByRole('img', { name: /^\d of 2 healthy$/ }).waitFor()
    await visit.page.getByText('1 disabled').waitFor()
    await visit.page.getByRole('heading', { name: 'Configurations by namespace' }).waitFor()
    await visit.page.getByRole('img', { name: 'Connections in the last hour: now 2, at most 3' }).waitFor()
    for (const width of [1280, 768, 360]) {
      await visit.page.setViewportSize({ width, height: 800 })
      expect(await visit.sideways(), `${width}`).toBeLessThanOrEqual(0)
    }
    expect(await visit.wrong()).toEqual([])
  })
})
