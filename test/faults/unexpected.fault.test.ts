import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isLong, report, roundsOf, seed, times } from './fault-run.ts'
import { randomFrom } from './random.ts'
import { Check } from './unexpected/check.ts'
import { PlantedServer } from './unexpected/planted-server.ts'
import { ask, Workload } from './unexpected/workload.ts'

/** How many sites a run goes through; the long form takes all sites. */
const SITES = times('FAULT_SITES', { short: 12, long: 10_000 })
/** Only sites whose names match, such as `FAULT_SITE=grpc-server`. */
const WANTED = new RegExp(process.env['FAULT_SITE'] ?? '')
const FIRE_LIMIT_MS = 8_000

/**
 * The code that belongs to no connection, request, probe, push or job: a fault there ends the process. Everything else ends one
 * of these, and the server goes on.
 */
const OF_THE_PROCESS: readonly RegExp[] = [
  // The event loop itself: who hands it a callback has guarded it.
  /^src\/server\/process\/clocks\.ts/,
  // Deciding and writing: nobody knows what was half done.
  /^src\/core\/engine\/(?:sole-engine|shared-engine|returning-callers|patient-callers|units|batch)\.ts/,
  /^src\/store\//,
  /^src\/core\/engine\/follower\.ts state\.apply$/,
]

let server: PlantedServer
let work: Workload
let check: Check

beforeAll(async () => {
  server = await PlantedServer.start()
  work = await Workload.open(server)
  check = new Check(server)
  await work.probe()
}, 60_000)

afterAll(async () => {
  work.close()
  await server.stop()
})

/** How the server came through the fault of a site. */
type Outcome = 'not called' | 'goes on' | 'ends'

async function outcomeOf(site: string): Promise<Outcome> {
  server.arm(site)
  const untilMs = Date.now() + FIRE_LIMIT_MS
  while (!server.hasFired(site) && server.exitCode === undefined && Date.now() < untilMs) await work.run()
  if (!server.hasFired(site) && server.exitCode === undefined) {
    server.disarm()
    return 'not called'
  }
  // A process that ends may say so later than the fault has fired.
  const mayEnd = OF_THE_PROCESS.some((part) => part.test(site))
  const printsUntilMs = Date.now() + (mayEnd ? 5_000 : 100)
  const ends = () => server.printed.includes('the process ends with exit code')
  while (!ends() && Date.now() < printsUntilMs) await sleep(20)
  if (ends()) {
    await ended(site)
    return 'ends'
  }
  expect(server.exitCode, `${site}: the process has ended without the policy:\n${server.printed}`).toBe(
    undefined,
  )
  await check.run()
  const { text } = await ask(server, 'GET /readyz')
  expect(text, `${site}: the fault is not counted`).toContain('"faults":{')
  return 'goes on'
}

async function ended(site: string): Promise<void> {
  const untilMs = Date.now() + 10_000
  while (server.exitCode === undefined && Date.now() < untilMs) await sleep(20)
  expect(server.exitCode, `${site}:\n${server.printed}`).toBe(70)
  expect(server.printed).toContain(`planted at ${site}`)
  await server.startAgain()
  await check.run()
}

test(
  'a callback that throws ends what it belongs to, or the process in order',
  async () => {
    for (let round = 0; round < 4; round++) await work.run()
    await check.run()
    let called: readonly string[] = []
    const unnamed = async () => {
      called = await server.called()
      const known = [...called, ...server.uncalled]
      return OF_THE_PROCESS.filter((part) => !known.some((site) => part.test(site)))
    }
    await expect.poll(unnamed, { message: 'they name no site' }).toEqual([])
    const all = called.filter((site) => WANTED.test(site))
    const random = randomFrom(seed)
    // Also a short run sees how the process ends.
    const first = all.filter((site) => site.endsWith('state.apply') || site.includes('embedded/worker.ts'))
    const chosen = all
      .map((site) => ({ site, order: first.includes(site) ? -1 : random() }))
      .sort((a, b) => a.order - b.order)
      .slice(0, SITES)
    const rows: { site: string; outcome: string }[] = []
    for (const number of roundsOf(chosen.length)) {
      const { site } = chosen[number]!
      const outcome = await outcomeOf(site).catch((error: unknown) => `FAILED: ${String(error)}`)
      rows.push({ site, outcome })
      if (server.exitCode !== undefined) await server.startAgain()
    }
    rows.sort((a, b) => a.site.localeCompare(b.site))
    if (isLong || SITES > 12) {
      console.table(rows)
      console.log(`loaded, but not called by this work:\n${server.uncalled.join('\n')}`)
    }
    const counted = (outcome: Outcome): number => rows.filter((row) => row.outcome === outcome).length
    report(
      `unexpected: ${rows.length} of ${all.length} sites, ${counted('goes on')} go on, ${counted('ends')} end the process, ${counted('not called')} not called`,
    )
    expect(rows.filter(({ outcome }) => outcome.startsWith('FAILED'))).toEqual([])
    const surprising = rows.filter(
      ({ site, outcome }) => outcome === 'ends' && !OF_THE_PROCESS.some((part) => part.test(site)),
    )
    expect(surprising, 'these belong to one connection, request, probe, push or job').toEqual([])
  },
  isLong || SITES > 50 ? 3_600_000 : 180_000,
)
