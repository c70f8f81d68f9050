import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { portsOf, registerOverHttp } from './naming-steps.ts'
import { Presence } from './presence.ts'
import type { Results } from './scenario.ts'
import { resultOf, type Ground, type StepResult } from './step.ts'
import { listedPorts, type Ties } from './ties.ts'

/** The requirements for a library that servers and operators send away. */
export const SENT_AWAY_TITLES = [
  'its connections are listed with the version of the library',
  'an instance is never missing while its server stops in order',
  'a listener hears on after the stop',
  'its connections leave the server from which they are moved',
  'an instance is never missing while its client is moved',
  'a listener hears on after the move',
  'a subscriber never sees an empty list',
  'a client whose connection is closed comes back with its instance',
] as const

type Title = (typeof SENT_AWAY_TITLES)[number]
type Ask = Ground['ask']

/** A little longer than an instance stays without its connection. */
const GRACE_MS = 37_000
const SETTLE_MS = 45_000
const LOOK_EVERY_MS = 500

/** One library that is sent from server to server. */
export class SentAway {
  readonly #ties: Ties
  /** How the library calls itself. */
  readonly #version: string
  readonly #results = new Map<Title, StepResult>()

  constructor(ties: Ties, version: string) {
    this.#ties = ties
    this.#version = version
  }

  get results(): Results {
    return this.#results
  }

  /** Looks for both its connections, that for items and that for services, on the server that has all. */
  async isListed(ask: Ask): Promise<void> {
    await this.#take('its connections are listed with the version of the library', async () => {
      const listed = await connectionsOf(ask)
      const own = listed.filter(({ version }) => version === this.#version)
      expect(
        own.map(({ instances }) => instances),
        JSON.stringify(listed),
      ).toContain(1)
      expect(own.length).toBeGreaterThanOrEqual(2)
    })
  }

  /** Waits until all that it has is at the only server that is left. */
  async arrives(ask: Ask): Promise<void> {
    const { service, hosts } = this.#ties
    await this.#hears(ask, 'arrived')
    await registerOverHttp(ask, service, { port: 2, ephemeral: false, weight: 2 })
    await hosts.until('the weight', (seen) => seen.some(({ port, weight }) => port === 2 && weight === 2))
    const holds = async (): Promise<boolean> =>
      (await connectionsOf(ask)).some(
        ({ version, instances }) => version === this.#version && instances === 1,
      )
    await vi.waitUntil(holds, { timeout: SETTLE_MS, interval: LOOK_EVERY_MS })
  }

  /** Watches while its server stops. `asks`: the others. */
  async outlives(stopped: Promise<unknown>, asks: readonly Ask[]): Promise<void> {
    const presence = new Presence(this.#ties.service, asks)
    await stopped
    await this.#take('a listener hears on after the stop', () => this.#hears(asks[0]!, 'stopped'))
    await sleep(GRACE_MS)
    await this.#take('an instance is never missing while its server stops in order', () => never(presence))
  }

  /** Watches while the connections of the first of these servers are moved. */
  async follows(asks: readonly Ask[], { connections, moved }: MovedConnections): Promise<void> {
    const presence = new Presence(this.#ties.service, asks)
    await moved
    await this.#take('a listener hears on after the move', () => this.#hears(asks[0]!, 'moved'))
    await sleep(GRACE_MS)
    await this.#take('an instance is never missing while its client is moved', () => never(presence))
    await this.#take('its connections leave the server from which they are moved', async () => {
      const own = connections.filter(({ version }) => version === this.#version).map(({ id }) => id)
      const left = await connectionsOf(asks[0]!)
      expect(left.filter(({ id }) => own.includes(id))).toEqual([])
    })
    await this.#take('a subscriber never sees an empty list', async () => {
      const seen = this.#ties.hosts.heard.map(portsOf)
      expect(
        seen.every((ports) => ports.includes(1)),
        JSON.stringify(seen),
      ).toBe(true)
    })
  }

  /** Waits until it is there again after its connections have been closed. */
  async comesBack(ask: Ask): Promise<void> {
    await this.#take('a client whose connection is closed comes back with its instance', async () => {
      const deadline = Date.now() + SETTLE_MS
      while (!(await listedPorts(ask, this.#ties.service)).includes(1)) {
        if (Date.now() > deadline) throw new Error(`its instance is not listed after ${SETTLE_MS} ms`)
        await sleep(LOOK_EVERY_MS)
      }
      await this.#hears(ask, 'closed')
    })
  }

  async #hears(ask: Ask, content: string): Promise<void> {
    await this.#ties.publish(ask, content)
    await this.#ties.heard(content)
  }

  async #take(title: Title, work: () => Promise<void>): Promise<void> {
    this.#results.set(title, await resultOf(work))
  }
}

async function never(presence: Presence): Promise<void> {
  expect(await presence.end()).toEqual([])
}

/** The connections of a server, and the end of the requests that move them. */
interface MovedConnections {
  readonly connections: readonly Connection[]
  readonly moved: Promise<unknown>
}

/** A connection, as the list shows it. */
interface Connection {
  readonly id: string
  readonly server: string
  readonly version: string
  readonly instances: number
}

/** The connections to the server that is asked. */
export async function connectionsOf(ask: Ask): Promise<readonly Connection[]> {
  const page = JSON.parse(await ask('GET', '/svc/v1/console/clients?pageSize=500')) as {
    server: string
    pageItems: Connection[]
  }
  return page.pageItems.filter(({ server }) => server === page.server)
}
