/** Long lists: how much is seen at once, how they are narrowed, and what is selected. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserTool, Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000
const COUNT = 120
const PATIENT = { timeout: 30_000 }

/** Words in cells that are on two lines. A text: code of the tests knows no document. */
const brokenIn = (
  cells: string,
  words: string,
): string => `[...document.querySelectorAll('${cells}')].flatMap((cell) => {
  const found = []
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    for (const word of node.data.matchAll(${words})) {
      const range = document.createRange()
      range.setStart(node, word.index)
      range.setEnd(node, word.index + word[0].length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word[0])
    }
  }
  return found
})`
const BROKEN_WORDS = brokenIn('main td, main th', '/\\S+/g')
/** Names may be broken at their dots, and nowhere else. */
const BROKEN_NAMES = brokenIn('main', '/(?<![A-Za-z0-9])[A-Za-z0-9]{2,40}(?![A-Za-z0-9])/g')
/** Texts that reach over the cell beside them, and times that are broken. */
const OVER_THE_EDGE = `[...document.querySelectorAll('main td, main td :not(.hidden)')].filter((part) => {
  const isOver = getComputedStyle(part).overflowX === 'visible' && part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1
  return isOver || (part.tagName === 'TIME' && part.getClientRects().length > 1)
}).map((part) => part.outerHTML.slice(0, 120))`
const ROWS_IN_SIGHT = `[...document.querySelectorAll('tbody tr')]
  .filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length`

