/** The first view of a new server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startManaged, type ManagedWaypost } from '../support/administrator.ts'
import { browserTool } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000

describe.skipIf(browserTool.skip)('the first visit', { timeout: FLOW_MS }, () => {
  let managed: ManagedWaypost
  const pages = browserForThisFile()
  beforeAll(async () => {
    managed = await startManaged()
    const namespace = { customNamespaceId: 'prod', namespaceName: 'Production' }
    await managed.ask('POST', '/svc/v1/console/namespaces', namespace)
  }, FLOW_MS)
  afterAll(() => managed?.waypost.stop())

  test('an empty list says what would be in it, and has what fills it', async () => {
    const visit = await pages.open(managed.waypost.url)
    await visit.at('#/home')
    await visit.field('Username').fill('nacos')
    await visit.field('Password').fill('secret')
    await visit.button('Sign in').click()
    await visit.page.getByRole('heading', { name: 'First steps' }).waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.link('Import a file').click()
    await visit.dialog().getByLabel('Zip file').waitFor()
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    expect(visit.page.url()).not.toContain('import')
    await visit.at('#/configs?ns=prod')
    await visit.page.getByText('Configurations of Production will be here').waitFor()
    await visit.button('Import a file').click()
    await visit.dialog().getByLabel('Zip file').waitFor()
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    await visit.button('Connect an application').click()
    const code = visit.dialog().locator('.snippet')
    for (const library of ['Java', 'Go', 'Node.js', 'Python', 'Rust', 'curl']) {
      await visit.dialog().getByRole('button', { name: library, exact: true }).click()
      const text = await code.textContent()
      for (const part of [String(managed.waypost.port), 'prod', 'YOUR-APP-USER', 'application.yaml'])
        expect(text, library).toContain(part)
      // An application that has the administrator's name has all rights.
      expect(text, library).not.toMatch(/"nacos"|username=nacos/)
    }
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('button', { name: 'Close' }).last().click()
    await visit.at('#/services?ns=prod')
    await visit.page.getByText('Services of Production will be here').waitFor()
    await visit.button('Connect an application').click()
    // The library that was looked at last.
    await visit.dialog().getByText('/svc/v1/ns/instance/list').waitFor()
    await visit.page.keyboard.press('Escape')
    await visit.at('#/configs?ns=prod')
    await visit.link('Publish a configuration').click()
    await visit.field('Data ID').fill('app.yaml')
    await visit.type('a: 1')
    await visit.page.keyboard.press('Control+Enter')
    await visit.dialog().locator('.cm-content').first().waitFor()
    await visit.page.keyboard.press('Control+Enter')
    await visit.page.getByText('app.yaml has been published.').waitFor()
    await visit.button('Connect an application').click()
    await visit.dialog().getByText('dataId=app.yaml').waitFor()
  })
})
