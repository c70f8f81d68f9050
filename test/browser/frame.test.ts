import { afterAll, describe, expect, test } from 'vitest'
import type { Request } from 'playwright-core'
import { startPathProxy } from '../support/path-proxy.ts'
import { startManaged } from '../support/administrator.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { browserTool, type Visit } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000

describe.skipIf(browserTool.skip)('the frame of the console', { timeout: FLOW_MS }, () => {
  const pages = browserForThisFile()
  const started: Waypost[] = []
  afterAll(() => Promise.all(started.map((waypost) => waypost.stop())))

  test('the first administrator is made with the code of the log, and signs out again', async () => {
    const waypost = await startWaypost({ settings: { auth: 'on' } })
    started.push(waypost)
    const code = /code=([\w-]+)/.exec(waypost.output())?.[1] ?? ''
    const visit = await pages.open(waypost.url)
    await visit.at('#/services')
    await visit.page.getByText('There is no administrator yet.').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.button('First administrator').click()
    await visit.field('One-time code').fill('AAAA-BBBB')
    await visit.field('New password').fill('a good password')
    await visit.field('The new password again').fill('a good password')
    await visit.button('Make the administrator').click()
    await visit.page.getByText('The one-time code is wrong.').first().waitFor()
    await visit.field('One-time code').fill(code)
    await visit.button('Make the administrator').click()
    // The view that was asked for is shown.
    await visit.page.getByRole('heading', { name: 'Services' }).waitFor()
    expect((await visit.context.cookies())[0]).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    await visit.button('Account of nacos').click()
    await visit.button('Sign out').click()
    await visit.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await visit.settled()
    expect(await visit.page.getByText('There is no administrator yet.').count()).toBe(0)
  })

  test('the address that the server prints opens the page of the first administrator with its code', async () => {
    const waypost = await startWaypost({ settings: { auth: 'on' } })
    started.push(waypost)
    const place = /#\/first-administrator\?code=\S+/.exec(waypost.output())![0]
    const visit = await pages.open(waypost.url)
    // Somebody may have looked at the console before.
    await visit.at('')
    await visit.at(place)
    await visit.field('New password').fill('a good password')
    await visit.field('The new password again').fill('a good password')
    await visit.button('Make the administrator').click()
    await visit.page.getByRole('heading', { name: 'Overview' }).first().waitFor()
    expect(visit.page.url()).not.toContain('code')
  })

  test('users and permissions are managed, and who may only read sees no buttons to write', async () => {
    const { waypost, ask } = await startManaged()
    started.push(waypost)
    await ask('POST', '/svc/v1/cs/configs', { dataId: 'a.yaml', group: 'G', content: 'a: 1', type: 'yaml' })
    const visit = await signedIn(waypost, 'nacos', 'secret')
    await visit.at('#/users')
    await visit.button('New user').click()
    await visit.dialog().getByLabel('Username').fill('reader')
    await visit.dialog().getByLabel('New password').fill('reading')
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.getByRole('cell', { name: 'reader', exact: true }).waitFor()
    await visit.at('#/roles')
    await visit.button('Give a role').click()
    await visit.dialog().getByLabel('Role').fill('readers')
    await visit.dialog().getByLabel('Username').fill('reader')
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.getByRole('cell', { name: 'readers', exact: true }).first().waitFor()
    await visit.at('#/permissions')
    await visit.button('New permission').click()
    await visit.dialog().getByLabel('Role').fill('readers')
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.getByRole('cell', { name: 'Read only', exact: true }).waitFor()

    const reader = await signedIn(waypost, 'reader', 'reading')
    await reader.at('#/config?ns=public&group=G&dataId=a.yaml')
    await reader.page.getByText('a: 1').waitFor()
    expect(await reader.page.getByText(/^(Edit|Delete|Users)$/).count()).toBe(0)
  })

  test('who may read one namespace lands there, also by a link without one', async () => {
    const { waypost, ask, addUser } = await startManaged()
    started.push(waypost)
    await ask('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: 'prod',
      namespaceName: 'Production',
    })
    const item = { dataId: 'only.yaml', group: 'G', content: 'a: 1', type: 'yaml', tenant: 'prod' }
    await ask('POST', '/svc/v1/cs/configs', item)
    await ask('POST', '/svc/v1/ns/service', { serviceName: 'only-service', namespaceId: 'prod' })
    await addUser({ username: 'ann', password: 'reading-1', permissions: { 'prod:*:*': 'r' } })
    const visit = await signedIn(waypost, 'ann', 'reading-1')
    await visit.button('Namespace public: choose another').waitFor()
    await visit.link('Configurations').first().click()
    await visit.link('only.yaml').waitFor()
    // The list of public was asked for, and refused. What is asked from now on is hers.
    const asked = new Set<Request>()
    const refused: string[] = []
    visit.page.on('request', (request) => asked.add(request))
    visit.page.on('response', (answer) => {
      if (answer.status() === 403 && asked.has(answer.request())) refused.push(answer.url())
    })
    await visit.link('Services').first().click()
    await visit.link('only-service').waitFor()
    // The browser remembers a namespace that is not hers.
    await visit.page.evaluate("localStorage.setItem('waypost-namespace', 'gone')")
    for (const [hash, name] of [
      ['#/configs', 'only.yaml'],
      ['#/services', 'only-service'],
      ['#/config?group=G&dataId=only.yaml', 'only.yaml'],
    ] as const) {
      await visit.page.goto('about:blank')
      await visit.at(hash)
      await visit.page.locator('main').getByText(name).first().waitFor()
      await visit.button('Namespace Production: choose another').waitFor()
    }
    expect(refused).toEqual([])
  })

  test('it works below a path of a proxy', async () => {
    const { waypost } = await startManaged()
    started.push(waypost)
    const proxy = await startPathProxy(waypost.url, '/some/path')
    try {
      const visit = await pages.open(proxy.url, {}, '/ui')
      await visit.at('')
      await signIn(visit, 'nacos', 'secret')
      expect(visit.page.url()).toContain('/some/path/ui/')
      await visit.link('Namespaces').click()
      await visit.page.getByRole('cell', { name: 'public' }).first().waitFor()
      await visit.page.locator('.connection .dot.good').waitFor()
    } finally {
      proxy.close()
    }
  })

  test('namespaces are made, chosen by keyboard, and kept in the address and for the next time', async () => {
    const waypost = await startWaypost()
    started.push(waypost)
    const visit = await pages.open(waypost.url)
    await visit.at('#/namespaces')
    await visit.page.getByText('Authentication is off').waitFor()
    await visit.button('New namespace').click()
    await visit.dialog().getByLabel('Name').fill('Development')
    await visit.dialog().getByLabel('ID').fill('dev')
    await visit.page.keyboard.press('Enter')
    await visit.page.getByRole('cell', { name: 'Development', exact: true }).waitFor()
    await visit.button('New namespace').click()
    await visit.dialog().getByLabel('Name').fill('Development')
    await visit.dialog().getByText('Another namespace has this name: their ids will be beside it.').waitFor()
    await visit.dialog().getByLabel('ID').fill('twin')
    await visit.page.keyboard.press('Enter')
    for (const id of ['dev', 'twin'])
      await visit.page.getByRole('cell', { name: `Development (${id})`, exact: true }).waitFor()
    await visit.button('Delete Development (twin)').click()
    await visit.dialog().getByText('Delete Development (twin)').waitFor()
    await visit.dialog().getByRole('textbox').fill('twin')
    await visit.dialog().getByRole('button', { name: 'Delete', exact: true }).click()
    await visit.page.getByRole('cell', { name: 'Development', exact: true }).waitFor()
    await visit.at('#/configs?ns=public')
    await visit.button(/^Namespace public/).focus()
    await visit.page.keyboard.press('Enter')
    await visit.page.keyboard.press('Tab')
    await visit.page.keyboard.press('Tab')
    await visit.page.keyboard.press('Enter')
    await visit.button(/^Namespace Development/).waitFor()
    expect(visit.page.url()).toContain('#/configs?ns=dev')
    await visit.page.goto(`${waypost.url}/ui/`)
    await visit.link('Configurations').click()
    await visit.button(/^Namespace Development/).waitFor()
  })

  test('everything is found by keyboard, and every hit is a link', async () => {
    const waypost = await startWaypost()
    started.push(waypost)
    const post = (path: string, form: Record<string, string>) =>
      fetch(`${waypost.url}/svc/v1${path}`, { method: 'POST', body: new URLSearchParams(form) })
    await post('/console/namespaces', { customNamespaceId: 'dev', namespaceName: 'Development' })
    const content = 'url: jdbc:here\nprivateKey: |\n  jdbc-secret\n'
    await post('/cs/configs', { tenant: 'dev', group: 'G', dataId: 'shop.yaml', content, type: 'yaml' })
    await post('/ns/instance', { namespaceId: 'dev', serviceName: 'shop', ip: '10.7.7.7', port: '80' })
    const visit = await pages.open(waypost.url)
    await visit.at('#/configs?ns=public')
    const find = async (text: string): Promise<void> => {
      await visit.page.keyboard.press(text === 'jdbc' ? 'Control+k' : '/')
      await visit.dialog().getByLabel('Search everywhere').fill(text)
    }
    await find('jdbc')
    await visit.dialog().getByText('url: jdbc:here').waitFor()
    expect(await visit.dialog().getByText('jdbc-secret').count()).toBe(0)
    await visit.dialog().getByRole('button', { name: 'Show the hidden value' }).click()
    await visit.dialog().getByText('jdbc-secret').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.page.keyboard.press('Escape')
    await find('10.7')
    await visit.dialog().getByText('10.7.7.7:80').waitFor()
    await visit.page.keyboard.press('ArrowDown')
    await visit.page.keyboard.press('Enter')
    await visit.page.getByRole('heading', { name: 'shop' }).waitFor()
    expect(visit.page.url()).toContain('#/service?ns=dev')
    expect(await visit.field('Instance address').inputValue()).toBe('10.7.7.7:80')
    await find('audit')
    await visit.dialog().getByRole('link', { name: 'Audit' }).waitFor()
    await visit.page.keyboard.press('Enter')
    await visit.page.getByRole('heading', { name: 'Audit' }).waitFor()
    await visit.at('#/configs?ns=dev')
    // A slash that somebody types is a slash.
    await visit.field('Search').fill('')
    await visit.field('Search').press('/')
    expect(await visit.field('Search').inputValue()).toBe('/')
  })

  test('the overview names what does not work, on this server and on others', async () => {
    const waypost = await startWaypost()
    started.push(waypost)
    const visit = await pages.open(waypost.url)
    // As servers answer whose disk is full, and that have lost each other.
    await visit.page.route('**/console/overview*', async (route) => {
      const answer = await route.fetch()
      const client = { ip: '10.0.0.5', port: 5, agent: 'Nacos-Go-Client:v1.1.4' }
      const item = { namespaceId: 'public', group: 'G', dataId: 'late.yaml' }
      const json = {
        ...((await answer.json()) as object),
        notReady: [{ code: 'store-unavailable', detail: 'no space left', forMs: 65_000 }],
        faults: [{ server: '10.0.0.2:8848', code: 'lags', detail: 'old', forMs: 7_000 }],
        missingServers: ['10.0.0.3:8848'],
        members: [{ ip: '10.0.0.3', port: 8848, alive: false }],
        behind: [{ ...item, clientCount: 1, clients: [client] }],
      }
      await route.fulfill({ response: answer, json })
    })
    await visit.at('#/home')
    await visit.page.getByText('The store cannot be written.').waitFor()
    await visit.page.getByText('for 1m · no space left').waitFor()
    await visit.page.getByText('10.0.0.2:8848: What this server knows of the store is old.').waitFor()
    await visit.page.getByText(/^These servers have not replied.*10\.0\.0\.3:8848$/).waitFor()
    await visit.link('10.0.0.3:8848').waitFor()
    await visit.page.getByText('Clients with an older version: 10.0.0.5:5 Nacos-Go-Client:v1.1.4').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.link('late.yaml').click()
    await visit.page.getByRole('heading', { name: 'late.yaml' }).waitFor()
  })

  test('what is looked for in the audit is in the address', async () => {
    const { waypost, ask } = await startManaged()
    started.push(waypost)
    await ask('POST', '/svc/v1/cs/configs', { dataId: 'audited.yaml', group: 'G', content: 'a: 1' })
    const visit = await signedIn(waypost, 'nacos', 'secret')
    await visit.at('#/audit')
    await visit.field('Operation').selectOption('published a configuration')
    await visit.field('Item').fill('audited')
    await visit.page.getByRole('cell', { name: 'public:G:config/audited.yaml' }).waitFor()
    await expect.poll(() => visit.page.getByRole('row').count()).toBe(2)
    await expect.poll(() => visit.page.url()).toContain('item=audited')
    expect(visit.page.url()).toContain('operation=publish+config')
    // One line for a time, on a phone too.
    for (const width of [768, 360]) {
      await visit.page.setViewportSize({ width, height: 800 })
      expect((await visit.page.locator('td time:visible').boundingBox())!.height, `${width}`).toBeLessThan(30)
    }
    await visit.page.reload()
    await visit.page.getByRole('cell', { name: 'public:G:config/audited.yaml' }).waitFor()
    expect(await visit.field('Item').inputValue()).toBe('audited')
    await visit.at('#/users?text=nac')
    await visit.page.getByRole('cell', { name: 'nacos', exact: true }).waitFor()
  })

  test('a protected namespace asks for its name before each write, in its colour', async () => {
    const waypost = await startWaypost()
    started.push(waypost)
    const post = (path: string, form: Record<string, string>) =>
      fetch(`${waypost.url}/svc/v1${path}`, { method: 'POST', body: new URLSearchParams(form) })
    await post('/console/namespaces', { customNamespaceId: 'prod', namespaceName: 'Production' })
    const item = { tenant: 'prod', group: 'G', dataId: 'a.yaml' }
    await post('/cs/configs', { ...item, content: 'a: 1', type: 'yaml' })
    await post('/ns/instance', { namespaceId: 'prod', serviceName: 's', ip: '10.0.0.1', port: '1' })
    const visit = await pages.open(waypost.url)
    await visit.at('#/namespaces')
    await visit.button('Edit Production').click()
    await visit.dialog().getByLabel('Colour').selectOption('Red')
    await visit
      .dialog()
      .getByLabel(/^Protected/)
      .check()
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.getByRole('cell', { name: 'Production Protected' }).waitFor()

    const answers = async (typed: string): Promise<void> => {
      const question = visit.page.locator('dialog[open]', { hasText: 'This namespace is protected' })
      await question.getByLabel('Type Production to continue').fill(typed)
      const goOn = question.getByRole('button', { name: 'Go on' })
      expect(await goOn.isDisabled()).toBe(typed !== 'Production')
      await question.getByRole('button', { name: typed === 'Production' ? 'Go on' : 'Cancel' }).click()
    }
    await visit.at('#/config?ns=prod&group=G&dataId=a.yaml')
    expect(await visit.page.locator('.frame').getAttribute('class')).toContain('colour-red guarded')
    await visit.link('Edit').click()
    await visit.type('a: 2')
    await visit.button('Review and publish').click()
    const publish = visit.dialog().getByRole('button', { name: 'Publish' })
    await publish.click()
    await answers('Prod')
    expect(await visit.wrong()).toEqual([])
    await publish.click()
    await answers('Production')
    await visit.page.getByText('a.yaml has been published.').waitFor()
    await visit.button('Delete').click()
    await visit.dialog().getByRole('button', { name: 'Delete' }).click()
    await answers('')
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()

    await visit.at('#/service?ns=prod&group=DEFAULT_GROUP&name=s')
    await visit.button('Disable').click()
    await visit.dialog().getByRole('button', { name: 'Disable' }).click()
    await answers('Production')
    await visit.page.getByText('Switched off: clients do not get it.').waitFor()
  })

  const signIn = async (visit: Visit, username: string, password: string): Promise<void> => {
    await visit.field('Username').fill(username)
    await visit.field('Password').fill(password)
    await visit.button('Sign in').click()
    await visit.link('Services').waitFor()
  }
  const signedIn = async (waypost: Waypost, username: string, password: string): Promise<Visit> => {
    const visit = await pages.open(waypost.url)
    await visit.at('#/configs?ns=public')
    await signIn(visit, username, password)
    return visit
  }
})
