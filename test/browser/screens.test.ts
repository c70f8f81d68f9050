/** Every view, with names that attackers and testers like: in both themes and languages, and on a phone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { sampled } from '../support/sampled.ts'
import { browserTool, type Looks, type Visit } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

/** Pairs with each theme and each language once. */
const LOOKS: readonly (readonly Looks[])[] = [
  [
    { theme: 'light', language: 'en' },
    { theme: 'dark', language: 'zh-CN' },
  ],
  [
    { theme: 'dark', language: 'en' },
    { theme: 'light', language: 'zh-CN' },
  ],
]
const HOOK_MS = 120_000
const TOUR_MS = 240_000
const MARKUP = '<img src=x onerror=alert(1)>'
const LEFTWARDS = '\u202Eevil\u202C עברית'
const LONG = 'x'.repeat(256)

const ITEM = 'ns=hostile&group=G&dataId='
const VIEWS = [
  '#/home',
  '#/compare?ns=hostile&to=public',
  '#/configs?ns=hostile',
  '#/configs?ns=hostile&content=alert&everywhere=yes',
  `#/config?${ITEM}markup.yaml`,
  `#/config?${ITEM}markup.yaml&edit=yes`,
  `#/config?${ITEM}markup.yaml&tab=versions`,
  `#/config?${ITEM}markup.yaml&tab=watchers`,
  `#/config?${ITEM}markup.yaml&tab=gray&ip=10.0.0.7&labels=env%3Dtest`,
  '#/gray',
  `#/config?${ITEM}markup.yaml&tab=across&all=yes`,
  `#/config?${ITEM}${LONG}`,
  `#/config?${ITEM}${encodeURIComponent(MARKUP)}`,
  '#/config/new?ns=hostile',
  '#/bin?ns=hostile',
  '#/listened?ip=127.0.0.1',
  '#/services?ns=hostile',
  `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}`,
  `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}&tab=settings`,
  `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}&tab=explain`,
  `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}&tab=timeline`,
  `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}&tab=subscribers`,
  '#/namespaces',
  '#/users',
  '#/roles',
  '#/permissions',
  '#/audit',
  '#/servers',
  '#/clients',
  '#/switches',
] as const

/** Dialogs: a view, and the button that opens each. */
const DIALOGS = [
  ['#/configs?ns=hostile', /^Import$|^导入配置$/],
  ['#/namespaces', /^New namespace$|^新建命名空间$/],
  ['#/services?ns=hostile', /^New service$|^创建服务$/],
  ['#/users', /^New user$|^创建用户$/],
  ['#/permissions', /^New permission$|^添加权限$/],
  [`#/config?${ITEM}markup.yaml&tab=versions`, /^Difference$|^差异$/],
  [`#/config?${ITEM}markup.yaml&tab=versions`, /^Restore$|^恢复$/],
  [`#/config?${ITEM}markup.yaml&tab=gray`, /^Promote$|^全量发布$/],
  [`#/config?${ITEM}markup.yaml&tab=gray`, /^Change who gets it$|^调整范围$/],
  [`#/config?${ITEM}markup.yaml&tab=gray`, /^Stop$|^停止灰度$/],
  [`#/config?${ITEM}markup.yaml`, /^Delete$|^删除$/],
  [`#/config?${ITEM}markup.yaml`, /^Clone$|^克隆$/],
  ['#/bin?ns=hostile', /^Restore$|^恢复$/],
  ['#/compare?ns=hostile&to=public', /^Difference$|^差异$/],
  ['#/roles', /^Give a role$|^绑定角色$/],
  ['#/users', /^Set password$|^修改密码$/],
  ['#/permissions', /^Take |^移除 /],
  ['#/clients', /^Move |^迁移 /],
  ['#/switches', /^Edit pushEnabled$|^编辑 pushEnabled$/],
  ['#/home', /^Search everywhere$|^全局搜索$/],
  ['#/namespaces', /^Edit <img|^编辑 <img/],
  [
    `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}`,
    /^Edit a+:1$|^编辑 a+:1$/,
  ],
  [
    `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}`,
    /^Deregister a+:1$|^注销 a+:1$/,
  ],
  [
    `#/service?ns=hostile&group=G&name=${encodeURIComponent('<script>alert(1)</script>')}&tab=settings`,
    /^Edit$|^编辑$/,
  ],
] as const

