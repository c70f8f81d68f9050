import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { projectRoot } from './project.ts'

/** The options of a run. */
export interface Options {
  readonly quick: boolean
  /** The names of scenarios, or their beginnings; undefined: all that are not long. */
  readonly only: readonly string[] | undefined
  readonly rounds: number
  /** Undefined by default: some scenarios then have fewer rounds, and some loads have their own length. */
  readonly askedRounds: number | undefined
  readonly seconds: number
  readonly askedSeconds: number | undefined
  readonly json: string | undefined
  readonly peer: string | undefined
  /** The built main.js of our server. */
  readonly main: string
  /** Other built main.js, to compare with ours. */
  readonly also: readonly string[]
  /** Processor time by station, instead of scenarios. */
  readonly stations: boolean
  /** Our server with authentication on is measured too. */
  readonly isSignedIn: boolean
  /** Our server as one of several is measured too, alone on an etcd of its own. */
  readonly isOnEtcd: boolean
  readonly urls: readonly string[]
}

/** The output of `npm run bench -- --help`. */
export const HELP = `npm run bench -- [options]
  --quick          two minutes instead of half an hour: fewer and shorter rounds
  --only a,b       run only these scenarios (the beginning of a name is enough, but for grpc-idle-most); long ones need this option
  --rounds N       number of rounds per scenario; figures are medians
  --seconds N      duration of each load
  --peer FILE      compare with the Rust server r-nacos of this binary (or of the environment variable RNACOS)
  --main FILE      the built main.js of our server (default: dist/main.js, which is built first)
  --also FILE      compare with another built main.js, for example of an earlier version (repeatable)
  --signed-in      compare with our server with authentication on (list, read and beat)
  --on-etcd        compare with our server on etcd (list, read and beat)
  --url BASE[,PID] compare with a running server, for example http://127.0.0.1:8848/nacos/v1 (repeatable)
  --stations       processor time by station, of our server and of --also, instead of scenarios
  --json FILE      write the figures of every round as JSON
  --list           list the scenarios, and which are long
`

/** Parses the arguments. Throws an Error with the reason if they are wrong. */
export function readOptions(
  args: readonly string[],
): Options & { readonly list: boolean; readonly help: boolean } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      json: { type: 'string' },
      peer: { type: 'string' },
      main: { type: 'string', default: join(projectRoot, 'dist', 'main.js') },
      also: { type: 'string', multiple: true, default: [] },
      stations: { type: 'boolean', default: false },
      'signed-in': { type: 'boolean', default: false },
      'on-etcd': { type: 'boolean', default: false },
      url: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { quick, list, help, stations } = values
  const askedRounds = positive('rounds', values.rounds)
  const askedSeconds = positive('seconds', values.seconds)
  return {
    quick,
    list,
    help,
    stations,
    only: values.only?.split(','),
    rounds: askedRounds ?? (quick ? 2 : 5),
    askedRounds,
    seconds: askedSeconds ?? (quick ? 1 : 5),
    askedSeconds,
    json: values.json,
    peer: values.peer ?? process.env['RNACOS'],
    main: resolve(values.main),
    also: values.also,
    isSignedIn: values['signed-in'],
    isOnEtcd: values['on-etcd'],
    urls: values.url,
  }
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`--${name} must be a whole number from 1, but is "${text}".`)
}
