import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../../interface/client.ts'
import { between } from '../random.ts'
import type { RecordedLife, RecordedList, Span } from './check-recording.ts'
import type { ClientOptions } from './config-clients.ts'

const UNHEALTHY_MS = 2_000
const REMOVE_MS = 3_000
const TIMES = `{"preserved.heart.beat.timeout":"${UNHEALTHY_MS}","preserved.ip.delete.timeout":"${REMOVE_MS}"}`
const BEAT_EACH_MS = 400

/**
 * Lives one life after another, each as another instance: registers, beats a while, then falls silent or deregisters.
 * With `forever` there is one life to the end.
 */
export async function instance(
  options: ClientOptions,
  about: { serviceName: string; ip: string; forever: boolean },
): Promise<RecordedLife[]> {
  const lives: RecordedLife[] = []
  for (let port = 1; !options.stopped(); port++) lives.push(await live(options, { ...about, port }))
  return lives
}

async function live(
  options: ClientOptions,
  about: { serviceName: string; ip: string; port: number; forever: boolean },
): Promise<RecordedLife> {
  const { client, random, stopped } = options
  const { serviceName, ip, port } = about
  const address = { serviceName, ip, port }
  const registered = await timed(() => client.post('/ns/instance', { ...address, metadata: TIMES }), options)
  const beats: Span[] = []
  const most = about.forever ? Infinity : between(random, 1, 6)
  while (!stopped() && beats.length < most) {
    await sleep(BEAT_EACH_MS)
    const beat = JSON.stringify({ ...address, cluster: 'DEFAULT', scheduled: true, weight: 1, metadata: {} })
    beats.push(await timed(() => client.put('/ns/instance/beat', { ...address, beat }), options))
  }
  const life = { address: `${ip}:${port}`, unhealthyMs: UNHEALTHY_MS, removeMs: REMOVE_MS, registered, beats }
  if (about.forever || random() < 0.5) return life
  return { ...life, left: await timed(() => client.delete('/ns/instance', address), options) }
}

/** Requests the list of a service again and again. */
export async function lister(options: ClientOptions, serviceName: string): Promise<RecordedList[]> {
  const lists: RecordedList[] = []
  while (!options.stopped()) {
    const begunMs = performance.now()
    const hosts: Json[] = (await options.client.get('/ns/instance/list', { serviceName })).json().hosts
    const endedMs = performance.now()
    lists.push({
      begunMs,
      endedMs,
      hosts: new Map(hosts.map((host) => [`${host.ip}:${host.port}`, host.healthy])),
    })
    await sleep(between(options.random, 5, 30))
  }
  return lists
}

async function timed(
  call: () => Promise<{ status: number; text: string }>,
  { name }: ClientOptions,
): Promise<Span> {
  const begunMs = performance.now()
  const { status, text } = await call()
  if (status !== 200) throw new Error(`${name} was answered ${status} ${text}`)
  return { begunMs, endedMs: performance.now() }
}
