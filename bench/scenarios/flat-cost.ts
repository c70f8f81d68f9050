import { requestPaths } from '../paths.ts'
import type { InstanceSet } from '../request-text.ts'
import type { Bench, Figures, Scenario } from '../scenario.ts'
import { lengthOf, loadOnce } from '../scenario.ts'
import type { Target } from '../target.ts'
import type { RequestTemplate, Script } from '../wrk.ts'
import { type Loop, measureLoop, registerSet } from './closed-loops.ts'

/** One operation: a script of its own, or a request at an address. */
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
  // A poll that knows another content is answered at once.
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
  // Last, because it leaves some of the instances out.
  { name: 'rejoin', script: 'rejoin' },
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
 * What the first table tells of changes is the saving where there is little, too. Here are so many that none changes twice before it is written: of an instance that changes a hundred times a second only the
 * last state is, and the end of one that never was on disk is not written at all.
 */
const CHANGING = 100_000
const CHANGES = ['register', 'rejoin'] as const

const changes: readonly Scenario[] = SIZES.map((services) => ({
  name: `flat-changes-${services}`,
  about:
    'processor µs of a registration that changes an instance, and of one that leaves and comes back by turns, where ' +
    `${services.toLocaleString('en')} services have ${CHANGING.toLocaleString('en')} instances together`,
  kinds: ['ours'],
  rounds: 3,
  series: 'flat-changes',
  // Last rejoin, because it leaves some of the instances out.
  parts: CHANGES.length,
  warmUp: true,
  notQuick: true,
  prepare: (target) => registerSet(target, changingIn(services)),
  measure: async (target, { part = 0, ...bench }, round) => {
    const script = CHANGES[part]!
    const seconds = lengthOf(bench, { quick: 1, full: 2 })
    const first = script === 'register' ? (round + 2) * ROUND_STEP : 0
    const loop = { ...changingIn(services), script, connections: 64, seconds, first }
    return { [`${script} µs`]: await costOf(target, loop) }
  },
}))

/** What an operation costs while there is little and while there is much: nothing may grow but what answers more. */
export const flatCost: readonly Scenario[] = [...operations, ...changes]

const BASE = 'flat'
/** No round repeats the numbers of another: a content or metadata that is there already is no change, and cheaper. */
const ROUND_STEP = 10_000_000

async function costAt(
  target: Target,
  bench: Bench,
  { count, round }: { count: number; round: number },
): Promise<Figures> {
  const set = { base: BASE, count, perService: 1, lasting: true }
  const { part = 0 } = bench
  if (part === 0) {
    await registerSet(target, set)
    // The first list after a change makes the answer, and the first beat of an instance is read in full; what is asked
    // for here is what all later ones cost.
    await listAll(target, count)
    await beatAll(target, set)
  }
  const { name } = OPERATIONS[part]!
  const seconds = lengthOf(bench, { quick: 1, full: 2 })
  const first = (round + 2) * ROUND_STEP
  const loop = { ...set, ...requestOf(name, target), connections: 64, seconds, first }
  return { [`${name} µs`]: await costOf(target, loop) }
}

/**
 * Processor µs of a request, from a heap that has just been collected: whether the garbage of what was measured before is
 * collected beside this one or the next is chance, and the more is kept the more that takes.
 */
async function costOf(target: Target, loop: Loop): Promise<number> {
  await target.collect()
  const { 'cpu µs': us = 0 } = await measureLoop(target, loop)
  return us
}

function changingIn(services: number) {
  return { base: BASE, count: CHANGING, perService: CHANGING / services, lasting: true }
}

/** The requests of an operation of the table of flat cost; throws for a name that it does not have. */
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
