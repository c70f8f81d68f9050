import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type AsAdministrator, startManaged } from '../../support/administrator.ts'
import type { SeenInstance } from './driven-client.ts'
import { clientsOf, type Library } from './library.ts'
import { portsOf } from './naming-steps.ts'
import { runOf, signedIn, USER } from './plain-scenarios.ts'
import type { Results, Scenario } from './scenario.ts'
import { type Ground, resultOf } from './step.ts'
import { listedPorts } from './ties.ts'
import type { Watch } from './watch.ts'

const SERVICES = 50
/** Longer than instances stay without their connection; some libraries sign in once a minute. */
const LASTING_MS = 95_000
const LOOK_EVERY_MS = 250
/** For libraries that sign in again only when their token is nearly over. */
const SHORT_TTL = '20s'

const [SEEN, HELD] = [
  'no list lacks an instance while it signs in again',
  'its instances belong to its new connection',
] as const

/** A signing key leaks, so that every client has to sign in again. Those that do so late have short tokens. */
export const LEAK_SCENARIO: Scenario = {
  title: 'keeps its instances when the signing key has leaked',
  steps: [SEEN, HELD],
  drive: async (libraries) => {
    const late = (library: Library): boolean => library.version.signsInLate === true
    const groups = await Promise.all([
      driveGroup(
        libraries.filter((library) => !late(library)),
        {},
      ),
      driveGroup(libraries.filter(late), { 'token-ttl': SHORT_TTL }),
    ])
    return new Map(groups.flatMap((group) => [...group]))
  },
}

async function driveGroup(
  libraries: readonly Library[],
  settings: Record<string, string>,
): Promise<ReadonlyMap<Library, Results>> {
  if (libraries.length === 0) return new Map()
  const { waypost, ask, addUser } = await startManaged({ settings })
  try {
    await addUser(USER)
    const spec = { servers: [`127.0.0.1:${waypost.port}`], ...signedIn(USER) }
    const all = await Promise.all(
      libraries.map(async (library) => {
        const ground = { run: runOf(library), client: clientsOf(library, spec), ask }
        return [library, await Published.make(ground)] as const
      }),
    )
    await ask('POST', '/svc/v1/auth/keys/rotate', { leaked: 'true' })
    const results = await Promise.all(
      all.map(async ([library, published]) => [library, await published.results(ask)] as const),
    )
    return new Map(results)
  } finally {
    await waypost.stop()
  }
}

/** Fifty services of one client, to which another one subscribes. */
class Published {
  readonly #services: readonly string[]
  readonly #watches: readonly Watch<readonly SeenInstance[]>[]

  private constructor(services: readonly string[], watches: readonly Watch<readonly SeenInstance[]>[]) {
    this.#services = services
    this.#watches = watches
  }

  static async make({ run, client }: Ground): Promise<Published> {
    const [publisher, observer] = [await client('a'), await client('b')]
    const services = Array.from({ length: SERVICES }, (_, index) => `leak-${run}-${index}`)
    for (const service of services) await publisher.register({ service }, { port: 1 })
    const watches: Watch<readonly SeenInstance[]>[] = []
    for (const service of services) watches.push(await observer.subscribe({ service }))
    for (const watch of watches) await watch.until('the instance', (seen) => portsOf(seen).join() === '1')
    return new Published(services, watches)
  }

  async results(ask: AsAdministrator): Promise<Results> {
    const seen = await resultOf(async () => {
      await this.#lasts(ask)
      const heard = this.#watches.flatMap(({ heard: lists }) => lists.map((list) => portsOf(list).join()))
      expect(heard.filter((ports) => ports !== '1')).toEqual([])
    })
    const held = await resultOf(() => this.#areHeld(ask))
    return new Map([
      [SEEN, seen],
      [HELD, held],
    ])
  }

  /** Every look takes the next service. */
  async #lasts(ask: AsAdministrator): Promise<void> {
    const since = Date.now()
    for (let look = 0; Date.now() - since < LASTING_MS; look++) {
      const service = this.#services[look % SERVICES]!
      expect(await listedPorts(ask, service), `${service} after ${Date.now() - since} ms`).toEqual([1])
      await sleep(LOOK_EVERY_MS)
    }
  }

  async #areHeld(ask: AsAdministrator): Promise<void> {
    const { pageItems } = JSON.parse(await ask('GET', '/svc/v1/console/clients?pageSize=500')) as {
      pageItems: { username: string; services: number }[]
    }
    const holders = pageItems.filter(({ services }) => services === SERVICES)
    expect(holders.map(({ username }) => username)).toContain(USER.username)
    for (const service of this.#services) expect(await listedPorts(ask, service)).toEqual([1])
  }
}
