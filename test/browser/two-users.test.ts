/** Two pages of one browser have one cookie: each names the user that the server names, or asks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrowserContext, Page } from 'playwright-core'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { browserTool, startBrowser } from './chromium.ts'

const USERS = { alice: 'public', bob: 'dup1' } as const
type Name = keyof typeof USERS

describe.skipIf(browserTool.skip)('two users at one browser', { timeout: 120_000 }, () => {
  let managed: ManagedWaypost
  let browser: Awaited<ReturnType<typeof startBrowser>>
  let context: BrowserContext

  beforeAll(async () => {
    managed = await startManaged()
    await managed.ask('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: 'dup1',
      namespaceName: 'second',
      namespaceDesc: '',
    })
    for (const [username, namespaceId] of Object.entries(USERS)) {
      const resource = namespaceId === 'public' ? ':*:*' : `${namespaceId}:*:*`
      await managed.addUser({ username, password: 'secret', permissions: { [resource]: 'rw' } })
    }
    browser = await startBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await managed?.waypost.stop()
  })

  async function pages(): Promise<[Page, Page]> {
    context = await browser.newContext()
    const both = [await context.newPage(), await context.newPage()] as [Page, Page]
    for (const page of both) await page.goto(`${managed.waypost.url}/ui/`)
    return both
  }

  async function signIn(page: Page, username: Name): Promise<void> {
    await page.getByLabel('Username').fill(username)
    await page.getByLabel('Password').fill('secret')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await named(page, username)
  }

  const named = (page: Page, username: Name) =>
    page.getByRole('button', { name: new RegExp(`\\b${username}\\b`) }).waitFor()

  /** An item that only the owner may read appears, in a page that was not loaded again. */
  async function followsOnly(page: Page, owner: Name): Promise<void> {
    await page.goto(`${managed.waypost.url}/ui/#/configs?ns=${USERS[owner]}`)
    await page.locator('.connection .dot.good').waitFor()
    const dataId = `item-${Math.random().toString(36).slice(2)}`
    const tenant = USERS[owner] === 'public' ? '' : USERS[owner]
    await managed.ask('POST', '/svc/v1/cs/configs', { tenant, group: 'G', dataId, content: 'x' })
    await page.getByRole('link', { name: dataId }).waitFor()
  }

  test.each<[Name, Name]>([
    ['alice', 'bob'],
    ['bob', 'alice'],
  ])('after %s, %s signs in in another page', async (first, second) => {
    const [one, two] = await pages()
    await signIn(one, first)
    await followsOnly(one, first)
    const before = await context.cookies()
    // The other page still shows the sign-in.
    await signIn(two, second)
    await named(one, second)
    await one.getByText('Another user has signed in').waitFor()
    await followsOnly(one, second)
    await followsOnly(two, second)
    const cookie = before.map(({ name, value }) => `${name}=${value}`).join('; ')
    const old = await fetch(`${managed.waypost.url}/svc/v1/console/session`, { headers: { cookie } })
    expect(old.status).toBe(403)
    await context.close()
  })

  test('a page that was told nothing is refused, and loads itself again', async () => {
    const [one] = await pages()
    await signIn(one, 'alice')
    await one.evaluate('window.BroadcastChannel = undefined')
    // As if another program had set the cookie.
    const answer = await fetch(`${managed.waypost.url}/svc/v1/console/session`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'bob', password: 'secret' }),
    })
    const [name, value] = answer.headers.get('set-cookie')!.split(';')[0]!.split('=') as [string, string]
    await context.addCookies([{ name, value, url: managed.waypost.url }])
    await one.goto(`${managed.waypost.url}/ui/#/services`)
    await named(one, 'bob')
    await context.close()
  })

  test('after a sign-out no page has a content or a draft, whatever is pressed', async () => {
    const [one, two] = await pages()
    await managed.ask('POST', '/svc/v1/cs/configs', {
      group: 'G',
      dataId: 'own.txt',
      content: 'of alice',
      type: 'text',
    })
    await signIn(one, 'alice')
    await two.reload()
    await named(two, 'alice')
    await two.goto(`${managed.waypost.url}/ui/#/config?ns=public&group=G&dataId=own.txt&edit=yes`)
    await two.getByText('of alice').waitFor()
    await one.getByRole('button', { name: /alice/ }).click()
    await one.getByRole('button', { name: 'Sign out' }).click()
    await two.getByLabel('Username').waitFor()
    for (const key of ['Escape', 'Escape', 'Escape', 'x', 'Tab', 'y']) await two.keyboard.press(key)
    expect(await two.evaluate('document.body.textContent')).not.toContain('of alice')
    const kept = (await two.evaluate('JSON.stringify(localStorage)')) as string
    expect(kept).not.toContain('of alice')
    expect(kept).not.toContain('draft')
    await context.close()
  })

  test('“Sign in again” stays, however often Escape is pressed', async () => {
    const [one] = await pages()
    await signIn(one, 'alice')
    await context.clearCookies()
    await one.goto(`${managed.waypost.url}/ui/#/services`)
    const dialog = one.getByRole('dialog')
    await dialog.getByText('Your session has ended').waitFor()
    for (let times = 0; times < 5; times++) await one.keyboard.press('Escape')
    await dialog.getByText('Your session has ended').waitFor()
    await context.close()
  })
})
