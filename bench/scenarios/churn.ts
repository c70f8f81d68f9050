import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Bench,
  type Figures,
  latencies,
  lengthOf,
  type Scenario,
  startClients,
  watch,
} from '../scenario.ts'
import type { Target } from '../target.ts'
import { registerSet } from './closed-loops.ts'

const CHANGES_PER_SECOND = 50
const LENGTH = { quick: 6, full: 20 }

/** Large services whose instances change continuously. */
export const churn: readonly Scenario[] = [
  {
    name: 'push-500',
    about:
      'a service of 500 instances, 50 changes/s, 1,000 subscribers over UDP: from the change until each has it',
    kinds: ['ours', 'other'],
    rounds: 1,
    measure: pushToSubscribers,
  },
  {
    name: 'churn-5000',
    about: 'a service of 5,000 instances, 50 changes/s, 1,000 clients that list it every 3 s',
    kinds: ['ours', 'peer', 'other'],
    rounds: 1,
    notQuick: true,
    measure: listUnderChurn,
  },
]

async function pushToSubscribers(target: Target, bench: Bench): Promise<Figures> {
  const set = { base: 'pushed', count: 500, perService: 500 }
  await registerSet(target, set)
  const stopBeats = keepBeating(target, set)
  const clients = startClients()
  try {
    const spent = await watch(target)
    const result = await clients.load({
      job: 'push',
      base: target.base,
      set,
      subscribers: 1_000,
      changesPerSecond: CHANGES_PER_SECOND,
      seconds: lengthOf(bench, LENGTH),
    })
    return { ...latencies(result, 'push '), failed: result.failed, ...(await spent(0)) }
  } finally {
    await clients.stop()
    await stopBeats()
  }
}

async function listUnderChurn(target: Target, bench: Bench): Promise<Figures> {
  const { base } = target
  const set = { base: 'churned', count: 5_000, perService: 5_000 }
  await registerSet(target, set)
  const stopBeats = keepBeating(target, set)
  const [changers, listers] = [startClients(), startClients()]
  const seconds = lengthOf(bench, LENGTH)
  try {
    const spent = await watch(target)
    const register = { kind: 'register', set, version: 1 } as const
    const changes = changers.load({
      job: 'open-loop',
      base,
      stream: register,
      connections: 4,
      perSecond: CHANGES_PER_SECOND,
      seconds,
    })
    const list = { kind: 'list', base: set.base, services: 1 } as const
    const lists = await listers.load({
      job: 'open-loop',
      base,
      stream: list,
      connections: 1_000,
      perSecond: 1_000 / 3,
      seconds,
    })
    const changed = await changes
    return {
      'lists /s': (lists.answered / lists.elapsedMs) * 1_000,
      failed: lists.failed + changed.failed,
      ...latencies(lists, 'list '),
      ...latencies(changed, 'change '),
      ...(await spent(lists.answered)),
    }
  } finally {
    await Promise.all([changers.stop(), listers.stop()])
    await stopBeats()
  }
}

/** Sends the beats of instances during a measurement, at the default interval. */
function keepBeating(
  { base }: Target,
  set: { base: string; count: number; perService: number },
): () => Promise<void> {
  const clients = startClients()
  let going = true
  const beating = (async () => {
    while (going) {
      const perSecond = set.count / 5
      await clients.load({
        job: 'open-loop',
        base,
        stream: { kind: 'beat', set },
        connections: 4,
        perSecond,
        seconds: 5,
      })
      await sleep(1)
    }
  })()
  return async () => {
    going = false
    await beating
    await clients.stop()
  }
}
