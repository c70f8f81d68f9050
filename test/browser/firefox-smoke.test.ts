/** The walk of smoke.test.ts in Firefox, after the views of the first minutes. */
import { expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { startWaypost } from '../support/waypost.ts'
import { Firefox, firefoxTool } from './firefox.ts'

test.skipIf(firefoxTool.skip)(
  'in Firefox somebody sees how an application connects, publishes an item by keys, and sees it and an instance, live',
  { timeout: 180_000 },
  async () => {
    const [waypost, firefox] = await Promise.all([startWaypost(), Firefox.start()])
    const client = new Client(`${waypost.url}/svc/v1`)
    const heading = (text: string) => `document.querySelector('main h1')?.textContent.trim() === '${text}'`
    const says = (text: string) => `document.body.textContent.includes(${JSON.stringify(text)})`
    const { first } = firefox
    try {
      await first.open(`${waypost.url}/ui/`)
      await first.until(says('First steps'))
      await first.click('main button', 'Connect an application')
      await first.click('dialog[open] button', 'Python')
      await first.until(
        `document.querySelector('dialog[open] .snippet').textContent.includes('127.0.0.1:${waypost.port}')`,
      )
      await first.until(says('Waiting for the application'))
      const listener = await connectGrpc(waypost, { setup: { clientVersion: 'Nacos-Java-Client:v3.0.3' } })
      const configListenContexts = [
        { dataId: 'application.yaml', group: 'DEFAULT_GROUP', tenant: '', md5: '' },
      ]
      await listener.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
      await first.until(says('The application is here:'))
      await listener.close()
      await first.click('dialog[open] .dialog-foot button', 'Close')
      await first.until('document.querySelector("dialog[open]") === null')
      await first.click('main a', 'Publish a configuration')
      await first.fill('Data ID', 'first.yaml')
      await first.until('document.querySelector(".code-host")?.shadowRoot?.querySelector(".cm-content")')
      await first.value(
        'document.querySelector(".code-host").shadowRoot.querySelector(".cm-content").focus()',
      )
      await first.press('a: 1')
      await first.click('button', 'Review and publish')
      await first.until('document.querySelector("dialog[open] .code-host")')
      await first.click('dialog[open] button', 'Publish')
      await first.until(says('first.yaml has been published.'))
      await first.until(heading('first.yaml'))
      const published = await client.get('/cs/configs', { dataId: 'first.yaml', group: 'DEFAULT_GROUP' })
      expect(published.text).toBe('a: 1')
      await first.click('nav.side a', 'Services')
      await first.until(heading('Services'))
      await client.post('/ns/instance', { serviceName: 'shop', ip: '10.0.0.1', port: 80, ephemeral: false })
      // By the stream of events: nobody loads the page again.
      await first.click('td.name a', 'shop')
      await first.until(says('10.0.0.1:80'))
      await first.value('history.back()')
      await first.until(heading('Services'))
      expect(await first.value('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    } finally {
      await firefox.stop()
      client.close()
      await waypost.stop()
    }
  },
)
