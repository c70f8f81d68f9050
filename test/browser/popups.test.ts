/** A page of another site opens the console in a window: neither has the other, also on another port of the same host. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserTool } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

describe.skipIf(browserTool.skip)('a page that opens the console in a window', () => {
  const here = consoleForThisFile()
  const other = http.createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<button>open</button>')
  })
  beforeAll(() => new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve)))
  afterAll(() => other.close())

  test.each([
    ['127.0.0.1', '/ui/'],
    ['localhost', '/ui/#/services'],
    ['127.0.0.1', '/nacos'],
  ])('from %s at %s reaches nothing in it, and cannot lead it elsewhere', async (host, path) => {
    const context = await here.browser.newContext()
    const page = await context.newPage()
    await page.goto(`http://${host}:${(other.address() as AddressInfo).port}/`)
    const opens = `document.querySelector('button').onclick = () => { window.opened = open('${here.waypost.url}${path}', 'named') }`
    await page.evaluate(opens)
    const popup = page.waitForEvent('popup')
    await page.getByRole('button').click()
    const shown = await popup
    await shown.getByRole('main').waitFor()
    expect(await shown.evaluate('[String(window.opener), window.name]')).toEqual(['null', ''])
    await page.waitForFunction('opened.closed')
    await page.evaluate(`try { opened.location = '/elsewhere' } catch {}`)
    // The name is free, so that another window opens.
    const second = page.waitForEvent('popup')
    await page.evaluate(`void open('/elsewhere', 'named')`)
    await (await second).waitForURL(/elsewhere/)
    expect(shown.url()).toContain('/ui/')
    await context.close()
  })
})
