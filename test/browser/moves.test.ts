/** Ways through the console: back, titles, focus, and what nobody may lose on the way. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startManaged, type ManagedWaypost } from '../support/administrator.ts'
import { startWaypost } from '../support/waypost.ts'
import { browserTool, type Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000
const ITEM = '#/config?ns=public&group=G&dataId=a.yaml'

describe.skipIf(browserTool.skip)('ways through the console', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()
  let managed: ManagedWaypost
  beforeAll(async () => {
    managed = await startManaged()
    const item = { dataId: 'a.yaml', group: 'G', content: 'a: 1', type: 'yaml' }
    await here.client.post('/cs/configs', item)
    for (let index = 10; index < 50; index++)
      await here.client.post('/cs/configs', { dataId: `row-${index}.yaml`, group: 'ROWS', content: 'a: 1' })
    await managed.ask('POST', '/svc/v1/cs/configs', item)
  }, FLOW_MS)
  afterAll(() => managed?.waypost.stop())

  const focused = (visit: Visit): Promise<string> =>
    visit.page.evaluate<string>(
      '`${document.activeElement.localName} ${document.activeElement.textContent.trim().slice(0, 40)}`',
    )

  test('the way back leads out of an edit to the item and to the list, whatever is answered', async () => {
    const visit = await here.open()
    await visit.at('#/configs?ns=public&group=G')
    await visit.link('a.yaml').click()
    await visit.link('Edit').click()
    await visit.type('a: 2')
    await visit.page.locator('button:enabled', { hasText: 'Review and publish' }).waitFor()
    await visit.page.evaluate('history.back()')
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    expect(visit.page.url()).toContain('edit=yes')
    await visit.page.evaluate('history.back()')
    await visit.button('Discard').click()
    await visit.link('Edit').waitFor()
    expect(visit.page.url()).not.toContain('edit=yes')
    await visit.page.evaluate('history.back()')
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()
    expect(visit.page.url()).toContain('group=G')
    // And forth again, and out of an edit by its button: then the way back leads to the list too.
    await visit.link('a.yaml').click()
    await visit.link('Edit').click()
    await visit.button('Cancel').click()
    await visit.link('Edit').waitFor()
    await visit.page.evaluate('history.back()')
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()
  })

  test('the way back finds a list where it was, and a title names what it is about', async () => {
    const visit = await here.open()
    await visit.at('#/configs?ns=public&group=ROWS&sort=dataId')
    await visit.link('row-40.yaml').scrollIntoViewIfNeeded()
    const top = await visit.page.evaluate<number>('scrollY')
    expect(top).toBeGreaterThan(300)
    await visit.link('row-40.yaml').click()
    await visit.page.getByRole('heading', { name: 'row-40.yaml' }).waitFor()
    expect(await visit.page.title()).toBe('row-40.yaml · Configuration · public · Waypost')
    expect(await visit.page.evaluate<number>('scrollY')).toBe(0)
    expect(await focused(visit)).toBe('h1 row-40.yaml')
    await visit.page.evaluate('history.back()')
    await visit.link('row-40.yaml').waitFor()
    await expect.poll(() => visit.page.evaluate<number>('scrollY')).toBe(top)
  })

  test('the focus goes to a heading, into an editor, to the comment, and back', async () => {
    const visit = await here.open()
    await visit.at(ITEM)
    await visit.link('Services').first().click()
    await visit.page.getByRole('heading', { name: 'Services' }).waitFor()
    await expect.poll(() => focused(visit)).toBe('h1 Services')
    await visit.page.evaluate('history.back()')
    await visit.link('Edit').click()
    await expect.poll(() => focused(visit)).toMatch(/^div/)
    await visit.page.keyboard.type('# typed without a click ')
    await visit.button('Review and publish').click()
    await visit.dialog().locator('input:focus').waitFor()
    expect(await visit.dialog().locator('input:focus').getAttribute('placeholder')).toMatch(/^Why/)
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('a.yaml has been published.').waitFor()
    await expect.poll(() => focused(visit)).toBe('h1 a.yaml')
    expect((await here.client.get('/cs/configs', { dataId: 'a.yaml', group: 'G' })).text).toContain('# typed')
  })

  test('an unknown address says so, and a view of all namespaces shows the mark of none', async () => {
    const visit = await here.open()
    await visit.at('#/config-list?ns=public')
    await visit.page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await visit.at('#/home')
    await visit.page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await visit.page.locator('.top .namespace').count()).toBe(0)
    await visit.at('#/switches')
    const names = await visit.page.locator('td strong').allTextContents()
    expect(names.indexOf('defaultCacheMillis')).toBeLessThan(names.indexOf('defaultPushCacheMillis'))
  })

  test('the search closes by one Escape, also with a text in it', async () => {
    const visit = await here.open()
    await visit.at('#/configs?ns=public')
    await visit.page.keyboard.press('/')
    await visit.dialog().getByLabel('Search everywhere').fill('row')
    await visit.dialog().getByRole('link', { name: 'See all' }).first().waitFor()
    expect(await visit.wrong(['target-size', 'landmark-banner-is-top-level'])).toEqual([])
    await visit.page.keyboard.press('Escape')
    await visit.dialog().waitFor({ state: 'detached' })
  })

  test('keys edit, publish and go, and those of single letters can be switched off', async () => {
    const item = { dataId: 'keys.yaml', group: 'G' }
    await here.client.post('/cs/configs', { ...item, content: 'a: 1', type: 'yaml' })
    const visit = await here.open()
    const { keyboard } = visit.page
    await visit.at('#/config?ns=public&group=G&dataId=keys.yaml')
    await keyboard.press('e')
    await visit.page.locator('.cm-focused').waitFor()
    await keyboard.press('Control+a')
    await keyboard.insertText('a: keys')
    await keyboard.press('Control+Enter')
    await visit.page.getByRole('heading', { name: 'Publish keys.yaml?' }).waitFor()
    await keyboard.press('Control+Enter')
    await visit.page.getByText('keys.yaml has been published.').waitFor()
    expect((await here.client.get('/cs/configs', item)).text).toBe('a: keys')
    await keyboard.press('g')
    await keyboard.press('s')
    await visit.page.getByRole('heading', { name: 'Services' }).waitFor()
    await visit.field('Search').fill('')
    await visit.field('Search').press('?')
    expect(await visit.field('Search').inputValue()).toBe('?')
    await visit.page.getByRole('heading', { name: 'Services' }).click()
    await keyboard.press('?')
    await visit.dialog().getByText('Review an edit, then publish it').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByLabel('Keys without Ctrl work too').uncheck()
    await keyboard.press('Escape')
    await keyboard.press('g')
    await keyboard.press('c')
    await keyboard.press('/')
    await keyboard.press('Control+k')
    await visit.page.getByRole('heading', { name: 'Search everywhere' }).waitFor()
    expect(visit.page.url()).toContain('#/services')
    await visit.page.reload()
    await keyboard.press('g')
    await keyboard.press('c')
    await visit.button('Keyboard').click()
    expect(await visit.dialog().getByLabel('Keys without Ctrl work too').isChecked()).toBe(false)
  })

  test('signing out asks before an edit is lost', async () => {
    const visit = await here.open({}, managed.waypost.url)
    await visit.at(ITEM)
    await visit.field('Username').fill('nacos')
    await visit.field('Password').fill('secret')
    await visit.button('Sign in').click()
    await visit.link('Edit').click()
    await visit.type('a: mine')
    await visit.button('Account of nacos').click()
    await visit.button('Sign out').click()
    await visit.dialog().getByText('What you have typed has not been published.').waitFor()
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    await visit.context.clearCookies()
    await visit.button('Review and publish').click()
    await visit.page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    await visit.button('As somebody else').click()
    const question = visit.page.locator('dialog[open]', { hasText: 'What you have typed' })
    await question.getByRole('button', { name: 'Discard' }).click()
    await visit.page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  })

  test('a page without a connection says why, and tries again when one asks for it', async () => {
    const own = await startWaypost()
    const visit = await here.open({}, own.url)
    await visit.at('#/configs?ns=public')
    await visit.page.locator('.connection .dot.good').waitFor()
    await own.stop()
    await visit.page.getByText('Not connected').waitFor()
    await visit.button('Try now').click()
    await visit.page.getByText('The server cannot be reached.').first().waitFor()
    expect(await visit.page.getByText('Failed to fetch').count()).toBe(0)
  })
})
