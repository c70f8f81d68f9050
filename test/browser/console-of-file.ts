import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { Client } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { type Looks, startBrowser, Visit } from './chromium.ts'

const HOOK_MS = 120_000

/** A server, its operations below `/svc/v1`, and a browser for its console. */
export interface ConsoleOfFile {
  waypost: Waypost
  readonly client: Client
  readonly browser: Browser
  /**
   * Opens the console of this server, or of another one. After the test the page is closed: it must have done nothing that it must
   * not.
   */
  open(looks?: Looks, url?: string): Promise<Visit>
}

/** One of them for all tests of a `describe`. */
export function consoleForThisFile(): ConsoleOfFile {
  const visits: Visit[] = []
  const started = {
    async open(looks?: Looks, url = started.waypost.url): Promise<Visit> {
      const visit = await Visit.open(started.browser, `${url}/ui/`, looks)
      visits.push(visit)
      return visit
    },
  } as { -readonly [Part in keyof ConsoleOfFile]: ConsoleOfFile[Part] }
  beforeAll(async () => {
    ;[started.waypost, started.browser] = await Promise.all([startWaypost(), startBrowser()])
    started.client = new Client(`${started.waypost.url}/svc/v1`)
  }, HOOK_MS)
  afterAll(async () => {
    await started.browser?.close()
    started.client?.close()
    await started.waypost?.stop()
  })
  afterEach(async () => {
    for (const visit of visits.splice(0)) {
      await visit.close()
      expect(visit.faults).toEqual([])
    }
  })
  return started
}
