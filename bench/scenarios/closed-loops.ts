import { requestPaths } from '../paths.ts'
import type { InstanceSet } from '../request-text.ts'
import type { Bench, Figures, Scenario } from '../scenario.ts'
import { loadOnce, untilAtRest, watch, withRest } from '../scenario.ts'
import type { Target } from '../target.ts'
import { type ClosedLoop, runWrk, type Script } from '../wrk.ts'
import { callersAlone } from './callers-alone.ts'

const CONNECTIONS = 64
const ALL = ['ours', 'on-etcd', 'signed-in', 'floor', 'peer', 'other'] as const
const SERVERS = ['ours', 'floor', 'peer', 'other'] as const

/** The service and the item of list and read. The floor has the answers for them. */
export const LIST_SET = { base: 'list', count: 10, perService: 10 }
export const READ_BASE = 'read'

/** Creates the data of list and read. */
export async function prepareReads({ base, authorization }: Target): Promise<void> {
  await loadOnce({
    job: 'closed-loop',
    base,
    authorization,
    stream: { kind: 'register', set: LIST_SET, version: 0 },
    connections: 1,
    requests: 10,
  })
  await loadOnce({
    job: 'closed-loop',
    base,
    authorization,
    stream: { kind: 'publish', base: READ_BASE, count: 1 },
    connections: 1,
    requests: 1,
  })
}

const BEAT_SET = { base: 'beat', count: 1_000, perService: 10, lasting: true }

/** Registers a set of instances. */
export async function registerSet(target: Target, set: InstanceSet): Promise<void> {
  const stream = { kind: 'register', set, version: 0 } as const
  const { base, authorization } = target
  await loadOnce({ job: 'closed-loop', base, authorization, stream, connections: 32, requests: set.count })
}

type Scripted = Omit<ClosedLoop, 'url' | 'script'> & { readonly script: Exclude<Script, 'template'> }
type Templated = ClosedLoop & { readonly script: 'template' }

/** A closed loop on the operation of a script, or a template with its own URL. */
export type Loop = Scripted | Templated

/** A closed loop of wrk with its processor time, including the work after the last answer. */
export async function measureLoop(target: Target, loop: Loop): Promise<Figures> {
  const { list, configs, instance, beat } = requestPaths(target.base)
  const urls = { list, read: configs, register: instance, rejoin: instance, beat, publish: configs }
  const url = loop.script === 'template' ? loop.url : urls[loop.script]
  const spent = await watch(target)
  const { requests, seconds, p50Ms, p99Ms, p999Ms } = await runWrk({
    ...loop,
    url,
    authorization: target.authorization,
  })
  const latencies = { 'p50 ms': p50Ms, 'p99 ms': p99Ms, 'p99.9 ms': p999Ms }
  const figures = { 'rate /s': requests / seconds, ...latencies, ...(await spent(requests)) }
  return await withRest(target, requests, figures)
}

/** The distance of the first numbers of two rounds, so that no round repeats the numbers of another. */
const ROUND_STEP = 10_000_000

function loop(
  script: Scripted['script'],
  keys: Pick<ClosedLoop, 'base' | 'count' | 'perService' | 'lasting'>,
  connections = CONNECTIONS,
) {
  return (target: Target, { seconds }: Bench, round: number): Promise<Figures> =>
    measureLoop(target, { script, ...keys, connections, seconds, first: (round + 1) * ROUND_STEP })
}

const onList = loop('list', { base: LIST_SET.base, count: 1 })
const onRead = loop('read', { base: READ_BASE, count: 1 })
const onBeat = loop('beat', BEAT_SET)

/** Lasting, because otherwise they expire during what is measured next, or while another server has its turn. */
const CHANGED = { count: 20_000, lasting: true }

const loops: readonly Scenario[] = [
  {
    name: 'list',
    about: 'instance list of 10 instances, 64 connections, closed loop',
    kinds: ALL,
    prepare: (target) => prepareUnlessFloor(target, prepareReads),
    measure: async (target, bench, round) => {
      // Ephemeral instances expire while other servers are measured, so they beat before the turn of this one.
      await prepareUnlessFloor(target, prepareReads)
      return onList(target, bench, round)
    },
  },
  {
    name: 'read',
    about: 'read of an item of 1.5 KB, 64 connections, closed loop',
    kinds: ALL,
    prepare: (target) => prepareUnlessFloor(target, prepareReads),
    measure: onRead,
  },
  {
    name: 'register',
    about:
      'registrations that each change one of 20,000 instances, 10 in a service, form body with JSON metadata, 64 connections',
    kinds: SERVERS,
    measure: loop('register', { base: 'register', ...CHANGED, perService: 10 }),
  },
  {
    name: 'register-wide',
    about:
      'the same in services of 500 instances: what a registration costs depends on the size of its service',
    kinds: SERVERS,
    notQuick: true,
    measure: loop('register', { base: 'wide', ...CHANGED, perService: 500 }),
  },
  {
    name: 'beat',
    about: 'full beats of 1,000 instances, JSON in the query, 64 connections, closed loop',
    kinds: ALL,
    measure: async (target, bench, round) => {
      await prepareUnlessFloor(target, (server) => registerSet(server, BEAT_SET))
      return onBeat(target, bench, round)
    },
  },
  {
    name: 'publish',
    about: 'new contents of 1.5 KB for 1,000 items, 64 connections, closed loop',
    kinds: SERVERS,
    measure: loop('publish', { base: 'publish', count: 1_000 }),
    besides: callersAlone(64),
  },
  {
    name: 'publish-lone',
    about: 'new contents of 1.5 KB, one connection: one fsync each',
    kinds: SERVERS,
    notQuick: true,
    measure: loop('publish', { base: 'publish', count: 1_000 }, 1),
    besides: callersAlone(1),
  },
]

/** The operations in closed loops: the highest rate of a server, and its processor time. */
export const closedLoops: readonly Scenario[] = loops.map((each) => ({ ...each, warmUp: true }))

async function prepareUnlessFloor(target: Target, prepare: (target: Target) => Promise<void>): Promise<void> {
  if (target.kind === 'floor') return
  await prepare(target)
  await untilAtRest(target)
}
