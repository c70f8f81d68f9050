/** Open pages follow what others do, without being loaded again. */
import { describe, expect, test } from 'vitest'
import { md5 } from '../interface/client.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { startWaypost } from '../support/waypost.ts'
import { browserTool, Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000

describe.skipIf(browserTool.skip)('an open page', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()

  const publish = (dataId: string, content: string) =>
    here.client.post('/cs/configs', { group: 'G', dataId, content, type: 'text' })
  const live = (visit: Visit) => visit.page.locator('.connection .dot.good').waitFor()

  test('shows what others publish, in the list and in the item', async () => {
    const visit = await here.open()
    await visit.at('#/configs')
    await live(visit)
    await publish('new.txt', 'first text')
    await visit.link('new.txt').waitFor()
    await visit.at('#/config?ns=public&group=G&dataId=new.txt')
    await visit.page.getByText('first text').waitFor()
    await publish('new.txt', 'second text')
    await visit.page.getByText('second text').waitFor()
  })

  test('says after a publish who has it, and names those who have not', async () => {
    const item = { dataId: 'spread.txt', group: 'G' }
    await publish(item.dataId, 'first')
    const overGrpc = await connectGrpc(here.waypost, { setup: { clientVersion: 'Nacos-Java-Client:v3.0.3' } })
    // As clients do it: a poll for each version that they have.
    const listens = (content: string) =>
      overGrpc.ask('ConfigBatchListenRequest', {
        listen: true,
        configListenContexts: [{ ...item, tenant: '', md5: md5(content) }],
      })
    const polls = (content: string) =>
      here.client.post(
        '/cs/configs/listener',
        { 'Listening-Configs': `${item.dataId}\u0002${item.group}\u0002${md5(content)}\u0001` },
        { 'Long-Pulling-Timeout': '30000', 'User-Agent': 'Nacos-Java-Client:v1.4.8' },
      )
    await listens('first')
    const held = polls('first')
    const visit = await here.open()
    await visit.at(`#/config?ns=public&group=G&dataId=${item.dataId}&tab=watchers`)
    await visit.page.getByText('2 of 2 clients have the current version.').waitFor()
    await visit.at(`#/config?ns=public&group=G&dataId=${item.dataId}&edit=yes`)
    await visit.type('second')
    await visit.button('Review and publish').click()
    await visit.dialog().getByText('Clients that listen now: 2').waitFor()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('1 behind · 1 not come back').waitFor()
    const behind = visit.page.getByRole('list', { name: 'Behind' })
    await behind.getByText('Nacos-Java-Client:v1.4.8').waitFor()
    await behind.getByText('Nacos-Java-Client:v3.0.3').waitFor()
    await behind
      .getByText(/^Last contact: /)
      .first()
      .waitFor()
    await held
    const again = polls('second')
    await visit.page.getByText('1 of 2 clients have the current version.').waitFor()
    expect(await behind.getByRole('listitem').count()).toBe(1)
    await behind.getByText('Nacos-Java-Client:v3.0.3').waitFor()
    await listens('second')
    await visit.page.getByText('2 of 2 clients have the current version.').waitFor()
    await visit.link('Listeners').last().click()
    await visit
      .link(/^127\.0\.0\.1/)
      .first()
      .click()
    await visit.page.getByRole('heading', { name: 'Listeners' }).waitFor()
    const row = visit.page.getByRole('row', { name: item.dataId })
    await expect.poll(() => row.getByText('Up to date').count()).toBe(2)
    await row.getByText('Nacos-Java-Client:v3.0.3').waitFor()
    await overGrpc.close()
    await publish(item.dataId, 'third')
    await again
  })

  test('says of a new item whether those who waited for it have it', async () => {
    const polls = (content: string) =>
      here.client.post(
        '/cs/configs/listener',
        { 'Listening-Configs': `awaited.txt\u0002G\u0002${content && md5(content)}\u0001` },
        { 'Long-Pulling-Timeout': '30000', 'User-Agent': 'Nacos-Go-Client:v1.1.4' },
      )
    const held = polls('')
    const visit = await here.open()
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('awaited.txt')
    await visit.field('Group').fill('G')
    await visit.type('here')
    await visit.button('Review and publish').click()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('1 not come back').waitFor()
    await held
    const again = polls('here')
    await visit.page.getByText('1 of 1 clients have the current version.').waitFor()
    await publish('awaited.txt', 'done')
    await again
  })

  test('shares one stream with the other pages of the browser', async () => {
    const visit = await here.open()
    await visit.at('#/services')
    await live(visit)
    const other = await visit.context.newPage()
    await other.goto(`${here.waypost.url}/ui/#/services`)
    await other.locator('.connection .dot.good').waitFor()
    await here.client.post('/ns/instance', { serviceName: 'shop', ip: '10.0.0.1', port: 80 })
    await other.getByRole('link', { name: 'shop' }).waitFor()
    await visit.page.bringToFront()
    await visit.link('shop').waitFor()
    const { text } = await here.client.get('/../../metrics')
    expect(/^waypost_event_streams (\d+)$/m.exec(text)?.[1]).toBe('1')
  })

  test('keeps an edit when the item changes, and when it is deleted', async () => {
    await publish('edited.txt', 'one\ntwo\nthree')
    const visit = await here.open()
    await visit.at('#/config?ns=public&group=G&dataId=edited.txt&edit=yes')
    await live(visit)
    await visit.type('one\ntwo\nmine')
    await publish('edited.txt', 'theirs\ntwo\nthree')
    await visit.button('Bring both together').click()
    await visit.dialog().waitFor()
    await visit.page.keyboard.press('Escape')
    await here.client.delete('/cs/configs', { group: 'G', dataId: 'edited.txt' })
    await visit.page.getByRole('alert').waitFor()
    await visit.page.locator('.cm-content').getByText('mine').waitFor()
  })

  test('shows on the overview what others do, with the way to the difference', async () => {
    await publish('watched.txt', 'before')
    const visit = await here.open()
    await visit.at('#/home')
    await live(visit)
    await here.client.post('/ns/service', { serviceName: 'lonely' })
    await visit.link('lonely').waitFor()
    await publish('watched.txt', 'after')
    const changes = visit.link('public:G:config/watched.txt')
    await expect.poll(() => changes.count()).toBe(2)
    await changes.first().click()
    await visit.dialog().getByText('after').waitFor()
  })

  test('has a stream of its own where there are no shared workers', async () => {
    const visit = await here.open()
    await visit.context.addInitScript('delete globalThis.SharedWorker')
    await visit.at('#/configs')
    await live(visit)
    await publish('alone.txt', 'x')
    await visit.link('alone.txt').waitFor()
  })

  test('asks from time to time where no stream is to be had', async () => {
    const other = await startWaypost({ settings: { 'max-event-streams': 0 } })
    try {
      const visit = await Visit.open(here.browser, `${other.url}/ui/`)
      await visit.at('#/configs')
      await visit.page.getByText('Not connected').waitFor()
      const form = new URLSearchParams({ group: 'G', dataId: 'late.txt', content: 'x' })
      await fetch(`${other.url}/svc/v1/cs/configs`, { method: 'POST', body: form })
      await visit.link('late.txt').waitFor()
      await visit.close()
    } finally {
      await other.stop()
    }
  })

  test('continues when the server was away', async () => {
    const visit = await here.open()
    await visit.at('#/configs')
    await live(visit)
    here.waypost = await here.waypost.restart()
    await live(visit)
    await publish('after.txt', 'x')
    await visit.link('after.txt').waitFor()
    await visit.close()
  })
})
