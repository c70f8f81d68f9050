import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { Histogram } from './histogram.ts'
import type { LoadResult, PushJob } from './jobs.ts'
import { endOf } from './loads.ts'
import { requestPaths } from './paths.ts'
import { registerForm, requestText } from './request-text.ts'
import { Wire } from './wire.ts'

/** A subscriber: its socket, and the newest change that it has received. */
interface Subscriber {
  readonly socket: Socket
  heard: number
}

/** The contents of a push: the number of its newest change, and the time that identifies it in the ack. */
interface Heard {
  readonly version: number
  readonly lastRefTime: string
}

const REFRESH_SECONDS = 10
const AGENT = 'Nacos-Java-Client:v1.4.8'

/**
 * Subscribes over UDP and changes one instance after the other. A latency starts when a change is due and ends when a
 * subscriber has a push with it.
 */
export async function push(job: PushJob): Promise<LoadResult> {
  const paths = requestPaths(new URL(job.base).pathname)
  const wire = new Wire(endOf(job.base))
  const dueMs: number[] = []
  const histogram = new Histogram()
  const decode = decoder()
  const onPush = (
    subscriber: Subscriber,
    datagram: Buffer,
    from: { port: number; address: string },
  ): void => {
    const now = performance.now()
    const { version, lastRefTime } = decode(datagram)
    subscriber.socket.send(
      `{"type":"push-ack","lastRefTime":"${lastRefTime}","data":""}`,
      from.port,
      from.address,
    )
    for (; subscriber.heard < version; subscriber.heard++) histogram.add(now - dueMs[subscriber.heard + 1]!)
  }
  const subscribers: Subscriber[] = []
  const service = `${job.set.base}-0`
  const subscribe = async ({ socket }: Subscriber): Promise<void> => {
    const query = `serviceName=${service}&udpPort=${socket.address().port}&clientIP=127.0.0.1`
    const asked = requestText('GET', `${paths.list}?${query}`).replace('\r\n', `\r\nUser-Agent: ${AGENT}\r\n`)
    const { status } = await wire.ask(asked)
    if (status !== 200) throw new Error(`A subscriber was answered ${status}.`)
  }
  for (let index = 0; index < job.subscribers; index++) {
    const subscriber = { socket: createSocket('udp4'), heard: 0 }
    subscriber.socket.bind(0, '127.0.0.1')
    await once(subscriber.socket, 'listening')
    subscriber.socket.on('message', (datagram, from) => onPush(subscriber, datagram, from))
    await subscribe(subscriber)
    subscribers.push(subscriber)
  }
  const changes = job.changesPerSecond * job.seconds
  const began = performance.now()
  let failed = 0
  for (let change = 1; change <= changes; change++) {
    dueMs[change] = began + ((change - 1) * 1_000) / job.changesPerSecond
    await sleep(Math.max(0, dueMs[change]! - performance.now()))
    const form = registerForm(job.set, change % job.set.count, change)
    const { status } = await wire.ask(requestText('POST', paths.instance, form))
    if (status !== 200) failed++
    // Clients send their list request every ten seconds. A subscription ends soon after that.
    const perChange = job.subscribers / (job.changesPerSecond * REFRESH_SECONDS)
    const from = Math.floor(change * perChange)
    for (let at = from; at < Math.floor((change + 1) * perChange); at++)
      await subscribe(subscribers[at % job.subscribers]!)
  }
  await sleep(2_000)
  const elapsedMs = performance.now() - began
  for (const { socket } of subscribers) socket.close()
  wire.close()
  const lost = changes * job.subscribers - histogram.total
  return { counts: histogram.counts(), answered: histogram.total, failed: failed + lost, elapsedMs }
}

/** Parses pushes. All subscribers get the same bytes, so most are parsed already. */
function decoder(): (datagram: Buffer) => Heard {
  let known: Buffer = Buffer.alloc(0)
  let heard: Heard = { version: 0, lastRefTime: '0' }
  return (datagram) => {
    if (datagram.equals(known)) return heard
    known = Buffer.from(datagram)
    const text = (datagram[0] === 0x1f ? gunzipSync(datagram) : datagram).toString('utf8')
    let version = 0
    for (const [, found] of text.matchAll(/version[\\":]+(\d+)/g)) version = Math.max(version, Number(found))
    heard = { version, lastRefTime: /"lastRefTime":(\d+)\}$/.exec(text)?.[1] ?? '0' }
    return heard
  }
}
