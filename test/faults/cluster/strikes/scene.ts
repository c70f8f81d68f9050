import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { judgeOf } from '../../../../src/core/cluster/judging/judged-services.ts'
import { isLong } from '../../fault-run.ts'
import { ask } from '../load/ask.ts'
import type { ClusterLoad } from '../load/load.ts'
import { REMOVE_MS, STEADY } from '../load/beating.ts'
import type { StruckCluster, StruckServer } from '../network/struck-cluster.ts'

/** A member that does not renew its lease is lost after this, in ms. */
export const LEASE_MS = 10_000
/** Times that are promised get so many times as much in the short form, which runs on slow machines beside other tests. */
export const SLACK = isLong ? 1 : 4
/** How long a condition is waited for that has no promised time. */
const LIMIT_MS = 60_000

/** When a strike is tried: for each change, in the nightly run too, or only in the long form. */
export type Form = 'change' | 'night' | 'long'

/** The dependencies of a strike. */
export interface Scene {
  readonly cluster: StruckCluster
  readonly load: ClusterLoad
  /** Notes a figure of this strike. */
  note(text: string): void
}

/** Something that is done to the servers or to etcd under load. It ends when everything is whole again. */
export interface Strike {
  readonly name: string
  /** The smallest form of the test that has it. */
  readonly form: Form
  /** The indices of the servers that suffer; the clients of the others are looked at apart from theirs. */
  readonly struck: (scene: Scene) => readonly number[]
  /** Whether clients of the other servers must notice nothing. */
  readonly isHiddenFromOthers?: boolean
  /** Whether `/readyz` of the struck servers must be 200 all the time, as `/readyz` of the other servers. */
  readonly staysReady?: boolean
  readonly run: (scene: Scene) => Promise<void>
}

/** Waits until something holds; otherwise the test fails with what it is. Returns how long it took, ms. */
export async function holds(
  what: string,
  check: () => Promise<boolean> | boolean,
  limitMs = LIMIT_MS,
): Promise<number> {
  const fromMs = performance.now()
  while (!(await check())) {
    const tookMs = performance.now() - fromMs
    if (tookMs > limitMs) throw new Error(`not so within ${seconds(limitMs)}: ${what}`)
    await pause(50)
  }
  return performance.now() - fromMs
}

/** The status and the text of `/readyz`; status 0: no answer. */
export async function readinessOf({ url }: StruckServer): Promise<{ status: number; text: string }> {
  const reply = await ask(url, { method: 'GET', path: '/readyz', limitMs: 3_000 })
  return reply.kind === 'answered' ? reply : { status: 0, text: reply.kind }
}

/** Whether all servers are ready without a warning, and count each other as members. */
export async function isWhole({ servers }: StruckCluster): Promise<boolean> {
  const all = await Promise.all(
    servers.map(async (server) => {
      const { status, text } = await readinessOf(server)
      if (status !== 200 || text.includes('warnings')) return false
      return (await metricOf(server, 'waypost_members')) === servers.length
    }),
  )
  return all.every(Boolean)
}

/** A metric without labels; undefined if there is no answer. */
export async function metricOf({ url }: StruckServer, name: string): Promise<number | undefined> {
  const reply = await ask(url, { method: 'GET', path: '/metrics', limitMs: 3_000 })
  if (reply.kind !== 'answered') return undefined
  const line = reply.text.split('\n').find((each) => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

/** The server that judges the beating instances. */
export function judgeOfSteady({ servers }: StruckCluster): StruckServer {
  const key = { namespaceId: 'public', groupedName: `DEFAULT_GROUP@@${STEADY}` }
  const ids = servers.map((server) => server.memberId)
  return servers.find(({ memberId }) => memberId === judgeOf(key, ids))!
}

/** Registers instances that never beat, and counts how many a server lists. */
export async function registerSilent(server: StruckServer, serviceName: string, count = 5) {
  const metadata = JSON.stringify({
    'preserved.heart.beat.timeout': String(REMOVE_MS / 2),
    'preserved.ip.delete.timeout': String(REMOVE_MS),
  })
  for (let port = 1; port <= count; port++) {
    const query = { serviceName, ip: '127.0.4.1', port, metadata }
    const reply = await ask(server.url, { method: 'POST', path: '/svc/v1/ns/instance', query })
    expect(reply).toMatchObject({ status: 200 })
  }
  return async ({ url }: StruckServer): Promise<number> => {
    const request = { method: 'GET', path: '/svc/v1/ns/instance/list', query: { serviceName } }
    const reply = await ask(url, request)
    if (reply.kind !== 'answered' || reply.status !== 200) return -1
    return (JSON.parse(reply.text) as { hosts: unknown[] }).hosts.length
  }
}

/** Waits. */
export const pause = (ms: number): Promise<void> => sleep(ms)

/** A number of seconds as a text. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
