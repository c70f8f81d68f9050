import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Json } from '../../interface/client.ts'

const LOOK_MS = 50
/** A beat that is late by this time still counts. */
const HOLD_UP_MS = 400

/** Instances that register and beat, each waiting for the answer to its last beat. */
export interface BeatingInstances {
  /** `<ip>:<port>` of each. */
  readonly addresses: readonly string[]
  /** Answers to beats other than 200, and missing ones. */
  readonly failures: string[]
  /** The lists that `missingIn` has judged. */
  readonly judged: number
  /**
   * The instances that are missing or unhealthy in a list that was just read; none after this process was held up, for then
   * its beats came late.
   */
  missingIn(hosts: readonly Json[]): string[]
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
  const state = { stopped: false, judged: 0 }
  const holdUps = new HoldUps()
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
    holdUps.stop()
  }
  const addresses = ports.map((port) => `127.0.0.5:${port}`)
  return {
    addresses,
    failures,
    get judged() {
      return state.judged
    },
    missingIn(hosts) {
      if (holdUps.within(times.unhealthyMs + times.beatMs)) return []
      state.judged++
      return missingIn(hosts, addresses)
    },
    stop,
  }
}

/** Notices when this process did not run for a while. */
class HoldUps {
  #seenMs = performance.now()
  #lastMs = -Infinity
  readonly #timer = setInterval(() => this.#look(), LOOK_MS)

  /** Whether there was one in the last `ms`. */
  within(ms: number): boolean {
    this.#look()
    return this.#seenMs - this.#lastMs < ms
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const nowMs = performance.now()
    if (nowMs - this.#seenMs > HOLD_UP_MS) this.#lastMs = nowMs
    this.#seenMs = nowMs
  }
}

/** The addresses that are missing or unhealthy in a list. */
function missingIn(hosts: readonly Json[], addresses: readonly string[]): string[] {
  const healthy = new Set(hosts.filter((host) => host.healthy).map(({ ip, port }) => `${ip}:${port}`))
  return addresses.filter((address) => !healthy.has(address))
}
