import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { md5 } from '../interface/client.ts'
import { startManaged, type ManagedWaypost } from '../support/administrator.ts'
import { browserTool, type Visit } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

const HOOK_MS = 120_000
const FLOW_MS = 120_000
const CONFIGS = '/svc/v1/cs/configs'

describe.skipIf(browserTool.skip)('configurations in a browser', { timeout: FLOW_MS }, () => {
  let managed: ManagedWaypost
  const pages = browserForThisFile()
  let visit: Visit

  beforeAll(async () => {
    managed = await startManaged()
  }, HOOK_MS)
  afterAll(() => managed?.waypost.stop())
  beforeEach(async () => {
    visit = await pages.open(managed.waypost.url)
    await visit.at('#/configs')
    await visit.field('Username').fill('nacos')
    await visit.field('Password').fill('secret')
    await visit.button('Sign in').click()
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()
  })

  const publish = (dataId: string, content: string, type = 'yaml') =>
    managed.ask('POST', CONFIGS, { dataId, group: 'DEFAULT_GROUP', content, type })
  const contentOf = (dataId: string) => managed.ask('GET', `${CONFIGS}?dataId=${dataId}&group=DEFAULT_GROUP`)
  const itemAt = (dataId: string, more = '') =>
    visit.at(`#/config?ns=public&group=DEFAULT_GROUP&dataId=${dataId}${more}`)
  const review = async (): Promise<void> => {
    await visit.button('Review and publish').click()
    await visit.dialog().locator('.cm-content').first().waitFor()
  }
  const publishes = async (dataId: string): Promise<void> => {
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText(`${dataId} has been published.`).waitFor()
  }

  test('a new one is checked, reviewed, published and found', async () => {
    await visit.link('New configuration').click()
    await visit.field('Data ID').fill('new.yaml')
    await visit.type('a: 1\na: 2\n')
    await review()
    await visit.dialog().getByText('Line 2: The key “a” occurs twice.').waitFor()
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    await visit.type('a: 1\nb: 2\n')
    await review()
    await visit.dialog().getByText('Changed keys (2)').waitFor()
    await visit.dialog().getByLabel('Comment').fill('the first one')
    await publishes('new.yaml')
    expect(await contentOf('new.yaml')).toBe('a: 1\nb: 2\n')
    await visit.link('Versions').click()
    await visit.page.getByText('the first one').waitFor()
    await visit.at('#/configs?ns=public')
    await visit.field('Search').fill('xw.y')
    await visit.page.getByText('Nothing matches.').waitFor()
    await visit.field('Search').fill('EW.y')
    await visit.link('new.yaml').waitFor()
    expect(visit.page.url()).toContain('text=EW.y')
    await visit.field('Search').fill('content:b: 2')
    await visit.field('Search').press('Enter')
    await visit.page.locator('.hits').getByText('b: 2').waitFor()
  })

  test('one that exists already is not overwritten by a new one of its name', async () => {
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('taken.yaml')
    await visit.type('mine: 1')
    await review()
    await publish('taken.yaml', 'theirs: 1')
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByRole('heading', { name: 'Somebody else has published taken.yaml' }).waitFor()
    expect(await contentOf('taken.yaml')).toBe('theirs: 1')
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    await visit.link('Cancel').click()
    await visit.button('Discard').click()
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()
  })

  test('an edit that meets another one is merged with it', async () => {
    await publish('merge.yaml', 'a: 1\nb: 1\nc: 1\nd: 1\n')
    await itemAt('merge.yaml', '&edit=yes')
    await visit.type('a: mine\nb: 1\nc: 1\nd: 1\nmine: 1\n')
    await publish('merge.yaml', 'a: theirs\nb: 1\nc: theirs\nd: 1\n')
    await review()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('Choose what becomes of the lines that both have changed: 1').waitFor()
    expect(await visit.wrong()).toEqual([])
    const use = visit.dialog().getByRole('button', { name: 'Use the merged text' })
    expect(await use.isDisabled()).toBe(true)
    await visit.dialog().getByText('Take both').click()
    await use.click()
    await visit.dialog().locator('.cm-content').first().waitFor()
    await publishes('merge.yaml')
    expect(await contentOf('merge.yaml')).toBe('a: theirs\na: mine\nb: 1\nc: theirs\nd: 1\nmine: 1\n')
  })

  test('an edit outlives its session', async () => {
    await publish('session.yaml', 'a: 1')
    await itemAt('session.yaml', '&edit=yes')
    await visit.type('a: 2')
    await visit.context.clearCookies()
    await visit.button('Review and publish').click()
    await visit.page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByLabel('Password').fill('wrong')
    await visit.dialog().getByRole('button', { name: 'Sign in' }).click()
    await visit.page.getByText('The username or the password is wrong.').waitFor()
    await visit.dialog().getByLabel('Password').fill('secret')
    await visit.dialog().getByRole('button', { name: 'Sign in' }).click()
    await publishes('session.yaml')
    expect(await contentOf('session.yaml')).toBe('a: 2')
  })

  test('an old version is restored, and never deletes', async () => {
    await publish('old.yaml', 'version: 1')
    await publish('old.yaml', 'version: 2')
    await itemAt('old.yaml', '&tab=versions')
    const first = visit.page.locator('.versions > li').last()
    await first.getByRole('button', { name: 'Difference' }).click()
    await visit.dialog().getByText('Changed keys (1)').waitFor()
    await visit.dialog().getByRole('button', { name: 'Close' }).last().click()
    await first.getByRole('button', { name: 'Restore' }).click()
    await visit.dialog().locator('.cm-content').first().waitFor()
    await publishes('old.yaml')
    expect(await contentOf('old.yaml')).toBe('version: 1')
    await expect.poll(() => visit.page.locator('.versions > li').count()).toBe(3)
  })

  test('one that was deleted comes back from its versions', async () => {
    await publish('gone.yaml', 'still: here')
    await visit.at('#/configs?ns=public&text=gone')
    await visit.field('Select gone.yaml').check()
    await visit.button('Delete').click()
    await visit.dialog().getByRole('button', { name: 'Delete' }).click()
    await visit.page.getByText('Deleted: 1').waitFor()
    await expect(contentOf('gone.yaml')).rejects.toThrow('404')
    await visit.link('Deleted').click()
    await visit.button('Restore').click()
    await visit.dialog().locator('.cm-content').first().waitFor()
    await publishes('gone.yaml')
    expect(await contentOf('gone.yaml')).toBe('still: here')
  })

  test('of several that are deleted, one that somebody has changed stays, with the reason', async () => {
    await publish('many-1.yaml', 'a: 1')
    await publish('many-2.yaml', 'a: 1')
    await visit.at('#/configs?ns=public&text=many-')
    await visit.field('Select all on this page').check()
    await visit.button('Delete').click()
    await publish('many-2.yaml', 'a: 2')
    await visit.dialog().getByRole('button', { name: 'Delete' }).click()
    await visit.dialog().getByText('Somebody else has changed it meanwhile.').waitFor()
    expect(await visit.dialog().getByText('many-1.yaml').count()).toBe(0)
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    await visit.link('many-1.yaml').waitFor({ state: 'detached' })
    expect(await contentOf('many-2.yaml')).toBe('a: 2')
  })

  test('items are brought from one namespace to another, if nobody changes them meanwhile', async () => {
    await managed.ask('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: 'to',
      namespaceName: 'Target',
    })
    await managed.ask('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: 'from',
      namespaceName: 'Source',
    })
    const inOne = (tenant: string, dataId: string, content: string) =>
      managed.ask('POST', CONFIGS, { tenant, dataId, group: 'G', content, type: 'yaml' })
    await inOne('from', 'new.yaml', 'a: 1')
    await inOne('from', 'other.yaml', 'a: 2')
    await inOne('to', 'other.yaml', 'a: 1')
    await inOne('from', 'raced.yaml', 'a: 2')
    await inOne('to', 'raced.yaml', 'a: 1')
    await visit.at('#/compare?ns=from&to=to')
    await visit.page.getByText('Only in Source').waitFor()
    await visit.page
      .getByRole('row', { name: /other\.yaml/ })
      .getByRole('button', { name: 'Difference' })
      .click()
    await visit.dialog().getByText('Changed keys (1)').waitFor()
    await visit.dialog().getByRole('button', { name: 'Close' }).last().click()
    await visit.field('Select all on this page').check()
    await visit.button('Bring to Target').click()
    const wouldBe = (name: string) => visit.dialog().getByRole('listitem').filter({ hasText: name })
    await wouldBe('new.yaml').getByText('New there').waitFor()
    await wouldBe('other.yaml')
      .getByText(`${md5('a: 1')} → ${md5('a: 2')}`)
      .waitFor()
    await inOne('to', 'raced.yaml', 'a: 3')
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('Brought over: 2').waitFor()
    const inTarget = (dataId: string) => managed.ask('GET', `${CONFIGS}?tenant=to&dataId=${dataId}&group=G`)
    expect(await Promise.all(['new.yaml', 'other.yaml', 'raced.yaml'].map(inTarget))).toEqual([
      'a: 1',
      'a: 2',
      'a: 3',
    ])
  })

  test('items are cloned, under another name too, after a look at what would happen', async () => {
    const namespace = { customNamespaceId: 'clones', namespaceName: 'Clones' }
    await managed.ask('POST', '/svc/v1/console/namespaces', namespace)
    const inClones = (dataId: string) =>
      managed.ask('GET', `${CONFIGS}?tenant=clones&dataId=${dataId}&group=DEFAULT_GROUP`)
    await publish('clone-1.yaml', 'a: 1')
    await publish('clone-2.yaml', 'a: 2')
    await visit.at('#/configs?ns=public&text=clone-')
    await visit.field('Select all on this page').check()
    await visit.button('Clone').click()
    await visit.dialog().getByLabel('Target namespace').selectOption('Clones')
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
    await visit.dialog().getByText('It would publish 2').waitFor()
    await managed.ask('POST', CONFIGS, {
      tenant: 'clones',
      dataId: 'clone-2.yaml',
      group: 'DEFAULT_GROUP',
      content: 'theirs',
    })
    await visit.dialog().getByRole('button', { name: 'Clone' }).click()
    await visit.dialog().getByText('Somebody else has changed it meanwhile.').waitFor()
    await visit.dialog().getByLabel('If an item is there already').selectOption('Leave it as it is')
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
    await visit.dialog().getByText('It would publish 1, and leave 1').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('button', { name: 'Clone' }).click()
    await visit.page.getByText('Cloned: 1, left as they were: 1').waitFor()
    expect([await inClones('clone-1.yaml'), await inClones('clone-2.yaml')]).toEqual(['a: 1', 'theirs'])
    await itemAt('clone-1.yaml')
    await visit.button('Clone').click()
    await visit.dialog().getByLabel('Data ID').fill('clone-3.yaml')
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
    await visit.dialog().getByRole('listitem').getByText('clone-3.yaml').waitFor()
    await visit.dialog().getByRole('button', { name: 'Clone' }).click()
    await visit.page.getByText('Cloned: 1, left as they were: 0').waitFor()
    expect(await contentOf('clone-3.yaml')).toBe('a: 1')
  })

  test('any two items and any two versions are compared key by key', async () => {
    await publish('pair-1.yaml', 'a: 1\nb: 1\n')
    await publish('pair-2.yaml', 'a: 1\nb: 2\n')
    for (const version of [2, 3]) await publish('pair-1.yaml', `a: ${version}\nb: ${version}\n`)
    await visit.at('#/configs?ns=public&text=pair-')
    await visit.field('Select all on this page').check()
    await visit.button('Compare the two').click()
    await visit.dialog().getByText('Changed keys (2)').waitFor()
    await visit.dialog().getByText('public / DEFAULT_GROUP / pair-1.yaml').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.page.keyboard.press('Escape')
    await itemAt('pair-1.yaml', '&tab=versions')
    const rows = visit.page.locator('.versions > li')
    await rows.first().getByRole('button', { name: 'Difference' }).click()
    await visit.dialog().getByRole('listitem').filter({ hasText: 'b23' }).waitFor()
    await visit.dialog().getByLabel('Compare with').selectOption({ index: 1 })
    await visit.dialog().getByRole('listitem').filter({ hasText: 'b13' }).waitFor()
  })

  test('the list is narrowed by group and tag, and the address says so', async () => {
    const tagged = (dataId: string, group: string, tags: string) =>
      managed.ask('POST', CONFIGS, { dataId, group, content: 'x', type: 'text', config_tags: tags })
    await tagged('narrow-1.txt', 'SHOP', 'red,blue')
    await tagged('narrow-2.txt', 'SHOP', 'green')
    await tagged('narrow-3.txt', 'BANK', 'red')
    const names = () => visit.page.locator('td.name a').allTextContents()
    await visit.at('#/configs?ns=public&text=narrow')
    await visit.field('Search').fill('narrow group:SHOP ')
    await expect.poll(names).toHaveLength(2)
    await visit.field('Search').fill('narrow tag:red ')
    await expect.poll(names).toEqual(['narrow-1.txt'])
    expect(visit.page.url()).toContain('group=SHOP')
    expect(visit.page.url()).toContain('tag=red')
    await visit.button('Clear filters').click()
    await expect.poll(names).not.toHaveLength(1)
  })

  test('the keys of an item are compared over namespaces', async () => {
    await managed.ask('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: 'over',
      namespaceName: 'Over there',
    })
    await publish('keys.yaml', 'db:\n  host: a\n  password: one\nport: 1\n')
    const other = { tenant: 'over', dataId: 'keys.yaml', group: 'DEFAULT_GROUP', type: 'yaml' }
    await managed.ask('POST', CONFIGS, {
      ...other,
      content: 'db:\n  host: b\n  password: one\nport: 1\nnew: 2\n',
    })
    await itemAt('keys.yaml')
    await visit.link('Across namespaces').click()
    await visit.page.getByText('Keys that differ: 2 of 4').waitFor()
    await visit.page.getByRole('row', { name: 'db.host Different a b' }).waitFor()
    await visit.page.getByRole('row', { name: 'new Different – 2' }).waitFor()
    await visit.field('Show the others too').check()
    await visit.page.getByRole('row', { name: /^db\.password/ }).waitFor()
    expect(await visit.page.getByText('one', { exact: true }).count()).toBe(0)
  })

  test('items are exported, and imported after a look at what would happen', async () => {
    await publish('zipped.yaml', 'a: 1')
    await visit.at('#/configs?ns=public&text=zipped')
    await visit.field('Select zipped.yaml').check()
    const downloading = visit.page.waitForEvent('download')
    await visit.button('Export').click()
    const file = await (await downloading).path()
    await publish('zipped.yaml', 'a: 2')
    await visit.button('Import').click()
    await visit.dialog().getByLabel('Zip file').setInputFiles(file)
    await visit.dialog().getByLabel('If an item is there already').selectOption('Overwrite it')
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
    await visit.page.getByText('It would publish 1').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('listitem').getByText('zipped.yaml').waitFor()
    expect(await contentOf('zipped.yaml')).toBe('a: 2')
    await publish('zipped.yaml', 'a: 3')
    await visit.dialog().getByRole('button', { name: 'Import' }).click()
    await visit.dialog().getByText('Somebody else has changed it meanwhile.').waitFor()
    expect(await contentOf('zipped.yaml')).toBe('a: 3')
    await visit.dialog().getByRole('button', { name: 'See what would happen' }).click()
    await visit.page.getByText('It would publish 1').waitFor()
    await visit.dialog().getByRole('button', { name: 'Import' }).click()
    await visit.page.getByText('Imported: 1').waitFor()
    expect(await contentOf('zipped.yaml')).toBe('a: 1')
  })

  test('a secret is covered in the editor, in differences and in lists of keys, until it is clicked', async () => {
    const isOnScreen = (text: string): Promise<boolean> => visit.page.getByText(text).first().isVisible()
    await publish('secret.yaml', 'user: shop\npassword: hunter2\nkeys:\n  privateKey: |\n    line-of-key\n')
    await itemAt('secret.yaml')
    await visit.page.getByText('shop').waitFor()
    expect([await isOnScreen('hunter2'), await isOnScreen('line-of-key')]).toEqual([false, false])
    await visit.page.locator('.cm-mask').first().click()
    await visit.page.getByText('hunter2').waitFor()
    expect(await isOnScreen('line-of-key')).toBe(false)
    await publish('secret.yaml', 'user: shop\npassword: hunter3\n')
    await itemAt('secret.yaml', '&tab=versions')
    await visit.button('Difference').first().click()
    await visit.dialog().getByText('Changed keys').waitFor()
    expect([await isOnScreen('hunter2'), await isOnScreen('hunter3')]).toEqual([false, false])
  })
})
