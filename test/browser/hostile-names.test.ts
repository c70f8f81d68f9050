/** Names from another server that nobody could make here: in every text, tooltip, title, dialog and message one sees what is hidden. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hiddenInText } from '../../src/core/text/hidden-characters.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { browserTool, type Visit } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

const HOOK_MS = 120_000
const TOUR_MS = 240_000
/** Free texts turn around what follows. Names have letters that are blank: other servers take these. */
const TURNED = '\u202e\u3164\u200b'
const ODD = '\u3164\u115f'
const LONG = 'ן'.repeat(60)
const ITEM = `item${ODD}${LONG}.yaml`
const GROUP = `group${ODD}`
const SERVICE = `service${ODD}${'W'.repeat(200)}`
const USER = `user${ODD}`
const TEXTS = `document.title + '\\n' + [...document.querySelectorAll('body, body *')].flatMap((one) => [
  ...['title', 'aria-label', 'placeholder'].map((name) => one.getAttribute(name) ?? ''),
  ...[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data)]).join('\\n')`

const OUTSIDE = `[...document.querySelectorAll('main button, dialog[open] button')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth).length`

const place = (view: string, params: Record<string, string> = {}) =>
  `#/${view}?${new URLSearchParams({ ns: 'odd', ...params })}`
const item = (params: Record<string, string> = {}) =>
  place('config', { group: GROUP, dataId: ITEM, ...params })
const service = (params: Record<string, string> = {}) =>
  place('service', { group: GROUP, name: SERVICE, ...params })

/** Views, and the buttons of the dialogs that each opens. */
const VIEWS: readonly (readonly [string, ...RegExp[]])[] = [
  ['#/home'],
  [place('configs')],
  [item(), /^Delete$/, /^Clone$/],
  [item({ edit: 'yes' })],
  [item({ tab: 'versions' }), /^Difference$/, /^Restore$/],
  [item({ tab: 'gray' }), /^Promote$/, /^Stop$/, /^Change who gets it$/],
  [item({ tab: 'across', all: 'yes' })],
  [item({ tab: 'watchers' })],
  [place('compare', { to: 'public' }), /^Difference$/],
  [place('bin'), /^Restore$/],
  [place('services')],
  [service(), /^Edit .*:80$/, /^Deregister .*:80$/],
  [service({ tab: 'settings' }), /^Edit$/],
  [service({ tab: 'timeline' })],
  [service({ tab: 'explain' })],
  ['#/gray'],
  ['#/namespaces', /^Edit odd/, /^Delete odd/],
  ['#/users', /^Set password$/],
  [`#/user?${new URLSearchParams({ name: USER })}`],
  ['#/roles', /^Take /],
  ['#/permissions', /^Take /],
  ['#/audit'],
  ['#/clients', /^Move /],
]

describe.skipIf(browserTool.skip)('names with hidden characters', () => {
  let managed: ManagedWaypost
  const pages = browserForThisFile()
  let cookie: { name: string; value: string }

  beforeAll(async () => {
    managed = await startManaged()
    await bring(managed)
    const answer = await fetch(`${managed.waypost.url}/svc/v1/console/session`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'nacos', password: 'secret' }),
    })
    const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? []
    cookie = { name, value }
  }, HOOK_MS)
  afterAll(() => managed?.waypost.stop())

  const open = async (): Promise<Visit> => {
    const visit = await pages.open(managed.waypost.url)
    await visit.context.addCookies([{ ...cookie, url: managed.waypost.url }])
    return visit
  }

  const textsOf = async (visit: Visit): Promise<string[]> =>
    (await visit.page.evaluate<string>(TEXTS)).split(/[\t\r\n]+/)
  const hiddenOf = async (visit: Visit): Promise<string[]> =>
    (await textsOf(visit))
      .filter((text) => hiddenInText(text) !== undefined)
      .map((text) => JSON.stringify(text))

  test('show them in every view and dialog', { timeout: TOUR_MS }, async () => {
    const visit = await open()
    const found: Record<string, unknown> = {}
    const judge = async (where: string): Promise<void> => {
      const hidden = await hiddenOf(visit)
      if (hidden.length > 0) found[where] = hidden
      if ((await textsOf(visit)).join().includes('U+FE0F')) found[where] = 'marks an emoji'
      const outside = await visit.page.evaluate<number>(OUTSIDE)
      if ((await visit.sideways()) > 0 || outside > 0) found[`${where} is wider than the screen`] = outside
    }
    for (const [view, ...buttons] of VIEWS) {
      await visit.at(view)
      // A list may come later than the view.
      await expect
        .poll(async () => (await textsOf(visit)).join(), { message: view })
        .toMatch(/U\+(?:202E|3164)/)
      await judge(view)
      for (const button of buttons) {
        await visit.button(button).first().click()
        await visit.dialog().waitFor()
        await visit.settled()
        await judge(`${view} ${button.source}`)
        await visit.page.keyboard.press('Escape')
      }
    }
    expect(found).toEqual({})
  })

  /** Does what a dialog asks, and looks at what is said about it. */
  async function said(visit: Visit, button: string | RegExp, done: string): Promise<void> {
    await visit.button(button).first().click()
    await visit.dialog().waitFor()
    await visit.settled()
    expect(await hiddenOf(visit)).toEqual([])
    await visit.dialog().getByRole('button', { name: done, exact: true }).click()
    await visit.page.locator('.toast', { hasText: 'U+3164' }).first().waitFor()
    expect(await hiddenOf(visit)).toEqual([])
    expect(await visit.sideways()).toBeLessThanOrEqual(0)
  }

  test('show them in messages, and where something is promoted', { timeout: TOUR_MS }, async () => {
    const visit = await open()
    await visit.at(place('compare', { to: 'public' }))
    await visit.page.getByRole('checkbox').nth(1).check()
    await visit.button(/^Bring to /).click()
    // The name cannot be made there, and the trial says so.
    await visit
      .dialog()
      .getByText(`has U+3164: ${GROUP.replace(ODD, '[U+3164][U+115F]')}`)
      .waitFor()
    expect(await hiddenOf(visit)).toEqual([])
    expect(await visit.dialog().getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true)
    await visit.page.keyboard.press('Escape')
    await visit.at(service())
    await said(visit, /^Deregister .*:80$/, 'Deregister')
    await visit.page.reload()
    await visit.at(item({ edit: 'yes' }))
    await visit.type('a: 9')
    await said(visit, 'Review and publish', 'Publish')
  })
})

