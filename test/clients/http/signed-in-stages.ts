import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { type ManagedWaypost, startManaged } from '../../support/administrator.ts'
import type { DrivenClient } from '../grpc/driven-client.ts'
import { clientsOf, type Library } from '../grpc/library.ts'
import { able, FORBIDDEN, runOf, signedIn, USER } from '../grpc/plain-scenarios.ts'
import { type LibraryResults, type Scenario, stageOf, withEach } from '../grpc/scenario.ts'
import { type Step, takeSteps } from '../grpc/step.ts'

/** Libraries look every five seconds whether a token has to be replaced. */
const SHORT_TTL = '14s'
const LASTING_MS = 34_000
const RESTART_AFTER_MS = 18_000
const HEARD_MS = 10_000

/** The work that continues over several tokens and a restart of the server. */
const LASTING_STEPS: readonly Step[] = [
  {
    title: 'sign-in: a watcher hears of changes after its token has been replaced',
    run: async ({ client, run }) => {
      const item = { dataId: `lasting-${run}` }
      const [writer, watcher] = [await client('a'), await client('b')]
      await publish(writer, item, 'first')
      const watch = await watcher.listen(item)
      await sleep(LASTING_MS)
      await publish(writer, item, 'last')
      await watch.until('the last content', (seen) => seen === 'last', HEARD_MS)
    },
  },
  {
    title: 'sign-in: beats keep an instance after the token has been replaced',
    run: async ({ client, run }) => {
      const service = { service: `lasting-${run}` }
      const [owner, reader] = [await client('a'), await client('reader')]
      await again(() => owner.register(service, { port: 8080 }))
      await sleep(LASTING_MS)
      await again(async () =>
        expect((await reader.list(service)).map(({ healthy }) => healthy)).toEqual([true]),
      )
    },
  },
  FORBIDDEN,
]

/** Does it again where the server is just restarting. */
function again<T>(work: () => Promise<T>): Promise<T> {
  return vi.waitFor(work, { timeout: 20_000, interval: 500 })
}

function publish(client: DrivenClient, item: { dataId: string }, content: string): Promise<void> {
  return again(async () => expect(await client.publish(item, content)).toBe(true))
}

let turn: Promise<unknown> = Promise.resolve()

/** One library after the other: Java waits 3 s for an answer, and four such contents at once take longer on two cores. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = turn.then(work)
  turn = result.catch(() => undefined)
  return result
}

/** 10 MiB, every byte of which is escaped in a form. */
const CONTENT = '%+ü'.repeat((10 * 1024 * 1024) / 4)
const ITEMS = 3_000
/** Until all items are in a poll. */
const POLLED_MS = 10_000
/** Java and Go may have some items in their next poll only, which begins after 30 s. */
const CHANGED_MS = 40_000

/** Large requests that still have to pass, though it is only known in the middle of a form who sends it. */
const LARGE_STEPS: readonly Step[] = [
  {
    title: 'large: a content of 10 MiB is published and read back',
    run: async ({ client, run }) => {
      const [item, one] = [{ dataId: `large-${run}` }, await client('a')]
      await inTurn(async () => {
        expect(await one.publish(item, CONTENT)).toBe(true)
        expect((await one.read(item)) === CONTENT).toBe(true)
      })
    },
  },
  {
    title: 'large: a watcher of 3,000 items sees a change of one',
    run: async ({ client, run }) => {
      const watcher = await client('watcher')
      const items = Array.from({ length: ITEMS }, (_, at) => ({ dataId: `watched-${run}-${at}` }))
      const watches = await Promise.all(items.map((item) => watcher.listen(item)))
      await sleep(POLLED_MS)
      const middle = ITEMS / 2
      expect(await (await client('elsewhere')).publish(items[middle]!, 'changed')).toBe(true)
      await watches[middle]!.until('the change', (seen) => seen === 'changed', CHANGED_MS)
    },
  },
]

/** The work of signed-in clients. */
interface Work {
  readonly how: string
  readonly steps: readonly Step[]
  readonly requestTimeout: number
}

const LASTING: Work = { how: 'signed in for long', steps: LASTING_STEPS, requestTimeout: 5_000 }
const LARGE: Work = { how: 'signed in, with much to send', steps: LARGE_STEPS, requestTimeout: 20_000 }

/** The tokens of the clients expire several times, and the server restarts once. */
export const LASTING_STAGE = stageOf(scenarioOf(LASTING), async (libraries) => {
  const managed = await startManaged({ settings: { 'token-ttl': SHORT_TTL } })
  let running = managed.waypost
  const restart = sleep(RESTART_AFTER_MS).then(async () => void (running = await running.restart()))
  try {
    return await takeAll(libraries, managed, LASTING)
  } finally {
    await restart
    await running.stop()
  }
})

/** Clients with much to send. */
export const LARGE_STAGE = stageOf(scenarioOf(LARGE), async (libraries) => {
  const managed = await startManaged()
  try {
    return await takeAll(libraries, managed, LARGE)
  } finally {
    await managed.waypost.stop()
  }
})

function scenarioOf({ how, steps }: Work): Scenario {
  return { title: `does what it does, ${how}`, steps: steps.map(({ title }) => title) }
}

async function takeAll(
  libraries: readonly Library[],
  { waypost, ask, addUser }: ManagedWaypost,
  { steps, requestTimeout }: Work,
): Promise<LibraryResults> {
  await addUser(USER)
  const spec = { servers: [`127.0.0.1:${waypost.port}`], ...signedIn(USER), requestTimeout }
  return withEach(libraries, (library) =>
    takeSteps(able(library, steps), { run: runOf(library), client: clientsOf(library, spec), ask }),
  )
}
