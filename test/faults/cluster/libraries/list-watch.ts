import { ask } from '../load/ask.ts'
import { pause } from '../strikes/scene.ts'

const EVERY_MS = 500
const LIMIT_MS = 2_000

/** A list that lacks an instance. */
interface Lack {
  readonly atMs: number
  readonly service: string
  readonly text: string
}

/** Asks every server again and again for some services. Each service must have the instance with the port 1, healthy. */
export class ListWatch {
  readonly #urls: readonly string[]
  readonly #services: readonly string[]
  readonly #lacks: Lack[] = []
  readonly #running: Promise<unknown>
  #lists = 0
  #isOver = false

  constructor(urls: readonly string[], services: readonly string[]) {
    this.#urls = urls
    this.#services = services
    this.#running = Promise.all(urls.map((_, server) => this.#look(server)))
  }

  /** How many lists have been seen. */
  get lists(): number {
    return this.#lists
  }

  /** The lists of a service since then that lacked its instance; `fromMs`: of `performance.now()`. */
  lacksSince(fromMs: number, service: string): readonly string[] {
    const own = this.#lacks.filter((each) => each.service === service && each.atMs >= fromMs)
    return own.map(({ atMs, text }) => `${text} ${Math.round(atMs - fromMs)} ms after the strike`)
  }

  /** Whether every server shows the instance now. */
  async isEverywhere(service: string): Promise<boolean> {
    const seen = await Promise.all(this.#urls.map((url) => listOf(url, service)))
    return seen.every((text) => text === '')
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #look(server: number): Promise<void> {
    while (!this.#isOver) {
      for (const service of this.#services) {
        const atMs = performance.now()
        const text = await listOf(this.#urls[server]!, service)
        if (text === undefined) break
        this.#lists++
        if (text !== '') this.#lacks.push({ atMs, service, text: `server ${server + 1} ${text}` })
      }
      await pause(EVERY_MS)
    }
  }
}

interface Host {
  readonly port: number
  readonly healthy: boolean
}

/** The error of a list, or ''; undefined: there is no list. */
async function listOf(url: string, serviceName: string): Promise<string | undefined> {
  const query = { serviceName }
  const request = { method: 'GET', path: '/svc/v1/ns/instance/list', query, limitMs: LIMIT_MS }
  const reply = await ask(url, request)
  if (reply.kind !== 'answered' || reply.status !== 200) return undefined
  const { hosts } = JSON.parse(reply.text) as { hosts: readonly Host[] }
  const own = hosts.find(({ port }) => port === 1)
  if (own === undefined) return 'lacked it'
  return own.healthy ? '' : 'showed it as unhealthy'
}
