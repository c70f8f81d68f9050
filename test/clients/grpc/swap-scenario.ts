import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startManaged, type AsAdministrator } from '../../support/administrator.ts'
import { startWaypost } from '../../support/waypost.ts'
import { applyPlan, readPlanOf } from '../../move/swap-steps.ts'
import type { OldServer } from '../swap/old-servers.ts'
import { clientsOf, type Library } from './library.ts'
import { portsOf, registerOverHttp } from './naming-steps.ts'
import { askerOf, runOf } from './plain-scenarios.ts'
import { Cast, type LibraryResults, type Results } from './scenario.ts'
import { resultOf, type Ground, type StepResult } from './step.ts'
import { listedPorts, Ties } from './ties.ts'

/** The requirements for a library while another server takes the place of its own. */
export const SWAP_TITLES = [
  'an item is kept, and a listener hears what is published later',
  'all live instances stay in the list',
  'a subscriber never hears fewer than the live instances',
  'a subscriber hears of changes at once, though the clock of the old server was ahead',
  'only the live instances are left after the grace',
  'an instance is taken away by its own client later',
] as const

type Title = (typeof SWAP_TITLES)[number]

/** Longer than instances wait for their clients after a start. */
const GRACE_MS = 47_000
const LOOK_EVERY_MS = 500
/** An instance whose client does not come back. */
const DEAD_PORT = 9

/** Waypost is filled beside an old server, takes over its live instances, and starts on its ports. */
export async function driveSwap(
  startOld: () => Promise<OldServer>,
  libraries: readonly Library[],
): Promise<LibraryResults> {
  const old = await startOld()
  const next = await startManaged({ settings: { auth: 'report' } })
  const { port } = old
  const oldUrl = `http://127.0.0.1:${port}`
  let server = next.waypost
  try {
    const spec = { servers: [`127.0.0.1:${port}`] }
    const cast = await Cast.of(libraries, async (library) => {
      const swap = new Swap({ run: runOf(library), client: clientsOf(library, spec), ask: old.ask })
      await swap.prepare()
      return swap
    })
    // Days before: everything but the live instances.
    await applyPlan(await readPlanOf(oldUrl), next.waypost.url)
    await cast.each((swap) => swap.leaveOneBehind())
    const last = await readPlanOf(oldUrl, '--ephemeral')
    await old.stop()
    await applyPlan(last, next.waypost.url)
    const { dataDir } = next.waypost
    await next.waypost.stop()
    server = await startWaypost({ port, dataDir, settings: { auth: 'report' } })
    await cast.each((swap) => swap.recover(askerOf(oldUrl)))
    return cast.results(({ results }) => results)
  } finally {
    await Promise.all([old.stop(), server.stop()])
  }
}

/** One library before, during and after the swap. */
class Swap {
  readonly #ground: Ground
  readonly #results = new Map<Title, StepResult>()
  #ties: Ties | undefined
  #lastRefMs = 0

  constructor(ground: Ground) {
    this.#ground = ground
  }

  /** An item that it listens to, two instances of two clients, and a subscription to them. */
  async prepare(): Promise<void> {
    this.#ties = await Ties.make(this.#ground)
    await (await this.#ground.client('b')).register({ service: this.#ties.service }, { port: 2 })
    await this.#ties.hosts.until('both', (seen) => portsOf(seen).join() === '1,2')
  }

  /** Registers an instance that sends no beats. */
  async leaveOneBehind(): Promise<void> {
    const { service, hosts } = this.#ties!
    await registerOverHttp(this.#ground.ask, service, { port: DEAD_PORT })
    await hosts.until('the one that stays behind', (seen) => portsOf(seen).includes(DEAD_PORT))
    this.#lastRefMs = await lastRefOf(this.#ground.ask, service)
  }

  get results(): Results {
    return this.#results
  }

  /** Looks at what has become of it. */
  async recover(ask: AsAdministrator): Promise<void> {
    const { hosts } = this.#ties!
    const lasting = this.#take('all live instances stay in the list', () => this.#lasts(ask, Date.now()))
    await this.#take(
      'a subscriber hears of changes at once, though the clock of the old server was ahead',
      () => this.#hearsChange(ask),
    )
    await this.#take('an item is kept, and a listener hears what is published later', () =>
      this.#hearsItem(ask),
    )
    await lasting
    await this.#take('only the live instances are left after the grace', () =>
      hosts.until('only live ones', (seen) => portsOf(seen).join() === '1,2,3'),
    )
    await this.#take('a subscriber never hears fewer than the live instances', async () => {
      const heard = hosts.heard.map(portsOf)
      const full = heard.slice(heard.findIndex((ports) => ports.join() === '1,2'))
      expect(full.filter((ports) => !ports.includes(1) || !ports.includes(2))).toEqual([])
    })
    await this.#take('an instance is taken away by its own client later', () => this.#leaves(ask))
  }

  async #take(title: Title, work: () => Promise<void>): Promise<void> {
    this.#results.set(title, await resultOf(work))
  }

  async #lasts(ask: AsAdministrator, since: number): Promise<void> {
    while (Date.now() - since < GRACE_MS) {
      const ports = await listedPorts(ask, this.#ties!.service)
      expect(ports, `${Date.now() - since} ms after the start`).toEqual(expect.arrayContaining([1, 2]))
      await sleep(LOOK_EVERY_MS)
    }
    expect(await listedPorts(ask, this.#ties!.service)).toEqual([1, 2, 3])
  }

  async #hearsChange(ask: AsAdministrator): Promise<void> {
    const { service, hosts } = this.#ties!
    expect(await lastRefOf(ask, service)).toBeGreaterThan(this.#lastRefMs)
    await registerOverHttp(ask, service, { port: 3, ephemeral: false })
    await hosts.until('the later instance', (seen) => portsOf(seen).includes(3))
  }

  async #hearsItem(ask: AsAdministrator): Promise<void> {
    await this.#ties!.publish(ask, 'later')
    await this.#ties!.heard('later')
  }

  async #leaves(ask: AsAdministrator): Promise<void> {
    const { service } = this.#ties!
    await (await this.#ground.client('a')).deregister({ service }, { port: 1 })
    expect(await listedPorts(ask, service)).toEqual([2, 3])
  }
}

async function lastRefOf(ask: AsAdministrator, service: string): Promise<number> {
  const text = await ask('GET', `/svc/v1/ns/instance/list?serviceName=${service}`)
  return (JSON.parse(text) as { lastRefTime: number }).lastRefTime
}
