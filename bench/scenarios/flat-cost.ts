import { requestPaths } from '../paths.ts'
import type { Stream } from '../jobs.ts'
import type { InstanceSet } from '../request-text.ts'
import type { Bench, Figures, Scenario } from '../scenario.ts'
import { figureOf, lengthOf, loadOnce, untilAtRest, watch } from '../scenario.ts'
import type { Target } from '../target.ts'
import type { RequestTemplate, Script } from '../wrk.ts'
import { type Loop, measureLoop, registerSet } from './closed-loops.ts'

/** One operation: its own script, or a request to a URL. */
interface Operation {
  readonly name: string
  readonly script: Script
  readonly path?: keyof ReturnType<typeof requestPaths>
  readonly template?: RequestTemplate
  readonly dialect?: 'nacos'
}

const ITEM = 'dataId={key}&group=DEFAULT_GROUP'

const OPERATIONS: readonly Operation[] = [
  { name: 'list', script: 'list' },
  { name: 'read', script: 'read' },
  { name: 'beat', script: 'beat' },
  { name: 'register', script: 'register' },
  { name: 'publish', script: 'publish' },
  get('detail', 'instance', 'serviceName={key}&ip={ip}&port=8080'),
  get('service', 'service', 'serviceName={key}'),
  get('service page', 'services', 'pageNo=1&pageSize=10'),
  { ...get('show=all', 'configs', `${ITEM}&show=all`), dialect: 'nacos' },
  // A poll with another md5 is answered at once.
  {
    name: 'listener',
    script: 'template',
    path: 'listener',
    template: {
      method: 'POST',
      form: 'Listening-Configs={key}%02DEFAULT_GROUP%02x%01',
      header: 'Long-Pulling-Timeout: 30000',
    },
  },
  get('history', 'history', `${ITEM}&search=accurate&pageNo=1&pageSize=1`),
  get('namespaces', 'namespaces', ''),
]

function get(name: string, path: NonNullable<Operation['path']>, query: string): Operation {
  return { name, script: 'template', path, template: { method: 'GET', query } }
}

const SIZES = [100, 10_000, 100_000]

const operations: readonly Scenario[] = SIZES.map((count) => ({
  name: `flat-${count}`,
  about: `processor µs of each operation with ${count.toLocaleString('en')} services of one instance and as many items`,
  kinds: ['ours'],
  rounds: 3,
  series: 'flat',
  parts: OPERATIONS.length,
  warmUp: true,
  notQuick: count > 10_000,
  prepare: (target) => publishAll(target, count),
  measure: (target, bench, round) => costAt(target, bench, { count, round }),
}))

/**
 * In closed loops a small set needs fewer writes: if an instance changes hundreds of times a second, only its last state is
 * written, and if it comes and goes as often, most states are never written. At this rate each change is written at each
 * size: each of 100 instances changes five times a second, and changes are written ten times a second.
 */
const CHANGES_PER_SECOND = 500
const CHANGES = ['register', 'rejoin'] as const

const changes: readonly Scenario[] = SIZES.map((count) => ({
  name: `flat-changes-${count}`,
  about:
    `processor µs of a registration that changes an instance, and of one that leaves or comes back, of ${count.toLocaleString('en')} ` +
    `services of one instance, ${CHANGES_PER_SECOND.toLocaleString('en')} a second in open loop: each is written`,
  kinds: ['ours'],
  rounds: 3,
  series: 'flat-changes',
  parts: CHANGES.length,
  warmUp: true,
  notQuick: count > 10_000,
  prepare: (target) => registerAndAsk(target, count),
  measure: async (target, { part = 0, ...bench }, round) => {
    const kind = CHANGES[part]!
    const stream = {
      kind: kind === 'register' ? 'change' : kind,
      set: setOf(count),
      version: (round + 2) * ROUND_STEP,
    } as const
    return { [`${kind} µs`]: await costAtRate(target, stream, lengthOf(bench, { quick: 2, full: 8 })) }
  },
}))

