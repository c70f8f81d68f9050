/** One walk through the console, so that `npm test` has one. The other files of this folder have the rest. */
import { expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import { startWaypost } from '../support/waypost.ts'
import { browserTool, startBrowser, Visit } from './chromium.ts'

test.skipIf(browserTool.skip)(
  'in the console somebody publishes an item, and sees it and an instance',
  { timeout: 120_000 },
  async () => {
    const [waypost, browser] = await Promise.all([startWaypost(), startBrowser()])
    const client = new Client(`${waypost.url}/svc/v1`)
    const visit = await Visit.open(browser, `${waypost.url}/ui/`)
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('first.yaml')
    await visit.field('Group').fill('G')
    await visit.type('a: 1')
    await visit.button('Review and publish').click()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('first.yaml has been published.').waitFor()
    expect((await client.get('/cs/configs', { dataId: 'first.yaml', group: 'G' })).text).toBe('a: 1')
    await visit.at('#/configs?ns=public')
    await visit.link('first.yaml').waitFor()
    await client.post('/ns/instance', { serviceName: 'shop', ip: '10.0.0.1', port: 80, ephemeral: false })
    await visit.at('#/services?ns=public')
    await visit.link('shop').click()
    await visit.page.getByRole('row', { name: /10\.0\.0\.1:80/ }).waitFor()
    expect(visit.faults).toEqual([])
    client.close()
    await browser.close()
    await waypost.stop()
  },
)
