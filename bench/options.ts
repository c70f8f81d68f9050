import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { projectRoot } from './project.ts'

/** What a run was asked for. */
export interface Options {
  readonly quick: boolean
  /** The names of the scenarios, or the beginnings of names; undefined: all that are not long. */
  readonly only: readonly string[] | undefined
  readonly rounds: number
  /** What was asked for; undefined: some scenarios have fewer rounds, some loads a length of their own. */
  readonly askedRounds: number | undefined
  readonly seconds: number
  readonly askedSeconds: number | undefined
  readonly json: string | undefined
  readonly peer: string | undefined
  /** The built main.js that is measured as ours. */
  readonly main: string
  /** Another built main.js to measure beside ours. */
  readonly also: string | undefined
  readonly urls: readonly string[]
}

/** What `npm run bench -- --help` prints. */
export const HELP = `npm run bench -- [options]
  --quick          about two minutes instead of half an hour: fewer rounds, shorter ones
  --only a,b       only these scenarios (the beginning of a name is enough); long ones run only so
  --rounds N       how often each is measured; figures are medians
  --seconds N      how long each load runs
  --peer FILE      the binary of the Rust server r-nacos to measure beside (or the environment variable RNACOS)
  --main FILE      the built main.js to measure as ours (dist/main.js, which is built first)
  --also FILE      another built main.js to measure beside, e.g. of the version before
  --url BASE[,PID] a running server to measure beside, e.g. http://127.0.0.1:8848/nacos/v1 (repeatable)
  --json FILE      writes every round's figures as JSON
  --list           names the scenarios, and which of them run only by name
`

/** Reads the arguments; throws an Error that says what is wrong. */
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
      also: { type: 'string' },
      url: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { quick, list, help } = values
  const askedRounds = positive('rounds', values.rounds)
  const askedSeconds = positive('seconds', values.seconds)
  return {
    quick,
    list,
    help,
    only: values.only?.split(','),
    rounds: askedRounds ?? (quick ? 2 : 5),
    askedRounds,
    seconds: askedSeconds ?? (quick ? 1 : 5),
    askedSeconds,
    json: values.json,
    peer: values.peer ?? process.env['RNACOS'],
    main: resolve(values.main),
    also: values.also,
    urls: values.url,
  }
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`--${name} must be a whole number from 1, but is "${text}".`)
}
