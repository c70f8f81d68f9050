/** Large texts are checked beside the page: who types does not wait, and a review names what fits on a screen. */
import { describe, expect, test } from 'vitest'
import { isNightly } from '../support/nightly.ts'
import { startPathProxy } from '../support/path-proxy.ts'
import { sampled } from '../support/sampled.ts'
import { browserTool, Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 240_000
const KEYS = 30_000
const TYPED = isNightly ? 'typed text' : 'typed'
/** After a pause in typing, the text is checked. */
const PAUSE_MS = 900

const flatKeys = (value: string): string =>
  Array.from({ length: KEYS }, (_, index) => `service.key-${index}: ${value}`).join('\n')

describe.skipIf(browserTool.skip)('a large text', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()

  const publish = (dataId: string, content: string, type: string) =>
    here.client.post('/cs/configs', { group: 'G', dataId, content, type })

  /** Processor time of the page's main thread, in ms, for letters that are typed with a check after each. */
  async function costOfTyping(dataId: string): Promise<number> {
    const visit = await here.open()
    await visit.at(`#/config?ns=public&group=G&dataId=${dataId}&edit=yes`)
    const { page, context } = visit
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('# ')
    await page.waitForTimeout(3 * PAUSE_MS)
    const session = await context.newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const spent = async (): Promise<number> => {
      const { metrics } = await session.send('Performance.getMetrics')
      return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
    }
    const before = await spent()
    for (const letter of TYPED) {
      await page.keyboard.type(letter)
      await page.waitForTimeout(PAUSE_MS)
    }
    const cost = (await spent()) - before
    return cost / TYPED.length
  }

  test('of YAML costs who types about as much as plain text of that size', async () => {
    await publish('plain.txt', flatKeys('1'), 'text')
    await publish('flat.yaml', flatKeys('1'), 'yaml')
    const plain = await costOfTyping('plain.txt')
    const flat = await costOfTyping('flat.yaml')
    console.log(
      `processor time for a key: ${plain.toFixed(1)} ms in plain text, ${flat.toFixed(1)} ms in YAML`,
    )
    expect(flat).toBeLessThan(3 * plain + 20)
  })

  test('has at most 200 changed keys in its review, and the rest is counted', async () => {
    await publish('all.yaml', flatKeys('1'), 'yaml')
    const visit = await here.open()
    await visit.at('#/config?ns=public&group=G&dataId=all.yaml&edit=yes')
    await visit.page.locator('.cm-content').click()
    await visit.type(flatKeys('2'))
    await visit.button('Review and publish').click()
    await visit.dialog().getByText('Changed keys (30,000)').waitFor()
    await visit.dialog().getByText('and 29,800 more').waitFor()
    expect(await visit.dialog().locator('.keys del').count()).toBe(200)
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('all.yaml has been published.').waitFor()
  })

  test.each(sampled(['YAML', 'JSON', 'XML', 'TOML', 'PROPERTIES']))(
    'of %s is checked below the path of a proxy, too',
    async (name) => {
      const wrong = {
        YAML: 'a: 1\na: 2\n',
        JSON: '{"a":1,\n"a":2}',
        XML: '<a>\n<b></a>',
        TOML: 'a = 1\na = 2\n',
        PROPERTIES: 'a=1\na=2\n',
      }[name]!
      const proxy = await startPathProxy(here.waypost.url, '/some/path')
      const visit = await Visit.open(here.browser, `${proxy.url}/ui/`)
      await visit.at('#/config/new?ns=public')
      await visit.field('Data ID').fill(`wrong.${name.toLowerCase()}`)
      await visit.type(wrong)
      await visit.button('Review and publish').click()
      await visit
        .dialog()
        .getByText(/^Line 2: /)
        .first()
        .waitFor()
      expect(visit.page.workers().length).toBeGreaterThan(0)
      proxy.close()
    },
  )
})
