/** While the server is away, lists show what was read before, say so, and recover by themselves. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Client } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { browserTool, startBrowser, Visit } from './chromium.ts'

const FLOW_MS = 180_000
/** Instances that beat are read again after 5 s. */
const LONGER_THAN_A_REFRESH_MS = 7_000
const OFTEN = 120
/** They send no beats, and stay for the whole test. */
const PATIENT = JSON.stringify({
  'preserved.heart.beat.timeout': '3600000',
  'preserved.ip.delete.timeout': '3600000',
})

interface List {
  readonly hash: string
  /** The text of a row of its first page, and of the second page. */
  readonly first: string
  readonly second?: string
}

const ITEM = 'ns=public&group=G&dataId=often.txt'
const LISTS: readonly List[] = [
  { hash: '#/configs?sort=dataId&text=item-', first: 'item-001.txt', second: 'item-051.txt' },
  { hash: '#/configs?sort=dataId&text=item-&everywhere=yes', first: 'item-001.txt', second: 'item-051.txt' },
  { hash: '#/services?ns=public', first: 'service-001', second: 'service-051' },
  {
    hash: '#/service?ns=public&group=DEFAULT_GROUP&name=service-001',
    first: '10.0.0.1:1',
    second: '10.0.0.1:101',
  },
  {
    hash: '#/service?ns=public&group=DEFAULT_GROUP&name=service-001&tab=explain',
    first: '10.0.0.1:1',
    second: '10.0.0.1:101',
  },
  { hash: '#/service?ns=public&group=DEFAULT_GROUP&name=service-001&tab=timeline', first: '10.0.0.1:120' },
  { hash: `#/config?${ITEM}&tab=versions`, first: 'Current' },
  { hash: `#/config?${ITEM}`, first: 'text 120' },
  { hash: '#/bin?ns=public', first: 'gone-060.txt', second: 'gone-001.txt' },
  { hash: '#/audit', first: '127.0.0.1' },
  { hash: '#/servers', first: 'Up' },
  { hash: '#/switches', first: 'pushEnabled' },
  { hash: '#/namespaces', first: 'public' },
  { hash: '#/home', first: 'service-002' },
]

describe.skipIf(browserTool.skip)('while the server is away', { timeout: FLOW_MS }, () => {
  let browser: Browser
  let waypost: Waypost
  beforeAll(async () => {
    ;[browser, waypost] = await Promise.all([startBrowser(), startWaypost()])
    const client = new Client(`${waypost.url}/svc/v1`)
    const config = (dataId: string) => ({ dataId, group: 'G', content: 'x', type: 'text' })
    const number = (index: number): string => String(index).padStart(3, '0')
    for (let index = 1; index <= 60; index++) {
      await client.post('/cs/configs', config(`item-${number(index)}.txt`))
      await client.post('/ns/service', { serviceName: `service-${number(index)}` })
      await client.post('/cs/configs', config(`gone-${number(index)}.txt`))
      await client.delete('/cs/configs', { dataId: `gone-${number(index)}.txt`, group: 'G' })
    }
    for (let index = 1; index <= OFTEN; index++) {
      await client.post('/cs/configs', { ...config('often.txt'), content: `text ${index}` })
      await client.post('/ns/instance', {
        serviceName: 'service-001',
        ip: '10.0.0.1',
        port: index,
        metadata: PATIENT,
      })
    }
    client.close()
  }, FLOW_MS)
  afterAll(async () => {
    await browser?.close()
    await waypost?.stop()
  })

  test('rows stay, the pager says what is shown, and the error is in sight', async () => {
    const visits = await Promise.all(
      LISTS.map(async (list) => {
        const visit = await Visit.open(browser, `${waypost.url}/ui/`)
        await visit.at(list.hash)
        const main = visit.page.locator('main')
        await main.getByText(list.first, { exact: false }).first().waitFor()
        return { ...list, visit, main }
      }),
    )
    await waypost.kill()
    await new Promise((resolve) => setTimeout(resolve, LONGER_THAN_A_REFRESH_MS))
    for (const { hash, visit, main, first, second } of visits) {
      await main.getByText(first, { exact: false }).first().waitFor()
      if (second === undefined) {
        await main.getByRole('alert').first().waitFor()
        continue
      }
      const next = visit.button('Next')
      await next.click()
      await main.getByRole('alert').first().waitFor()
      await next.click()
      await visit.settled()
      expect(await visit.field('Page').inputValue()).toBe('1')
      await main.getByText(first, { exact: false }).first().waitFor()
      const seen = await main.getByRole('alert').first().boundingBox()
      expect(seen!.y, hash).toBeGreaterThanOrEqual(0)
      expect(seen!.y + seen!.height, hash).toBeLessThanOrEqual(800)
      await main.getByText('What is shown was read before').waitFor()
    }
    waypost = await startWaypost({ port: waypost.port, dataDir: waypost.dataDir })
    for (const { visit, main, second } of visits) {
      await main.getByRole('alert').first().waitFor({ state: 'detached' })
      if (second !== undefined) {
        await expect.poll(() => visit.field('Page').inputValue()).toBe('2')
        await main.getByText(second, { exact: false }).first().waitFor()
      }
      await visit.close()
    }
  })

  test('rows of another namespace are not taken for those of this one', async () => {
    const visit = await Visit.open(browser, `${waypost.url}/ui/`)
    await visit.at('#/configs?ns=public&text=item-')
    await visit.link('item-001.txt').or(visit.link('item-060.txt')).first().waitFor()
    await waypost.kill()
    await visit.at('#/configs?ns=other')
    await visit.page.locator('main').getByRole('alert').first().waitFor()
    expect(await visit.page.getByText('item-').count()).toBe(0)
    waypost = await startWaypost({ port: waypost.port, dataDir: waypost.dataDir })
    await visit.page.locator('main').getByRole('alert').first().waitFor({ state: 'detached' })
    await visit.close()
  })
})