describe.skipIf(browserTool.skip)('every view', () => {
  let managed: ManagedWaypost
  const pages = browserForThisFile()
  /** Sessions of a user are limited, so all pages share one. */
  let cookie: { name: string; value: string }

  beforeAll(async () => {
    managed = await startManaged()
    await fill(managed)
    const answer = await fetch(`${managed.waypost.url}/svc/v1/console/session`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'nacos', password: 'secret' }),
    })
    const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? []
    cookie = { name, value }
  }, HOOK_MS)
  afterAll(() => managed?.waypost.stop())

  const open = async (looks: Looks): Promise<Visit> => {
    const visit = await pages.open(managed.waypost.url, looks)
    await visit.context.addCookies([{ ...cookie, url: managed.waypost.url }])
    return visit
  }

  test.each(sampled(LOOKS).flat())(
    'is accessible and runs nothing of what it shows: $theme, $language',
    { timeout: TOUR_MS },
    async (looks) => {
      const visit = await open(looks)
      const found: Record<string, string[]> = {}
      const judge = async (name: string): Promise<void> => {
        const wrong = await visit.wrong()
        if (wrong.length > 0) found[name] = wrong
      }
      for (const view of VIEWS) {
        await visit.at(view)
        await judge(view)
      }
      for (const [view, button] of DIALOGS) {
        await visit.at(view)
        await visit.button(button).first().click()
        await visit.dialog().waitFor()
        await visit.settled()
        await judge(`${view} ${button.source}`)
        await visit.page.keyboard.press('Escape')
      }
      expect(found).toEqual({})
    },
  )

  test('fits a phone', { timeout: TOUR_MS }, async () => {
    const visit = await open({ isPhone: true })
    const wide: string[] = []
    for (const view of VIEWS) {
      await visit.at(view)
      if ((await visit.sideways()) > 0) wide.push(view)
    }
    // Tables that are scrolled on a phone only can be scrolled by keyboard.
    for (const view of ['#/audit', '#/servers', '#/nowhere']) {
      await visit.at(view)
      expect(await visit.wrong(), view).toEqual([])
    }
    expect(wide).toEqual([])
    await visit.button('Navigation').click()
    await visit.link('Services').click()
    await visit.page.getByRole('heading', { name: 'Services' }).waitFor()
  })

  test('the sign-in is accessible in all of them', { timeout: TOUR_MS }, async () => {
    for (const theme of ['light', 'dark'] as const)
      for (const language of ['en', 'zh-CN'] as const) {
        const visit = await pages.open(managed.waypost.url, { theme, language })
        await visit.at('')
        expect(await visit.wrong()).toEqual([])
        await visit.button(/First administrator|首个管理员/).click()
        expect(await visit.wrong()).toEqual([])
      }
  })
})

/** Puts such names wherever the server takes them. */
async function fill({ waypost, ask, addUser }: ManagedWaypost): Promise<void> {
  const namespaceName = '<img src=x onerror=alert(1)>'
  await ask('POST', '/svc/v1/console/namespaces', {
    customNamespaceId: 'hostile',
    namespaceName,
    namespaceDesc: LEFTWARDS,
  })
  const publish = (dataId: string, more: Record<string, string>) =>
    ask('POST', '/svc/v1/cs/configs', { tenant: 'hostile', group: 'G', dataId, content: MARKUP, ...more })
  await publish('markup.yaml', { content: `a: "${MARKUP}"\npassword: p\n`, type: 'yaml', desc: MARKUP })
  await publish('markup.yaml', {
    content: `a: "<script>alert(1)</script>"\npassword: q\n${LEFTWARDS}: 1\n`,
    config_tags: `${MARKUP},עברית`,
    appName: MARKUP,
    comment: MARKUP,
  })
  const gray = { tenant: 'hostile', group: 'G', dataId: 'markup.yaml', comment: MARKUP }
  await ask('POST', '/svc/v1/cs/configs/gray', {
    ...gray,
    content: `a: "${MARKUP}"\n`,
    grayType: 'beta',
    grayMatchRuleExp: '127.0.0.1,10.0.0.7',
  })
  await ask('POST', '/svc/v1/cs/configs/gray', {
    ...gray,
    content: LEFTWARDS,
    grayType: 'percent',
    grayMatchRuleExp: '5',
    grayName: 'g'.repeat(128),
  })
  await publish(LONG, {
    appName: LONG,
    desc: LONG.slice(0, 128),
    config_tags: LONG.slice(0, 64),
    type: 'html',
  })
  await publish('gone.yaml', { desc: LEFTWARDS })
  await ask('DELETE', '/svc/v1/cs/configs', { tenant: 'hostile', group: 'G', dataId: 'gone.yaml' })
  const service = { namespaceId: 'hostile', groupName: 'G', serviceName: '<script>alert(1)</script>' }
  await ask('POST', '/svc/v1/ns/service', {
    ...service,
    protectThreshold: '0.9',
    metadata: JSON.stringify({ [MARKUP]: LEFTWARDS }),
  })
  for (const port of ['1', '2'])
    await ask('POST', '/svc/v1/ns/instance', {
      ...service,
      ip: 'a'.repeat(128),
      port,
      ephemeral: 'false',
      enabled: port === '1' ? 'true' : 'false',
      metadata: JSON.stringify({ [MARKUP]: LONG, token: LEFTWARDS }),
    })
  await ask('POST', '/svc/v1/ns/service', { namespaceId: 'hostile', groupName: 'G', serviceName: LONG })
  // Who asks may call itself what it likes.
  const about = new URLSearchParams({ ...service, username: 'nacos', password: 'secret' })
  const headers = { 'user-agent': MARKUP }
  await fetch(`${waypost.url}/svc/v1/ns/instance/list?${about}`, { headers })
  const heard = `markup.yaml\u0002G\u0002\u0002hostile\u0001`
  await fetch(`${waypost.url}/svc/v1/cs/configs/listener?${about}`, {
    method: 'POST',
    headers: { ...headers, 'long-pulling-timeout': '10000' },
    body: new URLSearchParams({ 'Listening-Configs': heard }),
  })
  await connectGrpc(waypost, {
    setup: { clientVersion: MARKUP, labels: { AppName: LONG, module: LEFTWARDS } },
  })
  await addUser({ username: MARKUP, password: 'p', permissions: { 'hostile:*:*': 'r' } })
}
