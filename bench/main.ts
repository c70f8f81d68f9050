import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadLine, machineLine } from './machine.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { chosenFrom, groupsOf, measureGroup, type Result } from './rounds.ts'
import type { Bench, Scenario } from './scenario.ts'
import { besideLists } from './scenarios/beside-lists.ts'
import { besideWork } from './scenarios/beside-work.ts'
import { churn } from './scenarios/churn.ts'
import { cluster } from './scenarios/cluster.ts'
import { consoleScenarios } from './scenarios/console.ts'
import { clusterRestart } from './scenarios/cluster-restart.ts'
import { closedLoops, LIST_SET, prepareReads, READ_BASE } from './scenarios/closed-loops.ts'
import { flatCost } from './scenarios/flat-cost.ts'
import { grpcConfig } from './scenarios/grpc-config.ts'
import { grpcNaming } from './scenarios/grpc-naming.ts'
import { heldPolls } from './scenarios/held-polls.ts'
import { manyInstances } from './scenarios/many-instances.ts'
import { startAndIdle } from './scenarios/start-and-idle.ts'
import { writtenBehind } from './scenarios/written-behind.ts'
import { launchOnEtcd } from './etcd.ts'
import { launchPeer } from './peer.ts'
import { printStations } from './station-table.ts'
import { ratiosOf, seriesTable, tableOf } from './table.ts'
import { foundTarget, launchFloor, launchOurs, launchSignedIn, type Launch } from './target.ts'
import { hasWrk } from './wrk.ts'

const SCENARIOS: readonly Scenario[] = [
  ...closedLoops,
  ...heldPolls,
  ...manyInstances,
  ...churn,
  ...writtenBehind,
  besideLists,
  ...besideWork,
  ...startAndIdle,
  ...flatCost,
  ...cluster,
  ...grpcConfig,
  ...grpcNaming,
  clusterRestart,
  ...consoleScenarios,
]

/** The figures with ratios. */
const COMPARED = [
  'rate /s',
  'cpu µs',
  'p99 ms',
  'last ms',
  'KB a poll',
  'KB a connection',
  'last has it ms',
  'core %',
  'rss MB',
  'start ms',
]

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
  if (options.stations) {
    console.log(`${machineLine()}\n`)
    await printStations({ ours: launchOurs('ours', options.main), ...buildsOf(options.also) })
    return 0
  }
  const chosen = chosenFrom(SCENARIOS, options)
  console.log(`${machineLine()}\nMedians of ${options.rounds} rounds; ratios hold within one run only.\n`)
  const results: Result[] = []
  let failures = 0
  for (const group of groupsOf(chosen)) {
    for (const { name, about } of group) console.log(`## ${name}\n${about}`)
    try {
      const found = await measureGroup(group, benchOf(options), options.askedRounds)
      results.push(...found)
      for (const result of found) report(result, found.length > 1)
    } catch (error) {
      failures++
      console.log(`\nFailed: ${error instanceof Error ? error.message : String(error)}\n`)
    }
  }
  for (const table of seriesTables(results)) console.log(`${table}\n`)
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ machine: machineLine(), options, results }, null, 2)}\n`)
  return failures > 0 ? 1 : 0
}

/** The tables that compare the sizes of a series. */
function seriesTables(results: readonly Result[]): string[] {
  const names = new Set(results.map(({ series }) => series).filter((name) => name !== undefined))
  return [...names].flatMap((name) => {
    const members = results.filter(({ series }) => series === name)
    return members.length < 2 ? [] : [`## ${name}, ours\n\n${seriesTable(members)}`]
  })
}

function report({ scenario, rows }: Result, named: boolean): void {
  const ratios = ratiosOf(rows, COMPARED)
  const head = named ? `\n${scenario}` : ''
  console.log(`${head}\n${tableOf(rows)}\n${ratios === undefined ? '' : `\n${ratios}\n`}\n(${loadLine()})\n`)
}

function benchOf(options: Options): Bench {
  const { quick, rounds, seconds, askedSeconds } = options
  return { quick, rounds, seconds, askedSeconds, launches: launchesOf(options) }
}

function launchesOf({
  main: mainFile,
  peer,
  also,
  isSignedIn,
  isOnEtcd,
  urls,
}: Options): Record<string, Launch> {
  const ours = launchOurs('ours', mainFile)
  const launches: Record<string, Launch> = { ours, floor: floorLike(ours) }
  Object.assign(launches, buildsOf(also))
  if (isSignedIn) launches['signed-in'] = launchSignedIn(mainFile)
  if (isOnEtcd) launches['on-etcd'] = launchOnEtcd(mainFile)
  if (peer !== undefined) launches['peer'] = launchPeer(resolve(peer))
  for (const url of urls) launches[url] = foundTarget(url)
  return launches
}

/** Other builds of our server, by their names in tables: `also`, `also-2`. */
function buildsOf(also: Options['also']): Record<string, Launch> {
  const names = also.map((_file, at) => (at === 0 ? 'also' : `also-${at + 1}`))
  return Object.fromEntries(names.map((name, at) => [name, launchOurs(name, resolve(also[at]!))]))
}

/** Captures the answers of the floor from our server, which is stopped afterwards. */
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

function say(text: string): number {
  process.stdout.write(text)
  return 0
}
