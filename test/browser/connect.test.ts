/** "Connect an application" waits for the application, with unmodified libraries. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepare, PREPARE_LIMIT_MS } from '../clients/prepared-program.ts'
import { runSnippet, SNIPPET_LIBRARIES } from '../clients/snippet-program.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { needTool } from '../support/need-tool.ts'
import { sampled } from '../support/sampled.ts'
import { browserTool, type Visit } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

const FLOW_MS = 240_000
const LIBRARIES = sampled(
  ['Node.js', 'Python'].map((library) => ({ library, ...SNIPPET_LIBRARIES[library]! })),
)
const libraries = needTool(...LIBRARIES.flatMap(({ tools }) => tools))

describe.skipIf(browserTool.skip)('connecting an application', { timeout: FLOW_MS }, () => {
  let managed: ManagedWaypost
  const pages = browserForThisFile()
  beforeAll(async () => {
    managed = await startManaged()
    await managed.ask('POST', '/svc/v1/cs/configs', { dataId: 'a.yaml', group: 'G', content: 'a: 1' })
    await managed.addUser({ username: 'reader', password: 'p', permissions: { ':G:config/*': 'r' } })
  })
  afterAll(() => managed?.waypost.stop())

  const signedIn = async (username: string, password: string, hash: string): Promise<Visit> => {
    const visit = await pages.open(managed.waypost.url)
    await visit.at(hash)
    await visit.field('Username').fill(username)
    await visit.field('Password').fill(password)
    await visit.button('Sign in').click()
    await visit.button('Connect an application').click()
    return visit
  }

  test.skipIf(libraries.skip)(
    'the page turns green when its own program arrives',
    async () => {
      await Promise.all(LIBRARIES.map(({ program }) => prepare(program)))
      const visit = await signedIn('nacos', 'secret', '#/config?dataId=a.yaml&group=G&ns=public')
      const dialog = visit.dialog()
      const user = dialog.getByLabel('User of the application')
      // Users that may read the item come first; the administrator is none of them.
      await expect.poll(() => user.locator('option').allTextContents()).toEqual(['reader', 'YOUR-APP-USER'])
      await dialog.getByRole('button', { name: 'Make a user for it' }).click()
      expect(await visit.field('Username').inputValue()).toBe('a-app')
      await visit.field('New password').fill('a-password')
      await visit.dialog().getByText('May read configurations named a.yaml of the group G').waitFor()
      await visit.dialog().getByRole('button', { name: 'Save' }).click()
      await expect.poll(() => user.inputValue()).toBe('a-app')
      for (const { library, says } of LIBRARIES) {
        await dialog.getByRole('button', { name: library, exact: true }).click()
        const [, file = '', run = ''] = await dialog.locator('p > code').allTextContents()
        const code = (await dialog.locator('.snippet').textContent())!
        expect(code).toContain('a-app')
        expect(code).not.toMatch(/["']nacos["'],/)
        const running = runSnippet(library, { file, code, run }, 'a-password')
        try {
          const arrived = dialog.locator('.notice.good')
          await arrived.getByText(says).waitFor({ timeout: 90_000 })
          const text = await arrived.textContent()
          expect(text).toMatch(/\d+\.\d+\.\d+\.\d+/)
          expect(text).toContain('has the current version, 270f9e65a80226eccd82c99cdd0dd2fb')
        } finally {
          running.stop()
        }
      }
      expect(await visit.wrong()).toEqual([])
    },
    PREPARE_LIMIT_MS + FLOW_MS,
  )

  test('a user that may read the item sees the own name, and no list of users', async () => {
    const visit = await signedIn('reader', 'p', '#/config?dataId=a.yaml&group=G&ns=public')
    const user = visit.dialog().getByLabel('User of the application')
    await expect.poll(() => user.locator('option').allTextContents()).toEqual(['reader', 'YOUR-APP-USER'])
    await visit.dialog().getByText('An administrator can make a user').waitFor()
  })
})
