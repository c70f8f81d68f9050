import type { Stream } from '../jobs.ts'
import { type Figures, latencies, startClients, watch } from '../scenario.ts'
import type { Target } from '../target.ts'
import { registerSet } from './closed-loops.ts'

const SET = { base: 'moderate', count: 1_000, perService: 10, lasting: true }

/** The requests per second, and the number of connections. */
const RATES = {
  read: { perSecond: 1_000, connections: 16 },
  list: { perSecond: 1_000, connections: 16 },
  publish: { perSecond: 200, connections: 16 },
} as const

/** The latencies of clients and the delay of the event loop. */
export interface Felt {
  readonly read: Figures
  readonly others: Figures
  readonly loop: Figures
}

/**
 * Reads, lists and publishes at a moderate constant rate. The items `filled-0` and following must exist. Publishes are of
 * other items.
 */
export async function moderateLoad(target: Target, items: number, seconds: number): Promise<Felt> {
  await registerSet(target, SET)
  const streams: Record<keyof typeof RATES, Stream> = {
    read: { kind: 'read', base: 'filled', count: items },
    list: { kind: 'list', base: SET.base, services: SET.count / SET.perService },
    publish: { kind: 'publish', base: 'moderate', count: 500 },
  }
  const spent = await watch(target)
  const load = async (name: keyof typeof RATES) => {
    const clients = startClients()
    const job = {
      job: 'open-loop',
      base: target.base,
      stream: streams[name],
      ...RATES[name],
      seconds,
    } as const
    return clients.load(job).finally(() => clients.stop())
  }
  const [read, list, publish] = await Promise.all([load('read'), load('list'), load('publish')])
  const loop = await spent(read.answered + list.answered + publish.answered)
  const failed = read.failed + list.failed + publish.failed
  const others = { ...latencies(list, 'list '), ...latencies(publish, 'publish '), failed }
  return { read: latencies(read, 'read '), others, loop }
}