describe.skipIf(browserTool.skip)('long lists in a browser', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()
  let visit: Visit
  beforeAll(async () => {
    for (let index = 100; index < 100 + COUNT; index++) {
      const item = {
        dataId: `application-${index}.yaml`,
        group: index % 2 ? 'DEFAULT_GROUP' : 'INVENTORY_GROUP',
      }
      const notes = { desc: 'Settings of the application in every region', config_tags: 'team-shop' }
      await here.client.post('/cs/configs', {
        ...item,
        ...notes,
        content: `port: ${index}`,
        type: 'yaml',
        appName: 'shop',
      })
    }
    await here.client.post('/cs/configs', {
      dataId: 'other.json',
      group: 'G'.repeat(128),
      content: '{}',
      type: 'json',
    })
    visit = await Visit.open(here.browser, `${here.waypost.url}/ui/`)
  }, FLOW_MS)
  afterAll(async () => {
    expect(visit?.faults).toEqual([])
    await visit?.close()
  })

  const names = () => visit.page.locator('td.name a').allTextContents()

  test('fifteen rows are in sight, and no word is broken, on a phone either', async () => {
    await visit.at('#/configs?ns=public&sort=dataId')
    expect(await visit.page.evaluate<number>(ROWS_IN_SIGHT)).toBeGreaterThanOrEqual(15)
    for (const width of [1280, 768, 360]) {
      await visit.page.setViewportSize({ width, height: 800 })
      for (const sort of ['dataId', 'group']) {
        await visit.at(`#/configs?ns=public&sort=${sort}&order=desc`)
        expect(await visit.page.evaluate<string[]>(BROKEN_WORDS), `${width}`).toEqual([])
        expect(await visit.page.evaluate<string[]>(OVER_THE_EDGE), `${width}`).toEqual([])
        expect(await visit.sideways(), `${width}`).toBeLessThanOrEqual(0)
      }
    }
    expect(await visit.wrong()).toEqual([])
    await visit.page.setViewportSize({ width: 1280, height: 800 })
  })

  test('long names that begin alike show their ends, and are heard whole', async () => {
    const long = (at: number): string => `com.example.shop.checkout.settings-of-module-${at}.yaml`
    for (const at of [1, 2])
      await here.client.post('/cs/configs', { tenant: 'long', dataId: long(at), group: 'G', content: 'a: 1' })
    for (const width of [1280, 768, 360]) {
      await visit.page.setViewportSize({ width, height: 800 })
      await visit.at('#/configs?ns=long&sort=dataId')
      await visit.page.getByRole('link', { name: long(1), exact: true }).waitFor()
      for (const at of [1, 2]) {
        const end = visit.page.locator('.name-link > .tail', { hasText: `${at}.yaml` })
        const cell = await visit.page.locator('td.name', { has: end }).boundingBox()
        const seen = await end.boundingBox()
        expect(seen!.x + seen!.width, `${width}`).toBeLessThanOrEqual(cell!.x + cell!.width)
      }
      expect(await visit.sideways(), `${width}`).toBeLessThanOrEqual(0)
    }
    await visit.page.setViewportSize({ width: 1280, height: 800 })
  })

  test('names are broken at their dots and nowhere else, in views of other kinds too', async () => {
    const service = { namespaceId: 'long', serviceName: 'com.example.shop.checkout.prices', ip: '127.0.0.8' }
    const metadata = { 'preserved.heart.beat.timeout': '1000', 'preserved.ip.delete.timeout': '60000' }
    await here.client.post('/ns/instance', { ...service, port: 80, metadata: JSON.stringify(metadata) })
    const item = 'com.example.shop.checkout.settings-of-module-1.yaml'
    await here.client.post('/cs/configs', { tenant: 'long', dataId: item, group: 'G', content: 'a: 1' })
    const named = `ns=long&group=G&dataId=${item}`
    for (const view of [
      '#/home',
      '#/compare?ns=long&to=public',
      '#/services?ns=long',
      `#/service?ns=long&group=DEFAULT_GROUP&name=${service.serviceName}`,
      '#/audit',
      `#/config?${named}&tab=versions`,
      `#/config?${named}`,
    ])
      for (const width of [1280, 768, 360]) {
        await visit.page.setViewportSize({ width, height: 800 })
        await visit.at(view)
        expect(await visit.page.evaluate<string[]>(BROKEN_NAMES), `${view} ${width}`).toEqual([])
        expect(await visit.page.evaluate<string[]>(OVER_THE_EDGE), `${view} ${width}`).toEqual([])
        expect(await visit.sideways(), `${view} ${width}`).toBeLessThanOrEqual(0)
      }
    await visit.page.setViewportSize({ width: 1280, height: 800 })
  })

  test('one field narrows the list, and what it has understood becomes a chip', async () => {
    await visit.at('#/configs?ns=public')
    const search = visit.field('Search')
    await search.fill('')
    await search.pressSequentially('group:INVENTORY_GROUP 11')
    await expect.poll(names, PATIENT).toHaveLength(5)
    expect(visit.page.url()).toContain('group=INVENTORY_GROUP')
    expect(await search.inputValue()).toBe('11')
    await search.fill('content:port: 118')
    await search.press('Enter')
    await expect.poll(names, PATIENT).toEqual(['application-118.yaml'])
    await visit.page.locator('.hits').getByText('port: 118').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.button('Remove content:port: 118').click()
    await visit.button('Remove group:INVENTORY_GROUP').click()
    await visit.button('Add a filter').click()
    await visit.button('type:json').click()
    await expect.poll(names, PATIENT).toEqual(['other.json'])
    await visit.at('#/configs?ns=public&text=application-101&tag=team-shop')
    await expect.poll(() => search.inputValue(), PATIENT).toBe('application-101')
    await search.press('Control+a')
    await search.press('Backspace')
    await search.press('Backspace')
    await visit.button('Remove tag:team-shop').waitFor({ state: 'detached' })
    await expect.poll(() => visit.page.url(), PATIENT).not.toContain('tag=')
  })

  test('a page has as many rows as one likes, and any page is reached at once', async () => {
    await visit.at('#/configs?ns=public&sort=dataId')
    await visit.field('Rows on a page').selectOption('20')
    await expect.poll(names, PATIENT).toHaveLength(20)
    await visit.field('Page').fill('6')
    await visit.field('Page').press('Enter')
    await expect.poll(async () => (await names())[0], PATIENT).toBe('application-200.yaml')
    await visit.page.reload()
    await expect.poll(names, PATIENT).toHaveLength(20)
    // The choice is kept for other lists too.
    await visit.at('#/configs?ns=public')
    await expect.poll(names, PATIENT).toHaveLength(20)
    await visit.field('Rows on a page').selectOption('50')
    await expect.poll(names, PATIENT).toHaveLength(50)
  })

  test('a selection goes over pages, up to all that match, and moves no row', async () => {
    await visit.at('#/configs?ns=public&sort=dataId&text=application-')
    const topOf = async (name: string) => (await visit.link(name).boundingBox())!.y
    const before = await topOf('application-103.yaml')
    await visit.field('Select application-100.yaml').check()
    expect(await topOf('application-103.yaml')).toBe(before)
    await visit.button('Next').click()
    await visit.field('Select application-150.yaml').check()
    await visit.page.getByText('2 selected').waitFor()
    await visit.button(`Select all ${COUNT} that match`).click()
    await visit.page.getByText(`${COUNT} selected`).waitFor()
    const bar = (await visit.page.locator('.batch-bar').boundingBox())!
    expect(bar.y + bar.height).toBeLessThanOrEqual(800)
    expect(await visit.wrong()).toEqual([])
    await visit.button('Delete').click()
    await visit
      .dialog()
      .getByRole('heading', { name: `Delete ${COUNT} configurations?` })
      .waitFor()
    await visit.dialog().getByRole('button', { name: 'Delete' }).click()
    await visit.page.getByText(`Deleted: ${COUNT}`).waitFor()
    await visit.page.getByText('Nothing matches.').waitFor()
  })
})
