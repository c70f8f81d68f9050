/** The walk of smoke.test.ts in Firefox. */
import { expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import { startWaypost } from '../support/waypost.ts'
import { Firefox, firefoxTool } from './firefox.ts'

test.skipIf(firefoxTool.skip)(
  'in Firefox somebody publishes an item by keys, and sees it and an instance, live',
  { timeout: 180_000 },
  async () => {
    const [waypost, firefox] = await Promise.all([startWaypost(), Firefox.start()])
    const client = new Client(`${waypost.url}/svc/v1`)
    const heading = (text: string) => `document.querySelector('main h1')?.textContent.trim() === '${text}'`
    const says = (text: string) => `document.body.textContent.includes(${JSON.stringify(text)})`
    try {
      await firefox.open(`${waypost.url}/ui/#/config/new?ns=public`)
      await firefox.fill('Data ID', 'first.yaml')
      await firefox.until('document.querySelector(".code-host")?.shadowRoot?.querySelector(".cm-content")')
      await firefox.value(
        'document.querySelector(".code-host").shadowRoot.querySelector(".cm-content").focus()',
      )
      await firefox.press('a: 1')
      await firefox.click('button', 'Review and publish')
      await firefox.until('document.querySelector("dialog[open] .code-host")')
      await firefox.click('dialog[open] button', 'Publish')
      await firefox.until(says('first.yaml has been published.'))
      await firefox.until(heading('first.yaml'))
      const published = await client.get('/cs/configs', { dataId: 'first.yaml', group: 'DEFAULT_GROUP' })
      expect(published.text).toBe('a: 1')
      await firefox.click('nav.side a', 'Services')
      await firefox.until(heading('Services'))
      await client.post('/ns/instance', { serviceName: 'shop', ip: '10.0.0.1', port: 80, ephemeral: false })
      // By the stream of events: nobody loads the page again.
      await firefox.click('td.name a', 'shop')
      await firefox.until(says('10.0.0.1:80'))
      await firefox.value('history.back()')
      await firefox.until(heading('Services'))
      expect(await firefox.value('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    } finally {
      await firefox.stop()
      client.close()
      await waypost.stop()
    }
  },
)
