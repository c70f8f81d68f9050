/** A tab of any browser, driven by expressions. */

const WAIT_MS = 60_000
const LOOK_MS = 100

/** Keys as WebDriver names them. */
export const KEY = { escape: '\uE00C', tab: '\uE004' } as const

/** A tab, by what each browser must do for it. */
export abstract class Tab {
  /** Opens an address. */
  abstract open(url: string): Promise<void>
  /** The value of an expression in the page. */
  abstract value<T>(expression: string): Promise<T>
  /** Presses keys, one after the other, where the focus is. */
  abstract press(text: string): Promise<void>

  /** Waits until an expression is true. A page that is being replaced has no value. */
  async until(expression: string): Promise<void> {
    const endMs = Date.now() + WAIT_MS
    while (!(await this.value<boolean>(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() > endMs) {
        const text = await this.value<string>('document.body.innerText.slice(0, 2000)')
        throw new Error(`A tab waits in vain for ${expression}; the page says:\n${text}`)
      }
      await new Promise((done) => setTimeout(done, LOOK_MS))
    }
  }

  /** Waits until the page has a text. */
  async says(text: string): Promise<void> {
    await this.until(`document.body.textContent.includes(${JSON.stringify(text)})`)
  }

  /** Clicks the first element in sight of a CSS selector that has a text. */
  async click(selector: string, text = ''): Promise<void> {
    const found = elementOf(selector, text)
    await this.until(found)
    await this.value(`(${found}).click()`)
  }

  /** Replaces what is in the field that has this label. */
  async fill(label: string, text: string): Promise<void> {
    const field = `[...document.querySelectorAll('label')].find((one) => one.textContent.trim() === ${JSON.stringify(label)})?.control`
    await this.until(field)
    await this.value(`(${field}).focus()`)
    await this.value(`(${field}).select()`)
    await this.press(text)
  }
}

const elementOf = (selector: string, text: string): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.offsetParent !== null && one.textContent.includes(${JSON.stringify(text)}))`

/** A cookie that a browser has got. */
export interface TabCookie {
  readonly name: string
  readonly value: string
}

/** A browser whose tabs have one set of cookies, which nobody else has. */
export interface Tabs {
  newTab(): Promise<Tab>
  /** Of the page that is shown. */
  cookies(): Promise<TabCookie[]>
  /** `url`: of the page that is shown. */
  setCookie(cookie: TabCookie, url: string): Promise<void>
  clearCookies(): Promise<void>
  /** Closes all tabs, and forgets what the browser keeps for the server of an address. */
  forget(url: string): Promise<void>
  stop(): Promise<void>
}
