import http from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { startManaged } from '../support/administrator.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { browserTool, startBrowser, Visit } from './chromium.ts'

const HOOK_MS = 120_000
const FLOW_MS = 120_000

describe.skipIf(browserTool.skip)('the frame of the console', { timeout: FLOW_MS }, () => {
  let browser: Browser
  const started: Waypost[] = []
  beforeAll(async () => {
    browser = await startBrowser()
  }, HOOK_MS)
  afterAll(async () => {
    await browser?.close()
    await Promise.all(started.map((waypost) => waypost.stop()))
  })

  test('the first administrator is made with the code of the log, and signs out again', async () => {
    const waypost = await startWaypost({ settings: { auth: 'on' } })
    started.push(waypost)
    const code = /code=([\w-]+)/.exec(waypost.output())?.[1] ?? ''
    const visit = await Visit.open(browser, `${waypost.url}/ui/`)
    await visit.at('#/services')
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
    expect(visit.faults).toEqual([])
    await visit.close()
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
    expect(visit.faults).toEqual([])
    await visit.close()

    const reader = await signedIn(waypost, 'reader', 'reading')
    await reader.at('#/config?ns=public&group=G&dataId=a.yaml')
    await reader.page.getByText('a: 1').waitFor()
    expect(await reader.page.getByText(/^(Edit|Delete|Users)$/).count()).toBe(0)
    expect(reader.faults).toEqual([])
    await reader.close()
  })

  test('it works below a path of a proxy', async () => {
    const { waypost } = await startManaged()
    started.push(waypost)
    const proxy = http.createServer((request, response) => {
      const path = request.url!.replace(/^\/some\/path/, '')
      if (path === request.url) return void response.writeHead(404).end()
      const { method = 'GET', headers } = request
      const asked = http.request(`${waypost.url}${path}`, { method, headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      request.pipe(asked)
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    try {
      const visit = await Visit.open(browser, `http://127.0.0.1:${port}/some/path/ui`)
      await visit.at('')
      await signIn(visit, 'nacos', 'secret')
      expect(visit.page.url()).toContain('/some/path/ui/')
      await visit.link('Namespaces').click()
      await visit.page.getByRole('cell', { name: 'public' }).first().waitFor()
      expect(visit.faults).toEqual([])
      await visit.close()
    } finally {
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  test('namespaces are made, chosen by keyboard, and kept in the address and for the next time', async () => {
    const waypost = await startWaypost()
    started.push(waypost)
    const visit = await Visit.open(browser, `${waypost.url}/ui/`)
    await visit.at('#/namespaces')
    await visit.page.getByText('Authentication is off').waitFor()
    await visit.button('New namespace').click()
    await visit.dialog().getByLabel('Name').fill('Development')
    await visit.dialog().getByLabel('ID').fill('dev')
    await visit.page.keyboard.press('Enter')
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
    expect(visit.faults).toEqual([])
    await visit.close()
  })

  const signIn = async (visit: Visit, username: string, password: string): Promise<void> => {
    await visit.field('Username').fill(username)
    await visit.field('Password').fill(password)
    await visit.button('Sign in').click()
    await visit.link('Services').waitFor()
  }
  const signedIn = async (waypost: Waypost, username: string, password: string): Promise<Visit> => {
    const visit = await Visit.open(browser, `${waypost.url}/ui/`)
    await visit.at('#/configs?ns=public')
    await signIn(visit, username, password)
    return visit
  }
})
