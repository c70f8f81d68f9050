import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type AsAdministrator, startManaged } from '../../support/administrator.ts'
import type { SeenInstance } from './driven-client.ts'
import { clientsOf, type Library } from './library.ts'
import { portsOf } from './naming-steps.ts'
import { runOf, signedIn, USER } from './plain-scenarios.ts'
import { Cast, type LibraryResults, type Results, stageOf } from './scenario.ts'
import { type Ground, resultOf, type StepResult } from './step.ts'
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

const SCENARIO = { title: 'keeps its instances when the signing key has leaked', steps: [SEEN, HELD] }

/** A signing key leaks, so that every client has to sign in again. Clients that do so late have short tokens. */
export const LEAK_STAGE = stageOf(SCENARIO, async (libraries) => {
  const late = (library: Library): boolean => library.version.signsInLate === true
  const groups = await Promise.all([
    driveGroup(libraries.filter((library) => !late(library))),
    driveGroup(libraries.filter(late), { 'token-ttl': SHORT_TTL }),
  ])
  return new Map(groups.flatMap((group) => [...group]))
})

async function driveGroup(
  libraries: readonly Library[],
  settings: Record<string, string> = {},
): Promise<LibraryResults> {
  if (libraries.length === 0) return new Map()
  const { waypost, ask, addUser } = await startManaged({ settings })
  try {
    await addUser(USER)
    const spec = { servers: [`127.0.0.1:${waypost.port}`], ...signedIn(USER) }
    const cast = await Cast.of(libraries, (library) => {
      const ground = { run: runOf(library), client: clientsOf(library, spec), ask }
      return Published.make(ground, library.version.says ?? '')
    })
    await ask('POST', '/svc/v1/auth/keys/rotate', { leaked: 'true' })
    await cast.each((published) => published.lasts(ask))
    return cast.results(({ results }) => results)
  } finally {
    await waypost.stop()
  }
}

/** Fifty services of one client, to which another one subscribes. */
class Published {
  readonly #results = new Map<string, StepResult>()
  readonly #version: string
  readonly #services: readonly string[]
  readonly #watches: readonly Watch<readonly SeenInstance[]>[]

  private constructor(
    version: string,
    services: readonly string[],
    watches: readonly Watch<readonly SeenInstance[]>[],
  ) {
    this.#version = version
    this.#services = services
    this.#watches = watches
  }

  /** `version`: how the library calls itself. */
  static async make({ run, client }: Ground, version: string): Promise<Published> {
    const [publisher, observer] = [await client('a'), await client('b')]
    const services = Array.from({ length: SERVICES }, (_, index) => `leak-${run}-${index}`)
    for (const service of services) await publisher.register({ service }, { port: 1 })
    const watches: Watch<readonly SeenInstance[]>[] = []
    for (const service of services) watches.push(await observer.subscribe({ service }))
    for (const watch of watches) await watch.until('the instance', (seen) => portsOf(seen).join() === '1')
    return new Published(version, services, watches)
  }

  get results(): Results {
    return this.#results
  }

  /** Looks at its instances for longer than they stay without their connection. */
  async lasts(ask: AsAdministrator): Promise<void> {
    const seen = await resultOf(async () => {
      await this.#areListed(ask)
      const heard = this.#watches.flatMap(({ heard: lists }) => lists.map((list) => portsOf(list).join()))
      expect(heard.filter((ports) => ports !== '1')).toEqual([])
    })
    this.#results.set(SEEN, seen)
    this.#results.set(HELD, await resultOf(() => this.#areHeld(ask)))
  }

  /** Every look takes the next service. */
  async #areListed(ask: AsAdministrator): Promise<void> {
    const since = Date.now()
    for (let look = 0; Date.now() - since < LASTING_MS; look++) {
      const service = this.#services[look % SERVICES]!
      expect(await listedPorts(ask, service), `${service} after ${Date.now() - since} ms`).toEqual([1])
      await sleep(LOOK_EVERY_MS)
    }
  }

  async #areHeld(ask: AsAdministrator): Promise<void> {
    const { pageItems } = JSON.parse(await ask('GET', '/svc/v1/console/clients?pageSize=500')) as {
      pageItems: { username: string; version: string; services: number }[]
    }
    const holders = pageItems.filter(
      ({ version, services }) => version === this.#version && services === SERVICES,
    )
    expect(holders.map(({ username }) => username)).toContain(USER.username)
    for (const service of this.#services) expect(await listedPorts(ask, service)).toEqual([1])
  }
}
