import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { Client } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { type Looks, startBrowser, Visit } from './chromium.ts'

const HOOK_MS = 120_000

/** A browser for all tests of a file. */
export interface BrowserOfFile {
  browser: Browser
  /**
   * Opens the console of a server. After the test the page is closed: it must have done nothing that it must not. `path`: the path
   * of the console.
   */
  open(url: string, looks?: Looks, path?: string): Promise<Visit>
}

/** Starts a browser for all tests of a `describe`. */
export function browserForThisFile(): BrowserOfFile {
  const visits: Visit[] = []
  const started = {
    async open(url, looks, path = '/ui/') {
      const visit = await Visit.open(started.browser, url + path, looks)
      visits.push(visit)
      return visit
    },
  } as BrowserOfFile
  beforeAll(async () => {
    started.browser = await startBrowser()
  }, HOOK_MS)
  afterAll(() => started.browser?.close())
  afterEach(async () => {
    for (const visit of visits.splice(0)) {
      await visit.close()
      expect(visit.faults).toEqual([])
    }
  })
  return started
}

/** A server, its operations below `/svc/v1`, and a browser for its console. */
export interface ConsoleOfFile {
  waypost: Waypost
  client: Client
  readonly browser: Browser
  /** Opens the console of this server, or of another one, as {@link BrowserOfFile} does. */
  open(looks?: Looks, url?: string): Promise<Visit>
}

/** Starts them for all tests of a `describe`. */
export function consoleForThisFile(): ConsoleOfFile {
  const pages = browserForThisFile()
  const started = {
    open: (looks, url = started.waypost.url) => pages.open(url, looks),
    get browser() {
      return pages.browser
    },
  } as ConsoleOfFile
  beforeAll(async () => {
    started.waypost = await startWaypost()
    started.client = new Client(`${started.waypost.url}/svc/v1`)
  })
  afterAll(async () => {
    started.client?.close()
    await started.waypost?.stop()
  })
  return started
}
