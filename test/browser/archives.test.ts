/** Archives in a browser: those that people packed again, exports of many items, and the events of several. */
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { filesIn, raw } from '../interface/transfer-support.ts'
import { type Files, REFUSED, REPACKED, WITHOUT_ITEMS } from '../support/repacked.ts'
import { browserTool, type Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

describe.skipIf(browserTool.skip)('archives in a browser', { timeout: 120_000 }, () => {
  const here = consoleForThisFile()
  let visit: Visit
  let tenant = ''
  let namespaces = 0

  beforeEach(async () => {
    tenant = `archives-${++namespaces}`
    const form = { customNamespaceId: tenant, namespaceName: tenant }
    expect((await here.client.post('/console/namespaces', form)).status).toBe(200)
    visit = await here.open()
  })

  const publish = (dataId: string): Promise<unknown> =>
    here.client.post('/cs/configs', { tenant, group: 'G', dataId, content: `content of ${dataId}` })

  async function looksAt(files: Files): Promise<void> {
    await visit.at(`#/configs?ns=${tenant}&import=yes`)
    const buffer = await raw(files)
    const file = { name: 'configs.zip', mimeType: 'application/zip', buffer }
    await visit.dialog().getByLabel('Zip file').setInputFiles(file)
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
  }

  test('a file that was packed again is read, and its other files are named', async () => {
    for (const { files, items, leftOut = [], folder } of REPACKED.slice(0, 9)) {
      await looksAt(files)
      await visit.page.getByText(`It would publish ${Object.keys(items).length},`).waitFor()
      for (const name of Object.keys(items))
        await visit.dialog().getByRole('listitem').getByText(name.split('/')[1]!, { exact: true }).waitFor()
      for (const name of leftOut)
        await visit.dialog().getByRole('listitem').getByText(name, { exact: true }).waitFor()
      const note = visit.dialog().getByText(`The folder “${folder}” on top counts for nothing`)
      expect(await note.count()).toBe(folder === undefined ? 0 : 1)
      await visit.at('#/home')
    }
    expect(await visit.wrong()).toEqual([])
  })

  test('names in another form of Unicode say so, and what is refused says why', async () => {
    await looksAt({ 'G/cafe\u0301.yml': 'a: 1' })
    const read = visit.dialog().getByLabel('Read under these names')
    await read.getByText('caf\u00e9.yml', { exact: true }).waitFor()
    for (const { files, words } of REFUSED) {
      await visit.at('#/home')
      await looksAt(files)
      for (const word of words) await visit.dialog().getByText(word).waitFor()
    }
  })

  test('a file without a configuration says what it has', async () => {
    for (const { files, names } of WITHOUT_ITEMS) {
      await looksAt(files)
      await visit.dialog().getByText('The file cannot be imported.').waitFor()
      await visit.dialog().getByText(names).waitFor()
      await visit.dialog().getByText('Expected is GROUP/DATA_ID').waitFor()
      await visit.at('#/home')
    }
  })

  test('the event of an import names its items, is found by each, and leads to the list', async () => {
    await looksAt({ 'A/first.yml': 'a: 1', 'B/second.json': '{}' })
    await visit.page.getByText('It would publish 2,').waitFor()
    await visit.dialog().getByText('New: 2, changed: 0, equal: 0.').waitFor()
    await visit.dialog().getByRole('button', { name: 'Import' }).click()
    await visit.page.getByText('Imported: 2').waitFor()
    await visit.at('#/audit?item=second.json')
    const row = visit.page.getByRole('row').filter({ hasText: `${tenant}:A:config/first.yml and 1 more` })
    await row.locator('summary').click()
    await row.getByText(`${tenant}:B:config/second.json`).waitFor()
    await visit.at('#/home')
    await visit.page.getByText('B:config/second.json').waitFor()
    await visit.link(`${tenant}:A:config/first.yml and 1 more`).click()
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()
    await visit.page.getByRole('link', { name: 'second.json' }).waitFor()
    expect(visit.page.url()).toContain(`#/configs?ns=${tenant}`)
  })

  test('the event of an import says which items were left as they were', async () => {
    await publish('there')
    await looksAt({ 'G/there': 'other', 'G/fresh': 'x' })
    await visit.dialog().getByLabel('If an item is there already').selectOption('Leave it as it is')
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
    await visit.page.getByText('It would publish 1,').waitFor()
    await visit.dialog().getByRole('button', { name: 'Import' }).click()
    await visit.page.getByText('Imported: 1').waitFor()
    await visit.at(`#/audit?item=${tenant}:G:config/there&operation=import+configs`)
    const row = visit.page.getByRole('row').filter({ hasText: `${tenant}:G:config/fresh and 1 more` })
    await row.locator('summary').click()
    const left = row.getByRole('listitem').filter({ hasText: 'left as it was' })
    expect(await left.allInnerTexts()).toEqual([`${tenant}:G:config/there left as it was`])
  })

  test('a look ahead says what is new, changed and equal, and where an import would stop', async () => {
    for (const dataId of ['changed', 'equal']) await publish(dataId)
    const files = { 'G/changed': 'other', 'G/equal': 'content of equal', 'G/fresh': 'x' }
    await looksAt(files)
    await visit.dialog().getByText('It would publish 0, and then stop: 2 would not be tried.').waitFor()
    await visit.dialog().getByRole('heading', { name: 'Not tried' }).waitFor()
    await visit.dialog().getByLabel('If an item is there already').selectOption('Overwrite it')
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
    await visit.dialog().getByText('New: 1, changed: 1, equal: 1.').waitFor()
    await visit.dialog().getByRole('listitem').filter({ hasText: 'changed G changed' }).waitFor()
    expect(await visit.wrong()).toEqual([])
  })

  test('an export of many ticked items has each of them', async () => {
    const names = Array.from({ length: 450 }, (_, index) => `item-${index}`)
    for (let at = 0; at < names.length; at += 50) await Promise.all(names.slice(at, at + 50).map(publish))
    await visit.at(`#/configs?ns=${tenant}`)
    await visit.field('Select all on this page').check()
    await visit.button('Select all 450 that match').click()
    await visit.page.getByText('450 selected').waitFor()
    const downloading = visit.page.waitForEvent('download')
    await visit.button('Export').click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(new RegExp(`^waypost_${tenant}_\\d{14}\\.zip$`))
    const files = await filesIn(readFileSync(await download.path()))
    expect(Object.keys(files)).toHaveLength(451)
    expect(files['G/item-449']).toBe('content of item-449')
  })
})
