import { writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { loadLine, machineLine } from './machine.ts'
import { HELP, type Options, readOptions } from './options.ts'
import type { Bench, Figures, Scenario } from './scenario.ts'
import { churn } from './scenarios/churn.ts'
import { closedLoops, LIST_SET, prepareReads, READ_BASE } from './scenarios/closed-loops.ts'
import { flatCost } from './scenarios/flat-cost.ts'
import { heldPolls } from './scenarios/held-polls.ts'
import { manyInstances } from './scenarios/many-instances.ts'
import { startAndIdle } from './scenarios/start-and-idle.ts'
import { launchPeer } from './peer.ts'
import { ratiosOf, type Row, tableOf } from './table.ts'
import { foundTarget, launchFloor, launchOurs, type Launch, type Target } from './target.ts'
import { hasWrk } from './wrk.ts'

const SCENARIOS: readonly Scenario[] = [
  ...closedLoops,
  ...heldPolls,
  ...manyInstances,
  ...churn,
  ...startAndIdle,
  ...flatCost,
]

/** What ratios are told of. */
const COMPARED = ['rate /s', 'cpu µs', 'p99 ms', 'last ms', 'KB a poll', 'core %', 'rss MB', 'start ms']

/** The bench as a command. Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options.help) return say(HELP)
  if (options.list)
    return say(
      SCENARIOS.map(({ name, about, long }) => `${name}  ${about}${long ? ' (long)' : ''}\n`).join(''),
    )
  if (!hasWrk())
    throw new Error('The bench needs wrk: install it from your package manager (apt-get install wrk).')
  const chosen = SCENARIOS.filter((scenario) => isChosen(scenario, options))
  if (chosen.length === 0)
    throw new Error(`There is no scenario ${options.only?.join(', ')}: --list names them.`)
  console.log(`${machineLine()}\nMedians of ${options.rounds} rounds; ratios hold within one run only.\n`)
  const results: { scenario: string; rows: readonly Row[] }[] = []
  let failures = 0
  for (const scenario of chosen) {
    console.log(`## ${scenario.name}\n${scenario.about}`)
    try {
      const rows = await run(scenario, options)
      results.push({ scenario: scenario.name, rows })
      const ratios = ratiosOf(rows, COMPARED)
      console.log(`\n${tableOf(rows)}\n${ratios === undefined ? '' : `\n${ratios}\n`}\n(${loadLine()})\n`)
    } catch (error) {
      failures++
      console.log(`\nFailed: ${error instanceof Error ? error.message : String(error)}\n`)
    }
  }
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ machine: machineLine(), options, results }, null, 2)}\n`)
  return failures > 0 ? 1 : 0
}

function isChosen({ name, long, notQuick }: Scenario, { only, quick }: Options): boolean {
  if (only === undefined) return !long && !(quick && notQuick)
  return only.some((word) => name === word || name.startsWith(`${word}-`))
}

/** All rounds of one scenario: in each, every target has its turn. */
async function run(scenario: Scenario, options: Options): Promise<Row[]> {
  const launches = launchesOf(options)
  const dist = dirname(options.main)
  const bench: Bench = {
    quick: options.quick,
    rounds: options.rounds,
    seconds: options.seconds,
    launches,
    dist,
  }
  const most = scenario.rounds ?? (options.quick && scenario.freshRounds ? 1 : Infinity)
  const rounds = Math.min(options.rounds, most)
  const found = new Map<string, Figures[]>()
  const note = (name: string, figures: Figures): void =>
    void found.set(name, [...(found.get(name) ?? []), figures])
  let targets: Target[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      if (!scenario.freshRounds && round === 0) {
        targets = await startAll(scenario, bench)
        if (scenario.warmUp)
          for (const target of targets) await scenario.measure(target, { ...bench, seconds: 1 }, -1)
      }
      if (scenario.freshRounds) {
        for (const name of Object.keys(launches)) {
          const [target] = (targets = await startAll(scenario, bench, name))
          if (target !== undefined) note(target.name, await scenario.measure(target, bench, round))
          await stopAll(targets)
        }
      } else for (const target of targets) note(target.name, await scenario.measure(target, bench, round))
      if (scenario.beside) note(scenario.beside.name, await scenario.beside.measure(bench))
    }
  } finally {
    await stopAll(targets)
  }
  return [...found].map(([target, all]) => ({ target, rounds: all }))
}

function launchesOf({ main: mainFile, peer, also, urls }: Options): Record<string, Launch> {
  const ours = launchOurs('ours', mainFile)
  const launches: Record<string, Launch> = { ours, floor: floorLike(ours) }
  if (also !== undefined) launches['also'] = launchOurs('also', resolve(also))
  if (peer !== undefined) launches['peer'] = launchPeer(resolve(peer))
  for (const url of urls) launches[url] = foundTarget(url)
  return launches
}

/** A floor needs answers to give: a server of ours is asked for them, and stopped again. */
function floorLike(ours: Launch): Launch {
  return async () => {
    const model = await ours()
    try {
      await prepareReads(model)
      return await launchFloor(model, { service: `${LIST_SET.base}-0`, dataId: `${READ_BASE}-0` })()
    } finally {
      await model.stop()
    }
  }
}

async function startAll(scenario: Scenario, bench: Bench, only?: string): Promise<Target[]> {
  const targets: Target[] = []
  for (const [name, launch] of Object.entries(bench.launches)) {
    if ((only !== undefined && only !== name) || !scenario.kinds.includes(kindOf(name))) continue
    const target = await launch()
    targets.push(target)
    await scenario.prepare?.(target, bench)
  }
  return targets
}

function kindOf(name: string): Target['kind'] {
  if (name === 'floor' || name === 'peer') return name
  return name === 'ours' || name === 'also' ? 'ours' : 'other'
}

async function stopAll(targets: Target[]): Promise<void> {
  await Promise.all(targets.splice(0).map((target) => target.stop()))
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}
