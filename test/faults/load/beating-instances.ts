import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Json } from '../../interface/client.ts'

/** Instances that register and beat, each waiting for the answer to its last beat. */
export interface BeatingInstances {
  /** `<ip>:<port>` of each. */
  readonly addresses: readonly string[]
  /** Answers to beats other than 200, and missing ones. */
  readonly failures: string[]
  /** Stops the beats and waits for the last answers. */
  stop(): Promise<void>
}

/** The beat interval of the instances, and how long they may be silent, in ms. */
export interface BeatTimes {
  readonly beatMs: number
  readonly unhealthyMs: number
  readonly removeMs: number
}

/** Registers instances of a service and sends their beats. */
export async function startBeating(
  client: Client,
  serviceName: string,
  { count, times }: { count: number; times: BeatTimes },
): Promise<BeatingInstances> {
  const state = { stopped: false }
  const failures: string[] = []
  const ports = Array.from({ length: count }, (_, n) => n + 1)
  const metadata = JSON.stringify({
    'preserved.heart.beat.timeout': String(times.unhealthyMs),
    'preserved.ip.delete.timeout': String(times.removeMs),
  })
  const address = (port: number) => ({ serviceName, ip: '127.0.0.5', port })
  await Promise.all(ports.map((port) => client.post('/ns/instance', { ...address(port), metadata })))
  const beats = ports.map(async (port) => {
    const beat = JSON.stringify({
      ...address(port),
      cluster: 'DEFAULT',
      scheduled: true,
      weight: 1,
      metadata: {},
    })
    while (!state.stopped) {
      await sleep(times.beatMs)
      const reply = await client.put('/ns/instance/beat', { ...address(port), beat }).catch(() => undefined)
      if (reply?.status !== 200) failures.push(`${reply?.status} ${reply?.text}`)
    }
  })
  const stop = async (): Promise<void> => {
    state.stopped = true
    await Promise.all(beats)
  }
  return { addresses: ports.map((port) => `127.0.0.5:${port}`), failures, stop }
}

/** The addresses that are missing or unhealthy in a list. */
export function missingIn(hosts: readonly Json[], addresses: readonly string[]): string[] {
  const healthy = new Set(hosts.filter((host) => host.healthy).map(({ ip, port }) => `${ip}:${port}`))
  return addresses.filter((address) => !healthy.has(address))
}
