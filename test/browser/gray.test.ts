/** Gray versions in the console: published for clients of the live list, shown, grown, promoted and stopped. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Client, md5, type Reply } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { browserTool, type Looks, type Visit } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000
const CONFIGS = '/svc/v1/cs/configs'
/** The address of a chosen client, and the address of another client. */
const CHOSEN = '127.0.0.7'
const OTHER = '127.0.0.8'
const DAY_MS = 86_400_000

describe.skipIf(browserTool.skip)('gray versions in a browser', { timeout: FLOW_MS }, () => {
  let managed: ManagedWaypost
  const pages = browserForThisFile()
  let client: Client
  let cookie: { name: string; value: string }
  let visit: Visit

  beforeAll(async () => {
    managed = await startManaged()
    client = new Client(managed.waypost.url)
    cookie = await signIn('nacos', 'secret')
  }, FLOW_MS)
  afterAll(async () => {
    client?.close()
    await managed?.waypost.stop()
  })
  beforeEach(async () => {
    visit = await open()
  })

  async function signIn(username: string, password: string): Promise<{ name: string; value: string }> {
    const answer = await client.post('/svc/v1/console/session', { username, password })
    const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(answer.headers['set-cookie']?.[0] ?? '') ?? []
    return { name, value }
  }
  async function open(looks: Looks = {}, session = cookie): Promise<Visit> {
    const opened = await pages.open(managed.waypost.url, looks)
    await opened.context.addCookies([{ ...session, url: managed.waypost.url }])
    return opened
  }
  const named = (dataId: string) => ({ dataId, group: 'G' })
  const own = { username: 'nacos', password: 'secret' }
  const publish = (dataId: string, content: string) =>
    managed.ask('POST', CONFIGS, { ...named(dataId), content, type: 'yaml' })
  const publishGray = (dataId: string, content: string, rule: Record<string, string>) =>
    managed.ask('POST', `${CONFIGS}/gray`, { ...named(dataId), content, ...rule })
  const itemAt = (dataId: string, more = '') => visit.at(`#/config?ns=public&group=G&dataId=${dataId}${more}`)
  const read = async (dataId: string, from: string): Promise<string> =>
    (await client.call('GET', CONFIGS, { query: { ...named(dataId), ...own }, localAddress: from })).text
  /** Waits for a change, as a client that has this text. */
  const listen = (dataId: string, from: string, content: string): Promise<Reply> =>
    client.call('POST', `${CONFIGS}/listener`, {
      query: own,
      form: { 'Listening-Configs': `${dataId}\u0002G\u0002${md5(content)}\u0001` },
      headers: { 'long-pulling-timeout': '60000', 'user-agent': 'Nacos-Go-Client:v2.3.5' },
      localAddress: from,
    })
  const button = (name: string) => visit.dialog().getByRole('button', { name, exact: true })
  const axe = async (): Promise<void> => expect(await visit.wrong()).toEqual([])

  test('a text is published for a client of the live list, and then for all', async () => {
    await publish('live.yaml', 'a: 1')
    const polls = [listen('live.yaml', CHOSEN, 'a: 1'), listen('live.yaml', OTHER, 'a: 1')]
    await itemAt('live.yaml', '&edit=yes')
    await visit.type('a: 2')
    await visit.button('Review and publish').click()
    await visit.dialog().getByLabel('For', { exact: true }).selectOption('Some: clients that listen now')
    expect(await button('Publish').isDisabled()).toBe(true)
    await visit.dialog().getByRole('checkbox', { name: CHOSEN }).check()
    await visit.dialog().getByText('Clients that get it: 1 of 2 addresses').waitFor()
    await axe()
    await visit.dialog().getByLabel('Comment').fill('one first')
    await button('Publish').click()
    await visit.page.getByText('live.yaml has been published.').waitFor()
    expect((await polls[0]!).text).toContain('live.yaml')
    expect([await read('live.yaml', CHOSEN), await read('live.yaml', OTHER)]).toEqual(['a: 2', 'a: 1'])

    const again = listen('live.yaml', CHOSEN, 'a: 2')
    await visit.link('Gray versions (1)').click()
    const card = visit.page.getByRole('region', { name: 'Gray version beta' })
    await card.getByText(`Clients of ${CHOSEN}`).waitFor()
    await card.getByText('one first').waitFor()
    await card.getByText('It is for 1 of the 2 clients that listen; 1 have it.').waitFor()
    await card.getByText('Changed keys (1)').waitFor()
    await axe()
    await visit.link('Listeners').first().click()
    await visit.page.getByText('1 on a gray version · 1 on the version for all').waitFor()
    await visit.page.getByText('Gray: beta').waitFor()
    await axe()
    await visit.page
      .getByRole('row', { name: CHOSEN })
      .getByRole('link', { name: /^Why does/ })
      .click()
    await visit.page.getByText('The client gets: beta').waitFor()

    await visit.link('Gray versions (1)').click()
    await card.getByRole('button', { name: 'Promote' }).click()
    await visit.dialog().getByText('All gray versions of this item end: 1.').waitFor()
    await axe()
    await button('Promote').click()
    await visit.page.getByText('Every client gets the same text.').waitFor()
    expect((await polls[1]!).text).toContain('live.yaml')
    expect([await read('live.yaml', CHOSEN), await read('live.yaml', OTHER)]).toEqual(['a: 2', 'a: 2'])
    await publish('live.yaml', 'a: 3')
    await again
  })

  test('a keyboard is enough', async () => {
    await publish('keys.yaml', 'a: 1')
    const poll = listen('keys.yaml', CHOSEN, 'a: 1')
    await itemAt('keys.yaml', '&edit=yes')
    await visit.type('a: 2')
    const { keyboard } = visit.page
    await keyboard.press('Control+Enter')
    await visit.dialog().getByLabel('For', { exact: true }).waitFor()
    await visit.dialog().getByLabel('Comment').focus()
    await keyboard.press('Tab')
    await keyboard.press('ArrowDown')
    await visit.dialog().getByRole('checkbox', { name: CHOSEN }).waitFor()
    await keyboard.press('Tab')
    await keyboard.press('Tab')
    await keyboard.press('Space')
    await visit.dialog().getByText('Clients that get it: 1 of 1 addresses').waitFor()
    await keyboard.press('Control+Enter')
    await visit.page.getByText('keys.yaml has been published.').waitFor()
    await poll
    expect([await read('keys.yaml', CHOSEN), await read('keys.yaml', OTHER)]).toEqual(['a: 2', 'a: 1'])
  })

  test('one is given to more clients, and to fewer again by an undo', async () => {
    await publish('grown.yaml', 'a: 1')
    await publishGray('grown.yaml', 'a: 2', { grayType: 'percent', grayMatchRuleExp: '0', grayName: 'v2' })
    await itemAt('grown.yaml', '&tab=gray')
    await visit.page.getByText('0% of all clients').waitFor()
    await visit.button('Change who gets it').click()
    await visit.dialog().getByLabel('Share in percent').fill('101')
    expect(await button('Save').isDisabled()).toBe(true)
    await visit.dialog().getByLabel('Share in percent').fill('100')
    await axe()
    await button('Save').click()
    await visit.page.getByText('100% of all clients').waitFor()
    expect(await read('grown.yaml', OTHER)).toBe('a: 2')
    await visit.button('Undo').click()
    await visit.page.getByText('Undone.').waitFor()
    await visit.page.getByText('0% of all clients', { exact: true }).waitFor()
    expect(await read('grown.yaml', OTHER)).toBe('a: 1')
  })

  test('one is stopped, and is out again by an undo', async () => {
    await publish('stopped.yaml', 'a: 1')
    await publishGray('stopped.yaml', 'a: 2', { grayType: 'beta', grayMatchRuleExp: CHOSEN })
    await itemAt('stopped.yaml', '&tab=gray')
    await visit.button('Stop').click()
    await axe()
    await button('Stop').click()
    await visit.page.getByText('Every client gets the same text.').waitFor()
    expect(await read('stopped.yaml', CHOSEN)).toBe('a: 1')
    await visit.button('Undo').click()
    await visit.page.getByRole('region', { name: 'Gray version beta' }).waitFor()
    expect(await read('stopped.yaml', CHOSEN)).toBe('a: 2')
  })

  test('its text is edited, and nothing that somebody else has published is overwritten', async () => {
    const rule = { grayType: 'beta', grayMatchRuleExp: CHOSEN }
    await publish('edited.yaml', 'a: 1')
    await publishGray('edited.yaml', 'a: 2', rule)
    await itemAt('edited.yaml', '&tab=gray')
    await visit.link('Edit').click()
    await visit.settled()
    await axe()
    await visit.type('a: 3')
    await visit.button('Review and publish').click()
    await visit.dialog().getByText('This replaces the gray version beta.').waitFor()
    await publishGray('edited.yaml', 'a: theirs', rule)
    await button('Publish').click()
    await visit.dialog().getByText('Somebody else has changed it meanwhile.').waitFor()
    expect(await read('edited.yaml', CHOSEN)).toBe('a: theirs')
    await button('Cancel').click()
    await visit.button('Cancel').click()
    await button('Keep it as a draft').click()
    await visit.page.getByText('You have a draft of this.').waitFor()
    // The overview leads to the draft, which is brought together with what was published meanwhile.
    await visit.at('#/home')
    await visit.page.getByText('Gray version beta').waitFor()
    await visit.link('edited.yaml').first().click()
    await visit.page.getByText('This is your draft').waitFor()
    await visit.page.getByText('a: 3').waitFor()
    await visit.button('Bring both together').click()
    await visit.dialog().getByLabel('Take mine').check()
    await button('Use the merged text').click()
    await visit.page.getByText('a: 3').waitFor()
    await axe()
    await visit.type('a: 4')
    await visit.button('Review and publish').click()
    await button('Publish').click()
    await visit.page.getByText('edited.yaml has been published.').waitFor()
    await visit.page.getByRole('region', { name: 'Gray version beta' }).waitFor()
    expect([await read('edited.yaml', CHOSEN), await read('edited.yaml', OTHER)]).toEqual(['a: 4', 'a: 1'])
  })

  test('a new item is for some clients only', async () => {
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('new.yaml')
    await visit.field('Group').fill('G')
    await visit.type('a: 1')
    await visit.button('Review and publish').click()
    await visit.dialog().getByLabel('For', { exact: true }).selectOption('Some: clients with a tag')
    await visit.dialog().getByLabel('Tag').fill('blue')
    await button('Publish').click()
    await visit.page.getByText('only clients of a gray version find something').waitFor()
    await visit.link('See the gray versions').click()
    await visit.page.getByText('Clients with the tag blue').waitFor()
    await axe()
  })

  test('it says why a client gets which version', async () => {
    await publish('why.yaml', 'a: 1')
    await publishGray('why.yaml', 'a: 2', { grayType: 'beta', grayMatchRuleExp: CHOSEN })
    await publishGray('why.yaml', 'a: 3', {
      grayType: 'tagv2',
      grayMatchRuleExp: 'env=test',
      grayName: 'test',
    })
    await publishGray('why.yaml', 'a: 4', { grayType: 'percent', grayMatchRuleExp: '0', grayName: 'few' })
    await itemAt('why.yaml', '&tab=gray')
    await visit.field('IP of the client').fill(CHOSEN)
    await visit.field('Labels of the client').fill('env=test')
    await visit.page.getByText('The client gets: beta').waitFor()
    const row = (name: string) => visit.page.getByRole('row', { name })
    await row('test').getByText('It is for this client, but another one comes first.').waitFor()
    await row('few').getByText('It is in a share of').waitFor()
    await visit.field('IP of the client').fill(OTHER)
    await visit.page.getByText('The client gets: test').waitFor()
    await visit.field('Labels of the client').fill('')
    await visit.page.getByText('The client gets: Version for all').waitFor()
    await axe()
  })

  test('those that are out are on one page, and the overview reminds of them after a day', async () => {
    await publishGray('forgotten.yaml', 'a: 2', {
      grayType: 'tag',
      grayMatchRuleExp: 'blue',
      comment: 'a trial',
    })
    await visit.at('#/home')
    expect(await visit.page.getByText('Gray versions that have been out').count()).toBe(0)
    await visit.link('Gray versions').click()
    const row = visit.page.getByRole('row', { name: 'forgotten.yaml' })
    await row.getByText('Clients with the tag blue').waitFor()
    await row.getByText('a trial').waitFor()
    await row.getByText('nacos').waitFor()
    await axe()
    await row.getByRole('button', { name: /^Promote/ }).click()
    await visit.dialog().getByText('There is no version for all.').waitFor()
    await axe()
    await button('Cancel').click()
    await row.getByRole('button', { name: /^Stop/ }).click()
    await button('Stop').click()
    await row.waitFor({ state: 'detached' })
    await visit.button('Undo').click()
    await row.getByRole('link').first().click()
    await visit.page.getByText('There is no version for all.').first().waitFor()
    await visit.page.clock.setSystemTime(Date.now() + DAY_MS + 60_000)
    await visit.at('#/home')
    const reminder = visit.link(/^Gray versions that have been out for more than a day/)
    await reminder.waitFor()
    await axe()
    await reminder.click()
    await row.getByText('yesterday').waitFor()
    await axe()
  })

  test('a user who only reads sees them, and no buttons', async () => {
    await publish('read.yaml', 'a: 1')
    await publishGray('read.yaml', 'a: 2', { grayType: 'beta', grayMatchRuleExp: CHOSEN })
    await managed.addUser({ username: 'ann', password: 'reads only', permissions: { ':*:*': 'r' } })
    const reader = await open({}, await signIn('ann', 'reads only'))
    await reader.at('#/config?ns=public&group=G&dataId=read.yaml&tab=gray')
    await reader.page.getByText(`Clients of ${CHOSEN}`).waitFor()
    for (const name of ['Promote', 'Change who gets it', 'Stop'])
      expect(await reader.button(name).count()).toBe(0)
    await reader.at('#/gray')
    await reader.link('read.yaml').waitFor()
    expect(await reader.button(/^Promote|^Stop/).count()).toBe(0)
  })

  test('an item without a version for all is in the list, in a comparison and in the bin as such', async () => {
    await managed.ask('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: 'only',
      namespaceName: 'only',
    })
    const rule = { tenant: 'only', grayType: 'tag', grayMatchRuleExp: 'blue' }
    await publishGray('only.yaml', 'a: 2', rule)
    await visit.at('#/configs?ns=only')
    const row = visit.page.getByRole('row', { name: 'only.yaml' })
    await row.getByText('Gray versions only').waitFor()
    await axe()
    const download = visit.page.waitForEvent('download')
    await visit.link('Export all').click()
    await visit.page.getByText('Gray versions that are not in the file: 1.').waitFor()
    await (await download).cancel()
    await visit.at('#/compare?ns=only&to=public')
    await row.getByText('tag_blue').waitFor()
    await axe()
    await managed.ask('DELETE', CONFIGS, { ...named('only.yaml'), tenant: 'only' })
    await visit.at('#/bin?ns=only')
    await row.getByText('Gray versions only').waitFor()
    await axe()
    await row.getByRole('button', { name: 'Restore' }).click()
    await visit.dialog().getByText('There is no version for all.').waitFor()
    await axe()
    await button('Restore').click()
    await visit.page.getByText('Out again: tag_blue').waitFor()
    await visit.page.getByText('Nothing has been deleted.').waitFor()
    const found = await managed.ask('GET', `${CONFIGS}/gray?namespaceId=only`)
    expect(JSON.parse(found)).toMatchObject([{ dataId: 'only.yaml', versions: [{ grayName: 'tag_blue' }] }])
  })

  test.each([360, 768, 1280])('fits a screen of %i pixels', async (width) => {
    await publish('fits.yaml', 'a: 1')
    await publishGray('fits.yaml', 'a: 2', {
      grayType: 'beta',
      grayMatchRuleExp: Array.from({ length: 40 }, (_, at) => `10.20.30.${at}`).join(','),
    })
    await visit.page.setViewportSize({ width, height: 800 })
    await publishGray('fits-only.yaml', 'a: 2', { grayType: 'tag', grayMatchRuleExp: 'blue' })
    for (const view of [
      '#/gray',
      '#/configs?ns=public',
      '#/config?ns=public&group=G&dataId=fits.yaml&tab=gray',
    ]) {
      await visit.at(view)
      expect(await visit.sideways(), view).toBeLessThanOrEqual(0)
    }
    await visit.button('Change who gets it').click()
    await visit.dialog().getByText('40 of 40 addresses').waitFor()
    expect(await visit.sideways()).toBeLessThanOrEqual(0)
  })
})
