import { requestPaths } from '../paths.ts'
import type { Bench, Figures, Scenario } from '../scenario.ts'
import { lengthOf, loadOnce } from '../scenario.ts'
import type { Target } from '../target.ts'
import type { RequestTemplate, Script } from '../wrk.ts'
import { type Loop, measureLoop, registerSet } from './closed-loops.ts'

/** What an operation costs while there is little and while there is much: nothing may grow but what answers more. */
export const flatCost: readonly Scenario[] = [100, 10_000, 100_000].map((count) => ({
  name: `flat-${count}`,
  about: `processor µs of each operation with ${count.toLocaleString('en')} services of one instance and as many items`,
  kinds: ['ours'],
  rounds: 1,
  series: 'flat',
  warmUp: true,
  notQuick: count > 10_000,
  prepare: (target) => publishAll(target, count),
  measure: (target, bench, round) => costsAt(target, bench, { count, first: (round + 2) * ROUND_STEP }),
}))

const BASE = 'flat'
/** No round repeats the numbers of another: a content or metadata that is there already is no change, and cheaper. */
const ROUND_STEP = 10_000_000

async function costsAt(
  target: Target,
  bench: Bench,
  { count, first }: { count: number; first: number },
): Promise<Figures> {
  const set = { base: BASE, count, perService: 1, lasting: true }
  await registerSet(target, set)
  // The first list after a change makes the answer; what is asked for here is what all later ones cost.
  await listAll(target, count)
  const figures: Record<string, number> = {}
  const shared = { connections: 64, seconds: lengthOf(bench, { quick: 1, full: 3 }), ...set, first }
  const measure = async (name: string, loop: Loop): Promise<void> => {
    const { 'cpu µs': us } = await measureLoop(target, loop)
    figures[`${name} µs`] = us!
  }
  for (const script of SCRIPTS) await measure(script, { ...shared, script })
  for (const [name, url, template] of templates(target))
    await measure(name, { ...shared, script: 'template', url, template })
  // Last, because it leaves some of the instances out.
  await measure('rejoin', { ...shared, script: 'rejoin' })
  return figures
}

const SCRIPTS: readonly Exclude<Script, 'template' | 'rejoin'>[] = [
  'list',
  'read',
  'beat',
  'register',
  'publish',
]

/** Operations without a script of their own: name, address, request. */
function templates({ base }: Target): [string, string, RequestTemplate][] {
  const paths = requestPaths(base)
  const other = requestPaths(base.replace('/svc/', '/nacos/'))
  const get = (query: string): RequestTemplate => ({ method: 'GET', query })
  const item = 'dataId={key}&group=DEFAULT_GROUP'
  return [
    ['detail', paths.instance, get('serviceName={key}&ip={ip}&port=8080')],
    ['service', paths.service, get('serviceName={key}')],
    ['service page', paths.services, get('pageNo=1&pageSize=10')],
    ['show=all', other.configs, get(`${item}&show=all`)],
    ['listener', paths.listener, CHANGED_POLL],
    ['history', paths.history, get(`${item}&search=accurate&pageNo=1&pageSize=1`)],
    ['namespaces', paths.namespaces, get('')],
  ]
}

/** A poll that knows another content is answered at once. */
const CHANGED_POLL: RequestTemplate = {
  method: 'POST',
  form: 'Listening-Configs={key}%02DEFAULT_GROUP%02x%01',
  header: 'Long-Pulling-Timeout: 30000',
}

async function publishAll({ base }: Target, count: number): Promise<void> {
  const stream = { kind: 'publish', base: BASE, count } as const
  await loadOnce({ job: 'closed-loop', base, stream, connections: 64, requests: count })
}

async function listAll({ base }: Target, services: number): Promise<void> {
  const stream = { kind: 'list', base: BASE, services } as const
  await loadOnce({ job: 'closed-loop', base, stream, connections: 16, requests: services })
}
