import { loadLine } from './machine.ts'
import { begin, type Measured } from './operations.ts'
import { type ServerProfile, Sources } from './profile.ts'
import { BEGIN_PROFILE, END_PROFILE } from './probe-messages.ts'
import { processorMs, threadsUs } from './process-usage.ts'
import { figureOf } from './scenario.ts'
import { STATION_NAMES, sumByStation } from './stations.ts'
import { aligned } from './table.ts'
import type { Launch, Target } from './target.ts'

/** The operations whose time is shown by station. */
const OPERATIONS = ['publish', 'register', 'batch', 'push', 'listen']
const ROUNDS = 4
/** Threads of Node.js and of the store that run no JavaScript. */
const OTHER_THREADS = 'threads without JavaScript'

/** Processor µs of a request by station. */
type Costs = ReadonlyMap<string, number>

/** Prints a table for each operation: a line for each station, a column for each build. */
export async function printStations(launches: Readonly<Record<string, Launch>>): Promise<void> {
  for (const operation of OPERATIONS) {
    const columns = await profileAll(operation, launches)
    console.log(`## ${operation}, processor µs by station\n\n${tableOf(columns)}\n\n(${loadLine()})\n`)
  }
}

/** The builds take turns, round by round. */
async function profileAll(
  operation: string,
  launches: Readonly<Record<string, Launch>>,
): Promise<Map<string, Costs>> {
  const running: { name: string; target: Target; measured: Measured; costs: Costs[] }[] = []
  const targets: Target[] = []
  try {
    for (const [name, launch] of Object.entries(launches)) {
      const target = await launch({ isProfiled: true })
      targets.push(target)
      running.push({ name, target, measured: await begin(operation, target), costs: [] })
    }
    // Round -1 warms up.
    for (let round = -1; round < ROUNDS; round++)
      for (const { target, measured, costs } of running) {
        const found = await profileRound(target, measured, round)
        if (round >= 0) costs.push(found)
      }
    return new Map(running.map(({ name, costs }) => [name, meanOf(costs)]))
  } finally {
    await Promise.all(running.map(({ measured }) => measured.end()))
    await Promise.all(targets.map((target) => target.stop()))
  }
}

async function profileRound(target: Target, measured: Measured, round: number): Promise<Costs> {
  const ask = target.ask!
  const pid = target.pid!
  const [beforeUs, beforeMs] = [threadsUs(pid), processorMs(pid)]
  await ask(BEGIN_PROFILE)
  const us = figureOf(await measured.round(round), 'cpu µs')
  const requests = ((processorMs(pid) - beforeMs) * 1_000) / us
  const profile = (await ask(END_PROFILE)) as ServerProfile
  // The threads of the profiler have ended, so that they do not count.
  const usedUs = threadsUs(pid) - beforeUs
  const sources = new Sources()
  const sums = sumByStation(profile, (frame) => sources.nameOf(frame))
  const inJavaScript = [...sums.values()].reduce((sum, stationUs) => sum + stationUs, 0)
  sums.set(OTHER_THREADS, Math.max(0, usedUs - inJavaScript))
  return new Map([...sums].map(([station, stationUs]) => [station, stationUs / requests]))
}

function meanOf(rounds: readonly Costs[]): Costs {
  const mean = (name: string): number =>
    rounds.reduce((sum, costs) => sum + (costs.get(name) ?? 0), 0) / rounds.length
  return new Map([...STATION_NAMES, OTHER_THREADS].map((name) => [name, mean(name)]))
}

function tableOf(columns: ReadonlyMap<string, Costs>): string {
  const all = [...columns.values()]
  const lineOf = (name: string, values: readonly number[]): string[] => [
    name,
    ...values.map((value) => value.toFixed(1)),
  ]
  const lines = [...STATION_NAMES, OTHER_THREADS]
    .map((name) => ({ name, values: all.map((costs) => costs.get(name)!) }))
    .filter(({ values }) => values.some((value) => value >= 0.05))
    .map(({ name, values }) => lineOf(name, values))
  const sums = all.map((costs) => [...costs.values()].reduce((sum, cost) => sum + cost, 0))
  return aligned([['', ...columns.keys()], ...lines, lineOf('together', sums)])
}