/** A plan from another server brings them; then there are gray versions, deletions, and events of each. */
async function bring({ ask, waypost, tokenOf }: ManagedWaypost): Promise<void> {
  const at = { namespace: 'odd', group: GROUP }
  const text = { md5: null, encryptedDataKey: '', appName: TURNED }
  const notes = { type: 'yaml', desc: TURNED, use: '', effect: '', schema: '', tags: ODD }
  const when = { createdMs: 1, modifiedMs: 1, user: USER, ip: '' }
  const config = (dataId: string, content: string) => ({
    kind: 'config',
    ...at,
    dataId,
    content,
    ...text,
    ...notes,
    ...when,
  })
  const lines = [
    { kind: 'plan', format: 1, madeMs: 1, sources: [], counts: {}, lastRefMs: 0 },
    { kind: 'namespace', id: 'odd', name: `odd ❤️${TURNED}`, desc: `${TURNED}\n\t-` },
    { kind: 'user', username: USER, passwordHash: `$2a$04$${'a'.repeat(53)}`, enabled: true },
    { kind: 'role', username: USER, role: `role${ODD}` },
    { kind: 'permission', role: `role${ODD}`, resource: `odd:${GROUP}:*`, action: 'rw' },
    config(ITEM, 'a: 1'),
    config(`gone${ODD}`, 'a: 1'),
    {
      kind: 'service',
      namespace: 'odd',
      group: GROUP,
      name: SERVICE,
      protectThreshold: 0,
      selector: { type: 'none', expression: '' },
      metadata: { [`key${TURNED}`]: 'W'.repeat(3_000) },
      clusters: [],
      ephemeral: false,
    },
    {
      kind: 'instance',
      namespace: 'odd',
      group: GROUP,
      service: SERVICE,
      cluster: 'DEFAULT',
      ip: `host${ODD}`,
      port: 80,
      ephemeral: false,
      weight: 1,
      enabled: true,
      healthy: true,
      metadata: { [`key${TURNED}`]: 'W'.repeat(900) },
      app: '',
      seenMs: 1,
    },
  ]
  const answer = await fetch(`${waypost.url}/svc/v1/operator/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${await tokenOf('nacos')}` },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  })
  expect(await answer.json()).toMatchObject({ refused: 0 })
  const own = { tenant: 'odd', group: GROUP, dataId: ITEM }
  await ask('POST', '/svc/v1/cs/configs', { ...own, content: 'a: 2', type: 'yaml', comment: TURNED })
  const gray = { grayType: 'percent', grayMatchRuleExp: '5', grayName: 'half' }
  await ask('POST', '/svc/v1/cs/configs/gray', { ...own, ...gray, content: 'a: 3', comment: TURNED })
  await ask('DELETE', `/svc/v1/cs/configs?${new URLSearchParams({ ...own, dataId: `gone${ODD}` })}`)
  await connectGrpc(waypost, {
    headers: { accessToken: await tokenOf('nacos') },
    setup: {
      clientVersion: `${TURNED}${'W'.repeat(290)}`,
      labels: { AppName: `${TURNED}${'W'.repeat(290)}` },
    },
  })
}
