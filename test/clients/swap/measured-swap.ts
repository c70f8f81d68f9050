import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import type { ManagedWaypost } from '../../support/administrator.ts'
import { connectGrpc } from '../../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../../support/waypost.ts'
import { applyPlan, readPlanOf } from '../../move/swap-steps.ts'
import { runOf } from '../grpc/plain-scenarios.ts'
import { ApplicationCalls, KINDS, NEW, SHARED_SERVICE } from './application-calls.ts'
import type { SwappedLibrary } from './libraries.ts'
import { type ListedPorts, type ListsAfterStart, watchLists } from './lists-after-start.ts'
import type { OldServer } from './old-servers.ts'
import { type Outcomes, outcomesOf } from './outcomes.ts'
import { type PlainInstance, portsAt, publishAt, registerAt } from './plain-requests.ts'

/** The measurements of a swap. */
export interface MeasuredSwap extends SwapTimes, ListsAfterStart, Outcomes {
  readonly applications: ReadonlyMap<SwappedLibrary, ApplicationCalls>
  /** The ports that must be left in the list of the shared service, and the ports that are left. */
  readonly shared: { readonly wanted: readonly number[]; readonly left: readonly number[] }
}

/** All are epoch ms. */
interface SwapTimes {
  /** When the last reading of the old server began. */
  readonly readMs: number
  /** When the old server was asked to stop. */
  readonly stopMs: number
  /** When the new server answered on the same ports. */
  readonly answersMs: number
}

/** No server answers for so long, at least (ms). `SWAP_STOP_MS`: for measurements by hand. */
export const STOP_MS = Number(process.env['SWAP_STOP_MS'] ?? 10_000)
/** Longer than instances wait for their clients after a start. */
const GRACE_MS = 47_000
/** Its client does not come back. */
const DEAD: PlainInstance = { service: SHARED_SERVICE, port: 9_999, isEphemeral: true }
const SETTLED = { timeout: 120_000, interval: 500 }
const WITHOUT_HISTORY = ['--history', 'none'] as const

/** Swaps the server under applications that ask on and on. `next` is filled beside it, and starts on its ports. */
export async function swapUnder(
  libraries: readonly SwappedLibrary[],
  old: OldServer,
  next: ManagedWaypost,
): Promise<MeasuredSwap> {
  const url = `http://127.0.0.1:${old.port}`
  const applications = new Map<SwappedLibrary, ApplicationCalls>()
  let server = next.waypost
  try {
    const livePorts = libraries.map((_one, index) => index + 1)
    await Promise.all(libraries.map((one, index) => registerShared(one, index + 1, old.port)))
    await vi.waitFor(async () => expect(await portsAt(url, SHARED_SERVICE)).toEqual(livePorts), SETTLED)
    await Promise.all(
      libraries.map(
        async (one) => void applications.set(one, await startApplication(one, old.port, livePorts)),
      ),
    )
    const all = [...applications.values()]
    const swapped = await swapServers(all, old, next)
    server = swapped.server
    const { readMs, stopMs, answersMs } = swapped
    for (const one of all) one.answersFrom(answersMs)
    await Promise.all(all.map((one) => publishAt(url, one.readItem, NEW.content)))
    await registerAt(url, { service: SHARED_SERVICE, port: NEW.port, isEphemeral: false })
    const registered = registeredIn(all, swapped)
    const read = new Map([...registered.read, [SHARED_SERVICE, livePorts] as const])
    const times = { answersMs, untilMs: answersMs + GRACE_MS }
    const lists = await watchLists(url, { ...registered, read }, times)
    const shared = { wanted: [...livePorts, NEW.port], left: await portsAt(url, SHARED_SERVICE) }
    const isNew = (one: ApplicationCalls): boolean => KINDS.every((kind) => one.of(kind).at(-1)?.isNew)
    // A library that is late fails its own test.
    await vi.waitUntil(() => all.every(isNew), SETTLED).catch(() => undefined)
    await Promise.all(all.map((one) => one.end()))
    return { applications, readMs, stopMs, answersMs, shared, ...lists, ...(await outcomesOf(url, all)) }
  } finally {
    await Promise.all([...applications.values()].map((one) => one.end()))
    await Promise.all([old.stop(), server.stop()])
  }
}

/** Registers an instance of the shared service with a client of its own. */
async function registerShared({ library }: SwappedLibrary, port: number, serverPort: number): Promise<void> {
  const client = await library.open({ servers: [`127.0.0.1:${serverPort}`] })
  await client.register({ service: SHARED_SERVICE }, { port })
}

/** Starts an application, and waits until each of its calls has succeeded. */
async function startApplication(
  { library }: SwappedLibrary,
  port: number,
  livePorts: readonly number[],
): Promise<ApplicationCalls> {
  const client = await library.open({ servers: [`127.0.0.1:${port}`] })
  const calls = new ApplicationCalls(runOf(library), client)
  calls.livePorts = livePorts
  await publishAt(`http://127.0.0.1:${port}`, calls.readItem, 'before')
  calls.begin()
  await vi.waitFor(() => {
    for (const kind of KINDS)
      expect(calls.of(kind).at(-1), kind).toMatchObject({ isNew: false, error: undefined })
  }, SETTLED)
  return calls
}

/** As the recipe says. */
async function swapServers(
  all: readonly ApplicationCalls[],
  old: OldServer,
  next: ManagedWaypost,
): Promise<SwapTimes & { readonly server: Waypost }> {
  const from = `http://127.0.0.1:${old.port}`
  const { url, dataDir } = next.waypost
  await applyPlan(await readPlanOf(from, ...WITHOUT_HISTORY), url)
  // The old server would lose what is published after the last reading.
  await Promise.all(all.map((one) => one.freeze()))
  await registerAt(from, DEAD)
  const readMs = Date.now()
  const last = await readPlanOf(from, '--ephemeral', ...WITHOUT_HISTORY)
  const stopMs = Date.now()
  await old.stop()
  for (const one of all) one.goOn()
  await applyPlan(last, url)
  await next.waypost.stop()
  await sleep(Math.max(0, stopMs + STOP_MS - Date.now()))
  const server = await startWaypost({ port: old.port, dataDir, settings: { auth: 'report' } })
  await (await connectGrpc({ port: old.port })).close()
  return { readMs, stopMs, answersMs: Date.now(), server }
}

/** The services whose instances the last reading had, and those whose registration was acknowledged later. */
function registeredIn(
  all: readonly ApplicationCalls[],
  { readMs, stopMs }: SwapTimes,
): { readonly read: ListedPorts; readonly later: ListedPorts } {
  const [read, later] = [new Map<string, number[]>(), new Map<string, number[]>()]
  for (const one of all)
    for (const { number, beganMs, endedMs, error } of one.of('register')) {
      if (error !== undefined || beganMs > stopMs) continue
      const lists = endedMs < readMs ? read : later
      lists.set(one.registeredService(number), [1])
    }
  return { read, later }
}
