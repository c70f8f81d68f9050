/** Edits: what is said before, what is said afterwards, and what can be taken back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { md5 } from '../interface/client.ts'
import { startManaged, type ManagedWaypost } from '../support/administrator.ts'
import { browserTool, type Looks, type Visit } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000
const CONFIGS = '/svc/v1/cs/configs'
/** How many pixels of the dialog are beside its edge. */
const CUT_OFF = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog[open] .body'))`

describe.skipIf(browserTool.skip)('edits in a browser', { timeout: FLOW_MS }, () => {
  let managed: ManagedWaypost
  const pages = browserForThisFile()
  beforeAll(async () => {
    managed = await startManaged()
    await managed.addUser({ username: 'ann', password: 'reading-only', permissions: { ':*:*': 'r' } })
    const parts = { 'pub*:G:config/app-*': 'rw', ':*:*': 'r' } as const
    await managed.addUser({ username: 'zoe', password: 'writing-some', permissions: parts })
    await managed.addUser({ username: 'li', password: 'writing-too', permissions: { ':*:*': 'rw' } })
  }, FLOW_MS)
  afterAll(() => managed?.waypost.stop())

  const publish = (dataId: string, content: string, more: Record<string, string> = {}) =>
    managed.ask('POST', CONFIGS, { dataId, group: 'G', content, type: 'yaml', ...more })
  const contentOf = (dataId: string) => managed.ask('GET', `${CONFIGS}?dataId=${dataId}&group=G`)
  const at = (dataId: string, more = ''): string => `#/config?ns=public&group=G&dataId=${dataId}${more}`
  const open = async (hash: string, username = 'nacos', looks: Looks = {}): Promise<Visit> => {
    const visit = await pages.open(managed.waypost.url, looks)
    await visit.at(hash)
    const isChinese = looks.language === 'zh-CN'
    const own: Record<string, string> = { ann: 'reading-only', li: 'writing-too', zoe: 'writing-some' }
    await visit.field(isChinese ? '用户名' : 'Username').fill(username)
    await visit.field(isChinese ? '密码' : 'Password').fill(own[username] ?? 'secret')
    await visit.button(isChinese ? '登录' : 'Sign in').click()
    await visit.page.locator('main.main').waitFor()
    await visit.settled()
    return visit
  }

  test('who may only read gets no editor, and learns what to ask for', async () => {
    await publish('read.yaml', 'a: 1')
    const visit = await open(at('read.yaml', '&edit=yes'), 'ann')
    await visit.page.getByText("You can't publish here. Ask an administrator for w on public.").waitFor()
    await visit.page.getByText('a: 1').waitFor()
    expect(await visit.page.getByText('Review and publish').count()).toBe(0)
    await visit.at('#/config/new?ns=public')
    await visit.page.getByText("You can't publish here.").waitFor()
    await visit.page.getByRole('heading', { name: 'New configuration' }).waitFor()
    expect(await visit.field('Data ID').count()).toBe(0)
    await visit.at('#/users')
    await visit.page.getByText('You may not do this.', { exact: true }).waitFor()
    expect(await visit.button('New user').count()).toBe(0)
    expect(await visit.wrong()).toEqual([])
  })

  test('who may write some items gets an editor for these alone', async () => {
    await publish('read.yaml', 'a: 1')
    await publish('app-a.yaml', 'a: 1')
    const visit = await open(at('app-a.yaml', '&edit=yes'), 'zoe')
    await visit.button('Review and publish').waitFor()
    await visit.at(at('read.yaml', '&edit=yes'))
    await visit.page.getByText('Ask an administrator for w on public:G:config/read.yaml.').waitFor()
    expect(await visit.page.getByText('Review and publish').count()).toBe(0)
    await visit.at('#/config/new?ns=public')
    await visit.field('Group').fill('G')
    await visit.field('Data ID').fill('mine.yaml')
    await visit.page.getByText('Ask an administrator for w on public:G:config/mine.yaml.').waitFor()
    await visit.at('#/services?ns=public')
    expect(await visit.button('New service').count()).toBe(0)
  })

  test('a new item says while one types that its name is taken, and what its format is', async () => {
    await publish('there.yaml', 'a: 1')
    const visit = await open('#/config/new?ns=public')
    await visit.field('Group').fill('G')
    await visit.field('Data ID').fill('there.yaml')
    await visit.type('b: 1')
    await visit.page.getByText('there.yaml exists already in this group.').waitFor()
    expect(await visit.button('Review and publish').isDisabled()).toBe(true)
    await visit.field('Data ID').fill('fresh.json')
    await visit.type('{}')
    await visit.button('Review and publish').click()
    await visit.dialog().locator('.cm-content').first().waitFor()
    expect(await visit.dialog().getByText('Changed besides the content').count()).toBe(0)
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('fresh.json has been published.').waitFor()
  })

  test('a change of the format keeps what can be undone', async () => {
    await publish('undo.yaml', 'first: 1')
    const visit = await open(at('undo.yaml', '&edit=yes'))
    await visit.type('second: 2')
    await visit.field('Format').selectOption('JSON')
    await visit.page.getByText('second: 2').waitFor()
    await visit.page.locator('.cm-content').first().click()
    await visit.page.keyboard.press('Control+z')
    await visit.page.getByText('first: 1').waitFor()
  })

  test('a deletion names the clients that listen, and can be undone', async () => {
    await publish('heard.yaml', 'a: 1')
    const token = JSON.parse(
      await managed.ask('POST', '/svc/v1/auth/login', { username: 'nacos', password: 'secret' }),
    ) as { accessToken: string }
    const waiting = fetch(`${managed.waypost.url}/nacos/v1/cs/configs/listener`, {
      method: 'POST',
      headers: { 'Long-Pulling-Timeout': '60000', authorization: `Bearer ${token.accessToken}` },
      body: new URLSearchParams({ 'Listening-Configs': `heard.yaml\u0002G\u0002${md5('a: 1')}\u0001` }),
    })
    const visit = await open(at('heard.yaml'))
    await visit.button('Delete').click()
    await visit.page.getByRole('heading', { name: 'Delete heard.yaml?' }).waitFor()
    await visit.dialog().getByText('Clients that listen now: 1.').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('button', { name: 'Delete' }).click()
    await visit.page.getByText('Deleted: 1').waitFor()
    await expect(contentOf('heard.yaml')).rejects.toThrow('404')
    await visit.button('Undo').click()
    await visit.page.getByText('Undone.').waitFor()
    expect(await contentOf('heard.yaml')).toBe('a: 1')
    await (await waiting).text()
  })

  test('a whole old version is read, copied and restored from its difference, and the new one says so', async () => {
    await publish('old.yaml', 'version: 1\nkept: yes\n')
    await publish('old.yaml', 'version: 2\n')
    const visit = await open(at('old.yaml', '&tab=versions'))
    const first = visit.page.locator('.versions > li').last()
    await first.getByRole('button', { name: 'Whole text' }).click()
    await visit.dialog().getByText('kept: yes').waitFor()
    await visit.dialog().getByRole('button', { name: 'Copy the text' }).waitFor()
    await visit
      .dialog()
      .getByText(/^Record \d+ of the history/)
      .waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('button', { name: 'Difference' }).click()
    await visit.dialog().getByText('Changed keys').waitFor()
    await visit.dialog().getByRole('button', { name: 'Restore' }).click()
    await visit.page.getByRole('heading', { name: /^Restore old\.yaml as it was at/ }).waitFor()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.locator('.comment', { hasText: 'Restored from the version of' }).waitFor()
    expect(await contentOf('old.yaml')).toBe('version: 1\nkept: yes\n')
  })

  test('a conflict names its author and the reason', async () => {
    await publish('raced.yaml', 'a: 1\n')
    const visit = await open(at('raced.yaml', '&edit=yes'))
    await visit.type('a: mine\n')
    const other = await open(at('raced.yaml', '&edit=yes'), 'li')
    await other.type('a: theirs\n')
    await other.button('Review and publish').click()
    await other.dialog().getByLabel('Comment').fill('raise the pool')
    await other.dialog().getByRole('button', { name: 'Publish' }).click()
    await other.page.getByText('raced.yaml has been published.').waitFor()
    await other.close()
    await visit.page.getByText('“raise the pool”').waitFor()
    await visit.button('Bring both together').click()
    await visit.dialog().getByText('li', { exact: true }).waitFor()
    await visit.dialog().getByText('“raise the pool”').waitFor()
    expect(await visit.wrong()).toEqual([])
  })

  test('the last healthy instance is disabled after a question, and that is undone', async () => {
    const instance = { serviceName: 'one', ip: '10.0.0.1', port: '80', ephemeral: 'false' }
    await managed.ask('POST', '/svc/v1/ns/instance', {
      ...instance,
      metadata: '{"token":"abc123","zone":"a"}',
    })
    const visit = await open('#/service?ns=public&group=DEFAULT_GROUP&name=one')
    await visit.button('Disable').click()
    await visit.dialog().getByText('No other instance of this service is healthy').waitFor()
    expect(await visit.page.evaluate<number>(CUT_OFF)).toBeLessThanOrEqual(0)
    await visit.dialog().getByRole('button', { name: 'Disable' }).click()
    await visit.page.getByText('Switched off: clients do not get it.').waitFor()
    await visit.button('Undo').click()
    await visit.page.getByText('Switched off: clients do not get it.').waitFor({ state: 'detached' })
    const row = visit.page.getByRole('row', { name: /10\.0\.0\.1:80/ })
    await row.getByRole('button', { name: 'Edit 10.0.0.1:80' }).click()
    // A secret is covered here too, and stays what it is.
    expect(await visit.dialog().getByLabel('Metadata').inputValue()).toBe('token=••••••\nzone=a')
    await visit.dialog().getByLabel('Metadata').fill('token=••••••\nzone=b')
    await visit.dialog().getByText('What will be changed: 1').waitFor()
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await row.getByText('zone=b').waitFor()
    const shown = await managed.ask(
      'GET',
      '/svc/v1/ns/instance?serviceName=one&ip=10.0.0.1&port=80&ephemeral=false',
    )
    expect(shown).toContain('abc123')
    await row.getByRole('button', { name: 'Edit 10.0.0.1:80' }).click()
    await visit.dialog().getByLabel('Weight').fill('7')
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await row.getByRole('cell', { name: '7', exact: true }).waitFor()
    await visit.button('Undo').click()
    await row.getByRole('cell', { name: '1', exact: true }).waitFor()
  })

  test('a Chinese page says in Chinese what the server refuses, and what is wrong with YAML', async () => {
    await managed.ask('POST', '/svc/v1/ns/instance', { serviceName: 'full', ip: '10.0.0.2', port: '80' })
    const visit = await open('#/service?ns=public&group=DEFAULT_GROUP&name=full&tab=settings', 'nacos', {
      language: 'zh-CN',
    })
    await visit.button('删除').click()
    await visit.dialog().getByRole('button', { name: '删除' }).click()
    await visit.page.getByText('服务仍有实例。').waitFor()
    expect(await visit.dialog().textContent()).not.toMatch(/unregister|delete/i)
    await visit.dialog().getByRole('button', { name: '取消' }).click()
    await visit.at('#/users')
    await visit.button('创建用户').click()
    await visit.dialog().getByLabel('用户名').fill('-')
    await visit.dialog().getByLabel('新密码').fill('a good password')
    await visit.dialog().getByRole('button', { name: '保存' }).click()
    await visit.dialog().getByText('允许的值：最多 128 个字符').waitFor()
    await visit.dialog().getByRole('button', { name: '取消' }).click()
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('wrong.yaml')
    await visit.type('a:\n\t- b\n')
    await visit.button('检查并发布').click()
    await visit.dialog().getByText('不能使用 Tab 缩进').first().waitFor()
    await visit.dialog().getByRole('button', { name: '仍然发布' }).waitFor()
    await visit.dialog().getByRole('button', { name: '取消' }).click()
  })

  test('an edit is kept as a draft over a reload, never with a covered value, and until one signs out', async () => {
    await publish('draft.yaml', 'a: 1')
    await publish('covered.yaml', 'password: hunter2')
    const kept = (visit: Visit) =>
      visit.page.evaluate<string>(
        'JSON.stringify(Object.entries(localStorage).filter(([key]) => key.includes("draft")))',
      )
    const visit = await open(at('draft.yaml', '&edit=yes'))
    await visit.type('a: unfinished')
    await expect.poll(() => kept(visit), { timeout: 30_000 }).toContain('unfinished')
    await visit.link('Configurations').first().click()
    await visit.dialog().getByText('A draft stays in this browser for 7 days').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.button('Keep it as a draft').click()
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()
    await visit.at('#/home')
    await visit.page.getByRole('heading', { name: 'Your drafts' }).waitFor()
    await visit.page.reload()
    await visit.settled()
    await visit.link('draft.yaml').first().click()
    await visit.page.getByText('This is your draft, which is not published.').waitFor()
    await visit.page.getByText('a: unfinished').waitFor()
    expect(await visit.wrong()).toEqual([])
    // Somebody else publishes meanwhile: nothing is overwritten unseen.
    await publish('draft.yaml', 'a: 1\nb: theirs')
    await visit.page.getByText('Somebody else has published a newer version.').waitFor()
    await visit.button('Discard the draft').click()
    await visit.page.getByText('b: theirs').waitFor()
    expect(await kept(visit)).toBe('[]')
    await visit.type('a: again')
    await expect.poll(() => kept(visit), { timeout: 30_000 }).toContain('again')
    await visit.button('Review and publish').click()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('draft.yaml has been published.').waitFor()
    expect(await kept(visit)).toBe('[]')

    await visit.at(at('covered.yaml', '&edit=yes'))
    await visit.type('password: hunter3\nmore: 1')
    await visit.link('Configurations').first().click()
    await visit.dialog().getByText('It has covered values').waitFor()
    expect(await visit.button('Keep it as a draft').count()).toBe(0)
    expect(await kept(visit)).toBe('[]')
    await visit.button('Discard').click()
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()

    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('begun.yaml')
    await visit.type('b: begun')
    await expect.poll(() => kept(visit), { timeout: 30_000 }).toContain('begun')
    await visit.link('Cancel').click()
    await visit.button('Keep it as a draft').click()
    await visit.at('#/config/new?ns=public')
    expect(await visit.field('Data ID').inputValue()).toBe('begun.yaml')
    await visit.page.getByText('b: begun').waitFor()
    // Eight days later it is gone.
    await visit.page.evaluate(`Object.entries(localStorage).filter(([key]) => key.includes('draft')).forEach(
      ([key, value]) => localStorage.setItem(key, JSON.stringify({ ...JSON.parse(value), atMs: Date.now() - 8 * 86_400_000 })))`)
    await visit.link('Cancel').click()
    await visit.button('Keep it as a draft').click()
    await visit.page.getByRole('heading', { name: 'Configurations' }).waitFor()
    await visit.at('#/home')
    await visit.page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await kept(visit)).toBe('[]')
    expect(await visit.page.getByText('Your drafts').count()).toBe(0)

    await visit.at(at('draft.yaml', '&edit=yes'))
    await visit.type('a: to be forgotten')
    await expect.poll(() => kept(visit), { timeout: 30_000 }).toContain('forgotten')
    await visit.button('Account of nacos').click()
    await visit.button('Sign out').click()
    await visit.dialog().getByText('What you have typed has not been published.').waitFor()
    expect(await visit.button('Keep it as a draft').count()).toBe(0)
    await visit.button('Discard').click()
    await visit.page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    expect(await kept(visit)).toBe('[]')
  })

  test('single keys are brought to another namespace, which keeps its own address and password', async () => {
    await managed.ask('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: 'prod',
      namespaceName: 'Production',
    })
    const theirs = 'url: jdbc:prod # own\r\npassword: of-prod\r\npool: 5\r\nonly-there: 1\r\n'
    await publish('by-key.yaml', 'pool: 20\nurl: jdbc:dev\npassword: of-dev\ntimeout: 30\n')
    await publish('by-key.yaml', theirs, { tenant: 'prod' })
    const visit = await open('#/compare?ns=public&from=public&to=prod')
    await visit.button('By key: by-key.yaml').click()
    await visit.dialog().getByText('only there: it stays').waitFor()
    expect(await visit.dialog().getByText('of-prod').count()).toBe(0)
    expect(await visit.dialog().getByLabel('only-there').isDisabled()).toBe(true)
    await visit.dialog().getByLabel('pool').check()
    await visit.dialog().getByLabel('timeout').check()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('button', { name: 'Review and publish' }).click()
    await visit.dialog().getByText('Changed keys (2)').waitFor()
    await visit.dialog().getByRole('button', { name: 'Publish', exact: true }).click()
    await visit.page.getByText('by-key.yaml has been published.').waitFor()
    const inProd = await managed.ask('GET', `${CONFIGS}?tenant=prod&dataId=by-key.yaml&group=G`)
    expect(inProd).toBe(
      'url: jdbc:prod # own\r\npassword: of-prod\r\npool: 20\r\nonly-there: 1\r\ntimeout: 30\r\n',
    )
  })

  test('what a user may do is said in sentences, and given in one form', async () => {
    await managed.ask('POST', '/svc/v1/auth/users', { username: 'new', password: 'nothing-yet' })
    const visit = await open('#/users')
    await visit.link('new').click()
    await visit.page.getByRole('heading', { name: 'What new may do' }).waitFor()
    await visit.page.getByText('May do nothing yet.').waitFor()
    await visit.button('Give a permission').click()
    await visit.dialog().getByLabel('Role').fill('newcomers')
    await visit.dialog().getByLabel('Action').selectOption('Read and write')
    await visit.dialog().getByLabel('What', { exact: true }).selectOption('all configurations')
    await visit.dialog().getByText('May read and write all configurations in public.').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.getByText('By the permission :*:config/* rw of the role newcomers').waitFor()
    await visit.at('#/user?name=nacos')
    await visit.page.getByText('May do everything, as an administrator.').waitFor()
    const ann = await open('#/home', 'ann')
    await ann.button('Account of ann').click()
    await ann.button('What I may do').click()
    await ann.page.getByText('May read everything in public.').waitFor()
    expect(await ann.wrong()).toEqual([])
  })

  test('how a cluster is probed, and whom a service prefers, is changed', async () => {
    const instance = { serviceName: 'probed', ip: '10.0.0.9', port: '80', ephemeral: 'false' }
    await managed.ask('POST', '/svc/v1/ns/instance', instance)
    const visit = await open('#/service?ns=public&group=DEFAULT_GROUP&name=probed&tab=settings')
    await visit.button('How cluster DEFAULT is probed').click()
    await visit.dialog().getByLabel('Health check').selectOption('HTTP')
    await visit.dialog().getByLabel('Path').fill('/health')
    await visit.dialog().getByLabel('Probe the port of each instance').uncheck()
    await visit.dialog().getByLabel('Port to probe').fill('8081')
    expect(await visit.wrong()).toEqual([])
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.getByText('Health check HTTP /health').waitFor()
    await visit.button('Edit').click()
    await visit.dialog().getByLabel('Selector').fill('CONSUMER.label.zone = PROVIDER.label.zone')
    await visit.dialog().getByRole('button', { name: 'Save' }).click()
    await visit.page.locator('dd code', { hasText: 'CONSUMER.label.zone = PROVIDER.label.zone' }).waitFor()
    const detail = await managed.ask(
      'GET',
      '/svc/v1/ns/catalog/service?serviceName=probed&groupName=DEFAULT_GROUP',
    )
    expect(JSON.parse(detail)).toMatchObject({
      service: { selector: { type: 'label' } },
      clusters: [
        { healthChecker: { type: 'HTTP', path: '/health' }, defaultCheckPort: 8081, useIPPort4Check: false },
      ],
    })
  })
})
