/** Debian's Chromium for tests of the console. Everything that a page must not do is collected, and fails the test. */
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { accessSync, constants } from 'node:fs'
import { needTool } from '../support/need-tool.ts'
import { KEY, Tab, type Tabs } from './tab.ts'

/** Whether there is a browser here. */
export const browserTool = needTool('chromium-headless-shell|chromium|chromium-browser')

/** The shell without windows takes two thirds of the processor time. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/local/bin/chromium',
]
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const WAIT_MS = 30_000

// Texts and no functions: code of the tests knows no document.
const SETTLED = `new Promise((done) => {
  const busy = '.loading, .code-loading, .busy-line'
  const look = () =>
    document.querySelector('main') !== null && document.querySelector(busy) === null ? done() : setTimeout(look, 20)
  requestAnimationFrame(() => requestAnimationFrame(look))
})`
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP', event.violatedDirective, event.blockedURI, event.sample))`

/** Starts the browser, with a directory of its own. */
export function startBrowser(): Promise<Browser> {
  const executablePath = PLACES.find(isExecutable)
  return chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args: FLAGS })
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

class ChromiumTab extends Tab {
  readonly #page: Page

  constructor(page: Page) {
    super()
    this.#page = page
  }

  async open(url: string): Promise<void> {
    await this.#page.goto(url)
  }

  value<T>(expression: string): Promise<T> {
    return this.#page.evaluate<T>(expression)
  }

  async press(text: string): Promise<void> {
    const names: Record<string, string> = { [KEY.escape]: 'Escape', [KEY.tab]: 'Tab' }
    for (const key of text) await this.#page.keyboard.press(names[key] ?? key)
  }
}

/** Tabs of a Chromium with cookies of their own. */
export async function chromiumTabs(): Promise<Tabs> {
  const browser = await startBrowser()
  const fresh = () => browser.newContext({ locale: 'en-US' })
  let context = await fresh()
  return {
    newTab: async () => new ChromiumTab(await context.newPage()),
    cookies: () => context.cookies(),
    setCookie: ({ name, value }, url) => context.addCookies([{ name, value, url }]),
    clearCookies: () => context.clearCookies(),
    forget: async () => {
      await context.close()
      context = await fresh()
    },
    stop: () => browser.close(),
  }
}

/** How somebody looks at the page. */
export interface Looks {
  readonly theme?: 'light' | 'dark'
  readonly language?: 'en' | 'zh-CN'
  readonly isPhone?: boolean
}

/** A page of the console, and what it did that it must not. */
export class Visit {
  /** Errors on the console of the browser, exceptions, violations of the Content-Security-Policy, dialogs, foreign requests. */
  readonly faults: string[] = []
  readonly page: Page
  readonly context: BrowserContext
  readonly #base: string

  private constructor(context: BrowserContext, page: Page, base: string) {
    this.context = context
    this.page = page
    this.#base = base
    page.setDefaultTimeout(WAIT_MS)
    page.on('console', (message) => {
      // The browser itself reports refused requests, which the page handles.
      const isAnswer = message.text().startsWith('Failed to load resource')
      if (['error', 'warning'].includes(message.type()) && !isAnswer) this.faults.push(message.text())
    })
    page.on('pageerror', (error) => this.faults.push(String(error)))
    page.on('dialog', (dialog) => {
      this.faults.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(new URL(base).origin) && !url.startsWith('data:')) this.faults.push(`asks ${url}`)
    })
  }

  /** Opens a view of the console; `base` is the address of the page, with its slash. */
  static async open(browser: Browser, base: string, looks: Looks = {}): Promise<Visit> {
    const { theme = 'light', language = 'en', isPhone = false } = looks
    const context = await browser.newContext({
      viewport: isPhone ? { width: 375, height: 740 } : { width: 1280, height: 800 },
      colorScheme: theme,
      locale: language === 'en' ? 'en-US' : language,
      reducedMotion: 'reduce',
    })
    await context.addInitScript(TELL_VIOLATIONS)
    return new Visit(context, await context.newPage(), base)
  }

  /** Goes to a view and waits until it has what it shows. */
  async at(hash: string): Promise<void> {
    if (this.page.url().startsWith(this.#base))
      await this.page.evaluate(`void (location.hash = ${JSON.stringify(hash)})`)
    else await this.page.goto(this.#base + hash)
    await this.settled()
  }

  /** Waits until nothing is being loaded. */
  async settled(): Promise<void> {
    await this.page.evaluate(SETTLED)
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' })
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole('link', { name, exact: typeof name === 'string' })
  }

  field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true })
  }

  /** The dialog on top. */
  dialog(): Locator {
    return this.page.locator('dialog[open]').last()
  }

  /** Replaces what is in the editor. */
  async type(text: string): Promise<void> {
    await this.page.locator('.cm-content').first().click()
    await this.page.keyboard.press('Control+a')
    await this.page.keyboard.insertText(text)
  }

  /** The violations of the rules of WCAG A and AA in the page; `more`: further rules. */
  async wrong(more: readonly string[] = []): Promise<string[]> {
    const isThere = await this.page.evaluate<boolean>("'axe' in window")
    if (!isThere) await this.page.evaluate(`${axe.source}; undefined`)
    const rules = JSON.stringify([...more, 'target-size'].map((id) => [id, { enabled: true }]))
    const found = (await this.page.evaluate(
      `axe.run(document, { resultTypes: ['violations'], rules: Object.fromEntries(${rules}),
        runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] } })`,
    )) as axe.AxeResults
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${JSON.stringify(target)} ${failureSummary}`),
    )
  }

  /** How many pixels of the page are beside the screen. */
  sideways(): Promise<number> {
    return this.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  }

  async close(): Promise<void> {
    await this.context.close()
  }
}
