/** Secrets of all formats, at all the places where people have them: none is in the page before somebody clicks. */
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { browserTool, type Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const LIMIT_MS = 180_000

/** The random halves of the secrets of a text: odd characters are between them. */
type Halves = string[]

/** A secret with odd characters in its middle. */
function secretWith(odd: string, halves: Halves): string {
  const [before, after] = [`k${randomBytes(5).toString('hex')}`, `q${randomBytes(5).toString('hex')}`]
  halves.push(before, after)
  return before + odd + after
}

/** Texts with secrets; `s` makes one, with these odd characters in it. */
const TEXTS: readonly (readonly [type: string, make: (s: (odd?: string) => string) => string])[] = [
  [
    'yaml',
    (s) =>
      [
        `password: ${s("&x;,}Q '")}`,
        `single: {password: '${s("''&;}")}'}`,
        `db-password: "${s(String.raw`\"&; #`)}"`,
        `api_key:\n  ${s('&;')}`,
        `tokens:\n  - ${s(',')}\n  - ${s()}`,
        `credentials: [${s()}, "${s(',]')}"]`,
        `secrets:\n  db: ${s()}\n  nested: {deep: ${s()}}`,
        `private-key: |\n  ${s(' ')}\n\n  ${s()}\nclient.secret: >-\n  ${s('&')}`,
        `passphrase: ${s()}\n  ${s()}`,
        `env:\n  - name: DB_PASSWORD\n    value: ${s('&;')}`,
        `base: &base ${s()}\naccess-key: *base`,
        `cache: redis://:${s('/')}@cache:6379/0\nmq: amqp://u:${s('@')}@mq/v`,
        `jdbc: jdbc:mysql://db/shop?user=a&password=${s()}&ssl=true`,
        `plain: 1 # password: ${s()}`,
      ].join('\n'),
  ],
  [
    'properties',
    (s) =>
      [
        `db.password=;${s('&;,} #:=')}`,
        `mq.password=${s()}\\\n   ${s()}`,
        `password\t${s()}`,
        `secret.keys[0]=${s()}`,
        `token : ${s('\\:')}`,
        `pass\\u0077ord=${s()}`,
        `url=redis://:${s()}@cache`,
        `#old.password=${s()}`,
      ].join('\n'),
  ],
  [
    'json',
    (s) =>
      JSON.stringify(
        {
          password: s('"&;,}\\'),
          tokens: [s(), { any: s() }],
          secrets: { db: s(), more: [s()] },
          env: [{ name: 'DB_PASSWORD', value: s('&') }],
          cache: `redis://:${s()}@cache:6379`,
        },
        undefined,
        2,
      ),
  ],
  [
    'toml',
    (s) =>
      [
        `password = "${s('&;,}#')}"`,
        `token = """\n${s()}\n${s('&')}"""`,
        `api_key = '''${s("'")}'''`,
        `tokens = ["${s(']')}", '${s()}']`,
        `[secrets]\ndb = "${s()}"\n[[users]]\npassword = '${s('"')}'`,
        `url = "amqp://u:${s()}@mq/v"`,
      ].join('\n'),
  ],
  [
    'xml',
    (s) =>
      [
        `<!DOCTYPE c [<!ENTITY p "${s()}&q;"><!ENTITY q '${s('&#65;')}'><!ATTLIST c token CDATA "${s()}">`,
        `<!ENTITY apiToken "${s()}"><!ENTITY m "<password>${s()}</password>">]>`,
        `<c password="${s("&amp;;'")}"><d secret="&p;">&apiToken;&m;</d>`,
        `<property name="password" value='${s('"')}'/><entry key="db.password">${s('&lt;')}</entry>`,
        `<p><name>db.password</name><value>${s()}</value></p>`,
        `<password><![CDATA[${s('<&>')}]]></password><secrets><db key="${s()}">${s()}\n${s()}</db></secrets>`,
        `<url>redis://:${s()}@cache</url><!-- <password>${s()}</password> --></c>`,
      ].join('\n'),
  ],
]

/** All that is in the page, the parts in shadows too. */
const DOM = `(() => {
  const within = (root) => root.innerHTML + [...root.querySelectorAll('*')]
    .map((one) => (one.shadowRoot ? within(one.shadowRoot) : '') + (one.value ?? '')).join('\\n')
  return within(document.documentElement)
})()`

describe.skipIf(browserTool.skip)('covered values', { timeout: LIMIT_MS }, () => {
  const here = consoleForThisFile()
  let visit: Visit
  beforeEach(async () => void (visit = await here.open()))

  const publish = (type: string, content: string) =>
    here.client.post('/cs/configs', { group: 'G', dataId: `covered.${type}`, content, type })
  const item = (type: string, more = '') => `#/config?ns=public&group=G&dataId=covered.${type}${more}`

  const expectCovered = async (halves: Halves): Promise<void> => {
    const session = await visit.context.newCDPSession(visit.page)
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    const texts = [await visit.page.evaluate<string>(DOM), JSON.stringify(nodes)]
    for (const text of texts) expect(halves.filter((half) => text.includes(half))).toEqual([])
  }

  /** The text that a copy of everything in the editor has. */
  const copied = async (): Promise<string> => {
    const { page } = visit
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page
      .locator('.cm-content')
      .first()
      .click({ position: { x: 5, y: 5 } })
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+c')
    return await page.evaluate<string>('navigator.clipboard.readText()')
  }

  test.each(TEXTS)('of %s are nowhere in the page, and in no copy of a selection', async (type, make) => {
    const [old, young]: [Halves, Halves] = [[], []]
    const before = make((odd = '') => secretWith(odd, old))
    const after = `${make((odd = '') => secretWith(odd, young))}\n`
    await publish(type, before)
    await visit.at(item(type))
    await visit.page.locator('.cm-mask').first().waitFor()
    await expectCovered(old)
    const copy = await copied()
    expect(copy).toContain('••••••')
    expect(old.filter((half) => copy.includes(half))).toEqual([])
    // The first click shows a value: a secret in the page would have been found.
    await visit.page.locator('.cm-mask').first().click()
    const dom = await visit.page.evaluate<string>(DOM)
    expect(old.filter((half) => dom.includes(half))).not.toEqual([])
    await publish(type, after)
    await visit.at(item(type, '&tab=versions'))
    await visit.button('Difference').first().click()
    await visit.dialog().getByText('Changed keys').waitFor()
    await visit.dialog().locator('.cm-mask').first().waitFor()
    await expectCovered([...old, ...young])
    await visit.dialog().getByRole('button', { name: 'Close' }).first().click()
    await visit.at(item(type, '&tab=across&all=yes'))
    await visit.page.getByRole('button', { name: 'Show the hidden value' }).first().waitFor()
    await expectCovered(young)
  })

  test.each(TEXTS)('of %s are covered where two namespaces are compared, and by key', async (type, make) => {
    const halves: Halves = []
    const made = () => make((odd = '') => secretWith(odd, halves))
    await here.client.post('/console/namespaces', { customNamespaceId: 'two', namespaceName: 'Two' })
    await publish(type, made())
    await here.client.post('/cs/configs', {
      tenant: 'two',
      group: 'G',
      dataId: `covered.${type}`,
      content: made(),
      type,
    })
    await visit.at('#/compare?ns=public&to=two')
    await visit.button('Difference').first().click()
    await visit.dialog().getByText('Changed keys').waitFor()
    await visit.dialog().locator('.cm-mask').first().waitFor()
    await expectCovered(halves)
    await visit.dialog().getByRole('button', { name: 'Close' }).first().click()
    await visit.button(`By key: covered.${type}`).click()
    await visit.dialog().getByRole('button', { name: 'Show the hidden value' }).first().waitFor()
    await expectCovered(halves)
  })

  test.each(TEXTS)('of %s are covered in the lines that a search finds', async (type, make) => {
    const halves: Halves = []
    await publish(
      type,
      make((odd = '') => secretWith(odd, halves)),
    )
    for (const half of halves) {
      await visit.at(`#/configs?ns=public&content=${half.slice(0, 6)}`)
      await visit.page.locator('.hits li').first().waitFor()
      await expectCovered(halves)
    }
  })

  test('are copied by the button as they are', async () => {
    const content = 'user: shop\npassword: hunter2\n'
    await publish('yaml', content)
    await visit.at(item('yaml'))
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await visit.button('Copy the text').click()
    await visit.page.getByText('Copied.').waitFor()
    expect(await visit.page.evaluate<string>('navigator.clipboard.readText()')).toBe(content)
  })

  test('are shown, and stay, where somebody would cut them', async () => {
    const content = 'user: shop\npassword: hunter2\n'
    await publish('yaml', content)
    await visit.at(item('yaml', '&edit=yes'))
    await visit.page.locator('.cm-mask').first().waitFor()
    await visit.page
      .locator('.cm-content')
      .first()
      .click({ position: { x: 5, y: 5 } })
    await visit.page.keyboard.press('Control+a')
    await visit.page.keyboard.press('Control+x')
    await visit.page.getByText('hunter2').waitFor()
    await visit.page.getByText('shop').waitFor()
  })
})