/** The measurement before `changes` existed. It runs by name only, to show the difference. */
const closedRejoins: readonly Scenario[] = SIZES.map((count) => ({
  name: `closed-rejoin-${count}`,
  about:
    `processor µs where ${count.toLocaleString('en')} instances leave and come back as fast as they can: the fewer there are, ` +
    'the less of it is written',
  kinds: ['ours'],
  rounds: 3,
  series: 'closed-rejoin',
  warmUp: true,
  long: true,
  prepare: (target) => registerAndAsk(target, count),
  measure: async (target, bench) => {
    const seconds = lengthOf(bench, { quick: 1, full: 2 })
    const loop = { ...setOf(count), script: 'rejoin', connections: 64, seconds, first: 0 } as const
    return { 'rejoin µs': await costOf(target, loop) }
  },
}))

/** The cost of operations with little and with much data. It may grow only if the answer grows. */
export const flatCost: readonly Scenario[] = [...operations, ...changes, ...closedRejoins]

const BASE = 'flat'
/** The first number of a round. No round repeats numbers, because a stored content is no change and is cheaper. */
const ROUND_STEP = 10_000_000

async function costAt(
  target: Target,
  bench: Bench,
  { count, round }: { count: number; round: number },
): Promise<Figures> {
  const set = setOf(count)
  const { part = 0 } = bench
  if (part === 0) await registerAndAsk(target, count)
  const { name } = OPERATIONS[part]!
  const seconds = lengthOf(bench, { quick: 1, full: 2 })
  const first = (round + 2) * ROUND_STEP
  const loop = { ...set, ...requestOf(name, target), connections: 64, seconds, first }
  return { [`${name} µs`]: await costOf(target, loop) }
}

/**
 * Processor µs of a request, starting with a collected heap. Otherwise the garbage of the last measurement could be
 * collected during this one or the next, by chance, at a cost that depends on the stored data.
 */
async function costOf(target: Target, loop: Loop): Promise<number> {
  await target.collect()
  return figureOf(await measureLoop(target, loop), 'cpu µs')
}

/** The same for requests at a constant rate, including the deferred work of the server. */
async function costAtRate(target: Target, stream: Stream, seconds: number): Promise<number> {
  await target.collect()
  const spent = await watch(target)
  const { base } = target
  const job = {
    job: 'open-loop',
    base,
    stream,
    connections: 16,
    perSecond: CHANGES_PER_SECOND,
    seconds,
  } as const
  const { answered } = await loadOnce(job)
  await untilAtRest(target)
  return figureOf(await spent(answered), 'cpu µs')
}

async function registerAndAsk(target: Target, count: number): Promise<void> {
  const set = setOf(count)
  await registerSet(target, set)
  // The first list after a change builds the answer, and the first beat of an instance is parsed completely. This measures
  // the later ones.
  await listAll(target, count)
  await beatAll(target, set)
  await untilAtRest(target)
}

function setOf(count: number): InstanceSet {
  return { base: BASE, count, perService: 1, lasting: true }
}

/** The requests of an operation. Throws for an unknown name. */
export function requestOf(name: string, { base }: Target) {
  const operation = OPERATIONS.find((each) => each.name === name)
  if (operation === undefined) throw new Error(`The table of flat cost has no operation ${name}.`)
  const { script, path, template, dialect } = operation
  if (script !== 'template') return { script }
  const paths = requestPaths(dialect === undefined ? base : base.replace('/svc/', `/${dialect}/`))
  return { script, url: paths[path!], template: template! }
}

async function publishAll({ base }: Target, count: number): Promise<void> {
  const stream = { kind: 'publish', base: BASE, count } as const
  await loadOnce({ job: 'closed-loop', base, stream, connections: 64, requests: count })
}

async function beatAll({ base }: Target, set: InstanceSet): Promise<void> {
  const stream = { kind: 'beat', set } as const
  await loadOnce({ job: 'closed-loop', base, stream, connections: 32, requests: set.count })
}

async function listAll({ base }: Target, services: number): Promise<void> {
  const stream = { kind: 'list', base: BASE, services } as const
  await loadOnce({ job: 'closed-loop', base, stream, connections: 16, requests: services })
}
