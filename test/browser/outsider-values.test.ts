/** Values, secrets and checks in the console, as somebody expects them who has read the documents only. */
import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { browserTool, type Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const LIMIT_MS = 180_000
const TYPES = ['yaml', 'json', 'toml', 'properties', 'xml'] as const
type Type = (typeof TYPES)[number]

/** Pairs of values that readers tell apart. */
const PAIRS: Readonly<Record<Type, string>> = {
  yaml:
    '0755→755¦3.140→3.14¦6e2→600¦1E3→1e3¦1_000→1000¦1:30→90¦+1→1¦-0→0¦.5→0.5¦.inf→.INF¦yes→true¦~→null¦' +
    '\'on\'→on¦2024-02-28→"2024-02-28"¦!!str 12→12¦{}→""',
  json: '1e+2→1e2¦-0→0¦0.30000000000000001→0.3¦"[]"→[]¦{}→null¦"a "→"a"¦"a\\\\n"→"a\\n"',
  toml: '0x1F→31¦nan→"nan"¦1979-05-27→"1979-05-27"¦07:32:00.10→07:32:00.1¦\'a\\n\'→"a\\n"',
  properties: 'TRUE→true¦"12"→12¦null→¦a →a¦\\ a→a¦a\\tb→atb¦${x:1}→${x:01}¦a#b→a',
  xml: 'a →a¦ a→a¦a  b→a b¦&amp;lt;→&lt;',
}

const pairsOf = (type: Type) => PAIRS[type].split('¦').map((pair) => pair.split('→') as [string, string])

/** The text of a type with the values of one side. */
function textOf(type: Type, side: 0 | 1): string {
  const joined = (line: (key: string, value: string) => string, end = '\n') =>
    pairsOf(type)
      .map((pair, index) => line(`k${index + 10}`, pair[side]))
      .join(end)
  return {
    yaml: () => joined((key, value) => `${key}: ${value}`),
    json: () => `{${joined((key, value) => `"${key}": ${value}`, ',\n')}}`,
    toml: () => joined((key, value) => `${key} = ${value}`),
    properties: () => joined((key, value) => `${key}=${value}`),
    xml: () => `<c>${joined((key, value) => `<${key}>${value}</${key}>`)}</c>`,
  }[type]()
}

/** Two texts, and whether a reader tells them apart. */
const TEXTS: readonly (readonly [Type, before: string, after: string, isOther?: boolean])[] = [
  ['yaml', 'a[0]: 1\n', 'a: [1]\n', true],
  ['yaml', 'yes: x\n', '"yes": x\n', true],
  ['yaml', 'a: |2\n    x\n', 'a: |\n    x\n', true],
  ['yaml', 'a: !x {b: 1}\n', 'a: !y {b: 1}\n', true],
  ['yaml', '? [a, b]\n: 1\n', '? [a, c]\n: 1\n', true],
  ['yaml', 'a: \u00E4\n', 'a: a\u0308\n', true],
  ['json', '{"l":{"0":1}}', '{"l":[1]}', true],
  ['json', '{"a (2)":1,"a":1}', '{"a":1,"a":1}', true],
  ['json', '{"a":{"b":1},"a":{"c":2}}', '{"a":{"b":1,"c":2}}', true],
  ['json', '{"a":1}', '{"\\u0061":1}'],
  ['toml', 'a = []\n', '[[a]]\n', true],
  ['toml', '[[a]]\nx = 1\n', 'a = [{ x = 1 }]\n'],
  ['properties', 'a\\=b=1\n', 'a==b=1\n', true],
  ['properties', 'a (2)=1\n', 'a=(2)=1\n'],
  ['xml', '<c><a.b>1</a.b><a><b>2</b></a></c>', '<c><a.b>2</a.b><a><b>2</b></a></c>', true],
  ['xml', '<c v=""/>', '<c/>', true],
]

/** Texts with secrets at places of all kinds; `s` makes one. */
const SECRETS: readonly (readonly [string, (s: () => string) => string])[] = [
  [
    'yaml',
    (s) =>
      [
        `app: |\n  db.password=${s()}&${s()} ${s()};${s()}\n  token: |\n    ${s()}\n  x: 1`,
        `opts: -Dpassword=${s()}&${s()} -Dx=1\nado: Server=h;Password=${s()}&x ${s()};X=1`,
        `password: #${s()}\ntoken: !${s()}\npwd: &${s()}\nsecret: {${s()}}\npasswd: x #${s()}`,
        `tokens:\n  # - ${s()}\n  - ${s()}\n  # - ${s()}\nlist:\n- value: ${s()}\n  name: API_TOKEN`,
        `# secrets:\n#   db: ${s()}\n#   mq:\n#     - ${s()}\n? db.password\n: ${s()}`,
      ].join('\n'),
  ],
  [
    'properties',
    (s) => `#client.secret=\\\n#  ${s()}\n!pwd=${s()}\npass\\word=${s()}\njson={"token":"${s()} ${s()}"}`,
  ],
  [
    'json',
    (s) => `{ // no JSON\n "tokens": [\n  "${s()}",\n  "${s()}"\n ],\n "secrets": {\n  "db": "${s()}"\n }\n}`,
  ],
  [
    'toml',
    (s) =>
      `tokens = [\n "${s()}", # ${s()}\n]\n[secrets]\ndb = "${s()}"\n# mq = "${s()}"\n[a]\nb = "token=${s()}"`,
  ],
  [
    'xml',
    (s) =>
      `<c><secrets><!-- ${s()} --><d>${s()}</d></secrets><a><![CDATA[x=1\npassword=${s()};${s()} ${s()}]]></a>\n` +
      `<password><${s()}</password>\n<token>${s()}<${s()}</token>\n<tokens>\n  <d>${s()}</d>\n</tokens></c>`,
  ],
]

/** Wrong texts: what is said, with the line. `s`: a secret that is not said. */
const WRONG: readonly (readonly [Type, (s: string) => string, said?: string])[] = [
  ['yaml', (s) => `a: 1\npassword: *${s}\n`, 'Line 2: Nothing has the anchor “••••••”'],
  ['yaml', (s) => `token: !!int ${s}\n`, 'Line 1: “••••••” has not the form'],
  ['yaml', (s) => `a: 1\nsecret: |${s}\n`, 'Line 2: Block scalar header includes extra characters:\n'],
  ['yaml', (s) => `password: "${s}\\q"\n`, 'Line 1: Invalid escape sequence\n'],
  ['yaml', () => 'a: 1\nb: !!map 1\n', 'Line 2: “1” has not the form'],
  ['yaml', () => 'a: !!str\n  b: 1\n', 'Line 2: “b: 1” has not the form'],
  ['yaml', () => 'a: &x {k: 1}\nb: &x {k: 2}\nc: *x\nd: !Sub "${x}"\n'],
  [
    'yaml',
    () => `a:\n  - x\n  -\ty\nb: "\u{1F468}\u200D\u{1F469}"\n`,
    'Line 3: A tab cannot be before a value.',
  ],
  ['xml', (s) => `<c>\n<password>&${s};</password></c>`, 'Line 2: Nothing declares the entity “••••••”'],
  ['xml', () => '<c>\n<a b="1"d="2"/></c>', 'Line 2: The form'],
  ['json', () => '{\n"a":.5}', 'Line 2: A value is expected here.'],
  ['toml', () => '\'a.b\'.c = 1\nb = """x""""\nc = 9223372036854775808\n'],
  ['properties', () => '# \\u12\na=\\\\\\\\u12\nb=\\\\\\u1\n', 'Line 3: This escape is not valid.'],
]

const KEYS = `[...document.querySelectorAll('dialog[open] .keys li')].map((one) => one.innerText.split('\\n'))`
const CELLS = `[...document.querySelectorAll('main tbody tr')].map((one) => [...one.cells].map((cell) => cell.innerText.replace(' Different', '')))`
const BY_KEY = `[...document.querySelectorAll('dialog[open] li')].map((one) => one.innerText.split(/\\n(?:→\\n)?/))`
const DOM = `(() => {
  const within = (root) => root.innerHTML + [...root.querySelectorAll('*')]
    .map((one) => (one.shadowRoot ? within(one.shadowRoot) : '') + (one.value ?? '')).join('\\n')
  return within(document.documentElement)
})()`

describe.skipIf(browserTool.skip)('the console as it is described', { timeout: LIMIT_MS }, () => {
  const here = consoleForThisFile()
  let visit: Visit
  beforeAll(async () => {
    for (const id of ['one', 'two'])
      await here.client.post('/console/namespaces', { customNamespaceId: id, namespaceName: id })
  })
  beforeEach(async () => void (visit = await here.open()))

  const publish = async (tenant: string, dataId: string, content: string) => {
    const form = { tenant, group: 'G', dataId, content, type: dataId.split('.')[1] }
    expect((await here.client.post('/cs/configs', form)).status).toBe(200)
  }
  const value = <T>(expression: string) => visit.page.evaluate<T>(expression)
  const item = (dataId: string, more = '') => `#/config?ns=one&group=G&dataId=${dataId}${more}`
  const difference = async (dataId: string): Promise<void> => {
    await visit.page.getByRole('row', { name: dataId }).getByRole('button', { name: 'Difference' }).click()
    await visit.dialog().locator('.cm-content').first().waitFor()
    await visit.settled()
  }
  const close = async (): Promise<void> => {
    await visit.page.keyboard.press('Escape')
    await visit.page.locator('dialog[open]').waitFor({ state: 'detached' })
  }
  /** Types a text, and looks at its review. */
  const reviewOf = async (text: string): Promise<string> => {
    await visit.type(text)
    await visit.button('Review and publish').click()
    await visit.dialog().locator('.cm-content').first().waitFor()
    await visit.settled()
    return value<string>(`document.querySelector('dialog[open]').innerText`)
  }
  const cancel = () => visit.dialog().getByRole('button', { name: 'Cancel' }).click()
  const discard = async (): Promise<void> => {
    await cancel()
    await visit.at('#/home')
    await visit.button('Discard').click()
  }

  test.each(TYPES)('shows values of %s as they are written, wherever they are compared', async (type) => {
    const shown = (text: string): string => text.replace(/^ | $/, '␣') || '(empty)'
    const key = (index: number): string => (type === 'xml' ? `c.k${index + 10}` : `k${index + 10}`)
    const rows = pairsOf(type).map((pair, index) => [key(index), ...pair.map(shown)])
    const turned = rows.map(([name, before, after]) => [name, after, before])
    const [before, after] = [textOf(type, 0), textOf(type, 1)]
    await publish('one', `pairs.${type}`, before)
    await publish('two', `pairs.${type}`, after)
    await visit.at(item(`pairs.${type}`, '&edit=yes'))
    await visit.page.locator('.cm-content').getByText('k10').first().waitFor()
    await reviewOf(after)
    await visit.dialog().getByText(`Changed keys (${rows.length})`).waitFor()
    expect(await value(KEYS)).toEqual(rows)
    await discard()
    await visit.at(item(`pairs.${type}`, '&tab=across'))
    await expect.poll(() => value(CELLS)).toEqual(rows)
    await visit.at('#/compare?ns=one&to=two')
    await difference(`pairs.${type}`)
    await expect.poll(() => value(KEYS)).toEqual(turned)
    await close()
    await visit.button(`By key: pairs.${type}`).click()
    await expect.poll(() => value(BY_KEY)).toEqual(turned)
  })

  test('lists keys where a reader tells two texts apart, and only there', async () => {
    for (const [index, [type, before, after]] of TEXTS.entries()) {
      await publish('one', `text${index + 10}.${type}`, before)
      await publish('two', `text${index + 10}.${type}`, after)
    }
    await visit.at('#/compare?ns=one&to=two')
    const found: unknown[] = []
    for (const [index, [type, before, after]] of TEXTS.entries()) {
      await difference(`text${index + 10}.${type}`)
      const isOther = (await value<unknown[]>(KEYS)).length > 0
      found.push(isOther ? [type, before, after, true] : [type, before, after])
      await close()
    }
    expect(found).toEqual(TEXTS)
  })

  test.each(SECRETS)('covers secrets of %s wherever people put them', async (type, make) => {
    const made: string[] = []
    const text = make(() => {
      made.push(`z${randomBytes(6).toString('hex')}`)
      return made.at(-1)!
    })
    const expectCovered = async (): Promise<void> => {
      const session = await visit.context.newCDPSession(visit.page)
      const { nodes } = await session.send('Accessibility.getFullAXTree')
      const page = (await value<string>(DOM)) + JSON.stringify(nodes)
      expect(made.filter((one) => page.includes(one))).toEqual([])
    }
    await publish('one', `hidden.${type}`, text)
    await publish('two', `hidden.${type}`, `${text}\n`)
    await visit.at(item(`hidden.${type}`))
    await visit.page.locator('.cm-mask').first().waitFor()
    await expectCovered()
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await visit.page
      .locator('.cm-content')
      .first()
      .click({ position: { x: 5, y: 5 } })
    await visit.page.keyboard.press('Control+a')
    await visit.page.keyboard.press('Control+c')
    const copy = await value<string>('navigator.clipboard.readText()')
    expect(made.filter((one) => copy.includes(one))).toEqual([])
    await visit.button('Copy the text').click()
    await visit.page.getByText('Copied.').waitFor()
    expect(await value('navigator.clipboard.readText()')).toBe(text)
    await visit.at('#/compare?ns=one&to=two')
    await difference(`hidden.${type}`)
    await expectCovered()
  })

  test('says what is wrong with a text and where, and no secret', async () => {
    await visit.at('#/config/new?ns=one')
    for (const [type, make, said] of WRONG) {
      await visit.field('Data ID').fill(`wrong.${type}`)
      const secret = `z${randomBytes(6).toString('hex')}`
      const review = await reviewOf(make(secret))
      expect(review).toMatch(said === undefined ? /^(?![^]*Line \d)/ : said)
      expect(review).not.toContain(secret)
      await cancel()
    }
    await visit.link('Cancel').click()
    await visit.button('Discard').click()
  })

  test('counts the characters that nobody sees and the review does not name', async () => {
    await visit.at('#/config/new?ns=one')
    await visit.field('Data ID').fill('unseen.properties')
    const codes = [0xad, 0x200e, 0x2060, 0xfeff, 0x180e, 0x2028, 0x85, 0x2003, 0x1680, 0x2066, 0xe0041, 0x7f]
    const lines = codes.map((code) => `k${code}=a${String.fromCodePoint(code)}b`)
    const review = await reviewOf(`${lines.join('\n')}\nface=\u{1F468}\u200D\u{1F469} ❤️\n`)
    expect(await visit.page.locator('.cm-content').first().locator('.cm-specialChar').count()).toBe(
      codes.length,
    )
    expect(review).toContain('and 7 more')
    for (const code of codes)
      expect(review).toContain(`a⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩b`)
    expect(review).toContain('\u{1F468}\u200D\u{1F469} ❤️')
  })
})
