import { isLong } from '../../fault-run.ts'
import { CUT, OPEN, type Passing } from '../network/gate.ts'
import type { StruckServer } from '../network/struck-cluster.ts'
import { expect } from 'vitest'
import {
  type Form,
  holds,
  LEASE_MS,
  metricOf,
  pause,
  readinessOf,
  registerSilent,
  seconds,
  type Strike,
} from './scene.ts'
import { REMOVE_MS } from '../load/beating.ts'

/** Long enough for a lease to end and for instances to be judged afterwards. */
const CUT_MS = LEASE_MS + 6_000
const QUESTIONS_LOST: Passing = { questions: false, answers: true }
const ANSWERS_LOST: Passing = { questions: true, answers: false }

/** Strikes against connections: between a server and etcd, and between servers. */
export const CUT_STRIKES: readonly Strike[] = [
  cutFromEtcd('a server cut off from etcd', { form: 'change', cut: (server) => server.toEtcd(CUT) }),
  cutFromEtcd('a server cut off from etcd and from the others', {
    form: 'long',
    cut: (server) => {
      server.toEtcd(CUT)
      server.toPeers(CUT)
      server.fromPeers(CUT)
    },
  }),
  cutFromEtcd('a server whose questions do not reach etcd, while answers arrive', {
    form: 'long',
    cut: (server) => server.toEtcd(QUESTIONS_LOST),
  }),
  cutFromEtcd('a server that gets no answers of etcd, while its questions arrive', {
    form: 'long',
    cut: (server) => server.toEtcd(ANSWERS_LOST),
  }),
  cutFromPeers('a server cut off from the others', {
    form: 'long',
    isWhole: true,
    cut: (server) => {
      server.toPeers(CUT)
      server.fromPeers(CUT)
    },
  }),
  cutFromPeers('a server that cannot ask the others, but is asked', {
    form: 'long',
    cut: (server) => server.toPeers(CUT),
  }),
  cutFromPeers('a server that can ask the others, but does not answer them', {
    form: 'night',
    cut: (server) => server.fromPeers(CUT),
  }),
  {
    name: 'the watch interrupted again and again while a server catches up',
    form: 'long',
    struck: () => [1],
    isHiddenFromOthers: true,
    async run({ cluster: { servers } }) {
      const server = servers[1]!
      server.toEtcd(CUT)
      await pause(LEASE_MS + 2_000)
      server.toEtcd(OPEN)
      for (let round = 0; round < 30; round++) {
        server.breakEtcd()
        await pause(100)
      }
    },
  },
  {
    name: 'answers of etcd lost after the commit, for all servers',
    form: 'night',
    struck: () => [0, 1, 2],
    staysReady: true,
    async run({ cluster: { servers } }) {
      for (let round = 0; round < 8; round++)
        for (const server of servers) {
          server.toEtcd(ANSWERS_LOST)
          await pause(150)
          server.breakEtcd()
          server.toEtcd(OPEN)
          await pause(200)
        }
    },
  },
]

interface CutOptions {
  readonly form: Form
  readonly cut: (server: StruckServer) => void
  /** Whether no question passes between this server and the others, so that nobody can judge. */
  readonly isWhole?: boolean
}

/** Server 2 loses etcd until its lease has ended. */
function cutFromEtcd(name: string, { form, cut }: CutOptions): Strike {
  return {
    name,
    form,
    struck: () => [1],
    isHiddenFromOthers: true,
    async run({ cluster: { servers }, note }) {
      const server = servers[1]!
      cut(server)
      const isCutOff = async (): Promise<boolean> => {
        const { status, text } = await readinessOf(server)
        return status === 503 && text.includes('cut-off')
      }
      const tookMs = await holds('/readyz says cut-off', isCutOff)
      note(`/readyz said cut-off after ${seconds(tookMs)}`)
      await pause(Math.max(CUT_MS - tookMs, 0))
      for (const other of servers.filter((each) => each !== server))
        await holds(`${other.name} is ready`, async () => (await readinessOf(other)).status === 200, 5_000)
      server.heal()
    },
  }
}

/** Server 1 loses the others and keeps its lease: what is silent stays listed until they answer again. */
function cutFromPeers(name: string, { form, cut, isWhole = false }: CutOptions): Strike {
  return {
    name,
    form,
    struck: () => [],
    isHiddenFromOthers: true,
    async run({ cluster: { servers }, note }) {
      cut(servers[0]!)
      const listed = await registerSilent(servers[1]!, 'silent-in-cut')
      await pause(isLong ? 2 * REMOVE_MS + LEASE_MS : REMOVE_MS + 2_000)
      for (const server of servers) {
        await holds(`${server.name} is ready`, async () => (await readinessOf(server)).status === 200, 5_000)
        if (isWhole) expect(await listed(server), `silent instances at ${server.name}`).toBe(5)
      }
      if (isWhole) await holds('a server names the one that does not answer', async () => isAlarming(servers))
      servers[0]!.heal()
      const tookMs = await holds('silent instances leave', async () => (await listed(servers[1]!)) === 0)
      note(`silent instances were gone ${seconds(tookMs)} after the cut`)
    },
  }
}

async function isAlarming(servers: readonly StruckServer[]): Promise<boolean> {
  const counts = await Promise.all(
    servers.map(async (server) => metricOf(server, 'waypost_peer_unanswering_members')),
  )
  return counts.some((count) => count !== undefined && count > 0)
}
