/** Two tabs of one browser have one cookie: each names the user that the server names, or asks. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { browserTool, chromiumTabs } from './chromium.ts'
import { Firefox, firefoxTool } from './firefox.ts'
import { KEY, type Tab, type Tabs } from './tab.ts'

const USERS = { alice: 'public', bob: 'dup1' } as const
type Name = keyof typeof USERS
const HOOK_MS = 120_000

describe.each([
  { name: 'Chromium', tool: browserTool, start: chromiumTabs },
  { name: 'Firefox', tool: firefoxTool, start: () => Firefox.start() },
])('two users at one $name', { timeout: 180_000 }, ({ tool, start }) => {
  let managed: ManagedWaypost
  let tabs: Tabs
  let one: Tab
  let two: Tab

  beforeAll(async () => {
    if (tool.skip) return
    tabs = await start()
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
  }, HOOK_MS)
  afterAll(async () => {
    await tabs?.stop()
    await managed?.waypost.stop()
  })
  beforeEach(async ({ skip }) => {
    skip(tool.skip, tool.reason)
    one = await tabs.newTab()
    two = await tabs.newTab()
    for (const tab of [one, two]) await tab.open(at('ui/'))
  }, HOOK_MS)
  afterEach(() => tabs?.forget(at('healthz')), HOOK_MS)

  const at = (path: string): string => `${managed.waypost.url}/${path}`

  async function signIn(tab: Tab, username: Name, password = 'secret'): Promise<void> {
    await tab.fill('Username', username)
    await tab.fill('Password', password)
    await tab.click('button[type=submit]', 'Sign in')
    await named(tab, username)
  }

  const accountOf = (name: Name): string => `button[aria-label="Account of ${name}"]`
  const named = (tab: Tab, name: Name) => tab.until(`document.querySelector('${accountOf(name)}')`)
  const asks = (tab: Tab) =>
    tab.until(`[...document.querySelectorAll('label')].some((one) => one.textContent.trim() === 'Username')`)

  async function signOut(tab: Tab, name: Name): Promise<void> {
    await tab.click(accountOf(name))
    await tab.click('button', 'Sign out')
    await asks(tab)
  }

  const itemOf = (name: Name, dataId: string, content: string) => {
    const tenant = USERS[name] === 'public' ? '' : USERS[name]
    return managed.ask('POST', '/svc/v1/cs/configs', { tenant, group: 'G', dataId, content, type: 'text' })
  }

  /** An item that only the owner may read appears in a page that was not loaded again, and one of the other user does not. */
  async function followsOnly(tab: Tab, owner: Name): Promise<void> {
    await tab.open(at(`ui/#/configs?ns=${USERS[owner]}`))
    await tab.until(`document.querySelector('.connection .dot.good')`)
    const [own, other] = [unique('item'), unique('item')]
    await itemOf(owner === 'bob' ? 'alice' : 'bob', other, 'x')
    await itemOf(owner, own, 'x')
    await tab.says(own)
    expect(await tab.value('document.documentElement.outerHTML')).not.toContain(other)
  }

  test.each<[Name, Name]>([
    ['alice', 'bob'],
    ['bob', 'alice'],
  ])('after %s, %s signs in in another tab', async (first, second) => {
    await signIn(one, first)
    await followsOnly(one, first)
    const before = await tabs.cookies()
    // The other tab still shows the sign-in.
    await signIn(two, second)
    await named(one, second)
    await one.says('Another user has signed in')
    await followsOnly(one, second)
    await followsOnly(two, second)
    const cookie = before.map(({ name, value }) => `${name}=${value}`).join('; ')
    const old = await fetch(at('svc/v1/console/session'), { headers: { cookie } })
    expect(old.status).toBe(403)
  })

  test('a tab that does not hear the others is refused, and loads itself again', async () => {
    await signIn(one, 'alice')
    // As if another program had set the cookie.
    const answer = await fetch(at('svc/v1/console/session'), {
      method: 'POST',
      body: new URLSearchParams({ username: 'bob', password: 'secret' }),
    })
    const [name, value] = answer.headers.get('set-cookie')!.split(';')[0]!.split('=') as [string, string]
    await tabs.setCookie({ name, value }, at(''))
    await one.open(at('ui/#/services'))
    await named(one, 'bob')
  })

  test('after a sign-out no tab has a content or a draft, whatever is pressed', async () => {
    await itemOf('alice', 'own.txt', 'of alice')
    await signIn(one, 'alice')
    await two.open(at('ui/?again#/config?ns=public&group=G&dataId=own.txt&edit=yes'))
    const shown = `document.querySelector('.code-host')?.shadowRoot?.querySelector('.cm-content')`
    await two.until(`${shown}?.textContent.includes('of alice')`)
    await two.value(`${shown}.focus()`)
    await two.press('draft')
    await two.until(`JSON.stringify(localStorage).includes('draft')`)
    // A question of hers must not wait for the next user.
    await two.value(`void (location.hash = '#/services')`)
    await two.says('Discard your changes?')
    await signOut(one, 'alice')
    await asks(two)
    await two.press(`${KEY.escape}${KEY.escape}${KEY.escape}x${KEY.tab}y`)
    expect(await two.value('document.documentElement.outerHTML')).not.toContain('of alice')
    expect(await two.value(`Boolean(${shown})`)).toBe(false)
    const kept = await two.value<string>('JSON.stringify(localStorage)')
    expect(kept).not.toContain('of alice')
    expect(kept).not.toContain('draft')
    await signIn(two, 'bob')
    expect(await two.value('document.querySelector("dialog[open]") === null')).toBe(true)
    await followsOnly(two, 'bob')
  })

  test('after a sign-out neither Back nor the address shows what was open', async () => {
    await itemOf('alice', 'back.txt', 'of alice')
    const paths = [
      'svc/v1/cs/configs?dataId=back.txt&group=G',
      'svc/v1/console/configs?dataId=back.txt&group=G&search=accurate&pageNo=1&pageSize=9',
    ]
    await signIn(one, 'alice')
    for (const path of paths) {
      await one.open(at(path))
      await one.until(`document.documentElement.innerText.match(/of alice|back.txt/)`)
    }
    await two.open(at('ui/?again'))
    await signOut(two, 'alice')
    await one.open(at('healthz'))
    for (let steps = 0; steps < 2; steps++) {
      await one.value('void history.back()')
      await one.until(`!location.pathname.includes('healthz')`)
      // A page that still loads has no body.
      await one.until(`document.body?.textContent.includes('403')`)
      expect(await one.value(`document.body?.textContent ?? ''`)).not.toMatch(/of alice|back\.txt"/)
    }
    for (const path of paths) {
      await one.open(at(path))
      await one.says('403')
    }
  })

  test.each([
    ['ended by cleared cookies', () => tabs.clearCookies()],
    [
      'ended by a new password',
      () => managed.ask('PUT', '/svc/v1/auth/users', { username: 'alice', newPassword: 'secret' }),
    ],
  ])('“Sign in again” stays in a session %s, until somebody signs in', async (_how, end) => {
    await signIn(one, 'alice')
    await two.open(at('ui/?again'))
    await named(two, 'alice')
    await end()
    for (const tab of [one, two]) {
      await tab.value(`void (location.hash = '#/services')`)
      await tab.says('Your session has ended')
      await tab.press(KEY.escape.repeat(5))
      await tab.until(
        `document.querySelector('dialog[open]')?.textContent.includes('Your session has ended')`,
      )
    }
    await one.click('dialog button', 'As somebody else')
    await asks(two)
    await signIn(one, 'bob')
    await two.open(at('ui/?once-more'))
    for (const tab of [one, two]) await followsOnly(tab, 'bob')
  })
})
