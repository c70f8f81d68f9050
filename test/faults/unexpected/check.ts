import { setTimeout as sleep } from 'node:timers/promises'
import { connectGrpc } from '../../support/grpc-client.ts'
import { ask } from './workload.ts'

const LIMIT_MS = 5_000

/** The requirements of other clients after a fault: acknowledged writes are there, and each kind of client is served. */
export class Check {
  readonly #server: { readonly port: number }
  #acknowledged: string | undefined
  #count = 0

  constructor(server: { readonly port: number }) {
    this.#server = server
  }

  /** Rejects with what is wrong. */
  async run(): Promise<void> {
    await this.#reads()
    await this.#publishes()
    await this.#isPolled()
    await this.#registers()
    await this.#talksGrpc()
    const { status, text } = await ask(this.#server, 'GET /readyz')
    if (status !== 200) throw new Error(`/readyz says ${status} ${text}`)
  }

  /** An item that was acknowledged before the fault. */
  async #reads(): Promise<void> {
    if (this.#acknowledged === undefined) return
    const { text } = await ask(this.#server, 'GET /nacos/v1/cs/configs?dataId=checked&group=G')
    if (text !== this.#acknowledged) throw new Error(`read ${text} instead of ${this.#acknowledged}`)
  }

  async #publishes(): Promise<void> {
    const content = `v${++this.#count}`
    const body = `dataId=checked&group=G&content=${content}`
    const { status, text } = await ask(this.#server, 'POST /nacos/v1/cs/configs', { body })
    if (status !== 200 || text !== 'true') throw new Error(`a publish was answered ${status} ${text}`)
    this.#acknowledged = content
    await this.#reads()
  }

  /** A held poll is answered soon after the change. */
  async #isPolled(): Promise<void> {
    const md5 = 'ffffffffffffffffffffffffffffffff'
    const listening = encodeURIComponent(`polled\u0002G\u0002${this.#count === 1 ? '' : md5}\u0001`)
    const headers = { 'Long-Pulling-Timeout': '30000' }
    const body = `Listening-Configs=${listening}`
    const poll = ask(this.#server, 'POST /nacos/v1/cs/configs/listener', { body, headers })
    poll.catch(() => undefined)
    await sleep(20)
    const change = `dataId=polled&group=G&content=${this.#count}`
    await ask(this.#server, 'POST /nacos/v1/cs/configs', { body: change })
    const { text } = await poll
    if (!text.startsWith('polled')) throw new Error(`the poll was answered "${text}"`)
  }

  async #registers(): Promise<void> {
    const instance = `serviceName=checked&ip=10.0.0.9&port=${this.#count}`
    const { text } = await ask(this.#server, 'POST /nacos/v1/ns/instance', { body: instance })
    if (text !== 'ok') throw new Error(`a registration was answered ${text}`)
    const listed = await ask(this.#server, 'GET /nacos/v1/ns/instance/list?serviceName=checked')
    const { hosts } = JSON.parse(listed.text) as { hosts: { port: number }[] }
    if (!hosts.some(({ port }) => port === this.#count)) throw new Error('a registered instance is missing')
    await ask(this.#server, `DELETE /nacos/v1/ns/instance?${instance}`)
  }

  /** A connection hears of a change of an item and of a service. */
  async #talksGrpc(): Promise<void> {
    const client = await connectGrpc(this.#server)
    try {
      const key = { dataId: `heard-${this.#count}`, group: 'G', tenant: '' }
      await client.ask('ConfigBatchListenRequest', {
        listen: true,
        configListenContexts: [{ ...key, md5: '' }],
      })
      const service = { namespace: '', serviceName: `heard-${this.#count}`, groupName: 'DEFAULT_GROUP' }
      await client.ask('SubscribeServiceRequest', { ...service, subscribe: true, clusters: '' })
      await ask(this.#server, 'POST /nacos/v1/cs/configs', { body: `dataId=${key.dataId}&group=G&content=1` })
      const instance = `serviceName=${service.serviceName}&ip=10.0.0.3&port=1`
      await ask(this.#server, 'POST /nacos/v1/ns/instance', { body: instance })
      await bounded(client.next('ConfigChangeNotifyRequest'), 'no push of an item')
      await bounded(client.next('NotifySubscriberRequest'), 'no push of a service')
    } finally {
      client.session.destroy()
    }
  }
}

async function bounded(promise: Promise<unknown>, text: string): Promise<void> {
  const late = sleep(LIMIT_MS, 'late')
  if ((await Promise.race([promise, late])) === 'late') throw new Error(text)
}
