import { connectGrpc, type GrpcClient, type Spoken } from '../support/grpc-client.ts'
import { LightClient, type LightClientSpec, md5Of } from './light-clients.ts'

const NAMESPACE = 'public'
/** Libraries wait between two tries to connect. */
const CONNECT_AGAIN_MS = 1_000

interface Hosts {
  readonly hosts: readonly { readonly port: number }[]
}

/** A client as those of 2.x and 3.x: a connection, on which it does everything again when it has connected again. */
export class LightGrpcClient extends LightClient {
  readonly #port: number
  #client: GrpcClient | undefined
  /** Resolves when it is connected. */
  #connected: Promise<unknown> = Promise.resolve()
  #known = ''

  constructor(spec: LightClientSpec, serverPort: number) {
    super(spec)
    this.#port = serverPort
  }

  protected override async begin(): Promise<void> {
    await this.#connect()
    this.loop(0, () => this.#stayConnected())
  }

  protected override async end(): Promise<void> {
    await this.#client?.close()
  }

  /** A library tries again while it is not connected. */
  protected override async publish(content: string): Promise<void> {
    await this.#connected
    await this.#ask('ConfigPublishRequest', { dataId: this.spec.item, group: 'G', tenant: '', content })
  }

  async #stayConnected(): Promise<void> {
    await this.#client!.ended
    this.#connected = this.#connectAgain()
    await this.#connected
  }

  async #connectAgain(): Promise<void> {
    while (!this.isOver) {
      const connected = await this.spec.record.taken('connect', async () => {
        await this.#connect()
        return true
      })
      if (connected === true) return
      await new Promise((done) => setTimeout(done, CONNECT_AGAIN_MS))
    }
  }

  async #connect(): Promise<void> {
    const reply = (request: Spoken): object => {
      if (request.type === 'NotifySubscriberRequest')
        this.listed((request.body['serviceInfo'] as Hosts).hosts)
      if (request.type === 'ConfigChangeNotifyRequest')
        void this.spec.record.taken('read', () => this.#read())
      return {}
    }
    const client = await connectGrpc(
      { port: this.#port },
      { reply: (request) => ({ ...reply(request) }), setup: { labels: { source: 'sdk' } } },
    )
    this.#client = client
    const { service, port, listensTo } = this.spec
    const names = { namespace: NAMESPACE, serviceName: service, groupName: 'DEFAULT_GROUP' }
    const instance = {
      ip: '10.9.0.1',
      port,
      clusterName: 'DEFAULT',
      ephemeral: true,
      enabled: true,
      healthy: true,
      weight: 1,
    }
    await this.#ask('InstanceRequest', { ...names, type: 'registerInstance', instance })
    const { serviceInfo } = await this.#ask('SubscribeServiceRequest', {
      ...names,
      subscribe: true,
      clusters: '',
    })
    this.listed((serviceInfo as Hosts).hosts)
    const contexts = [{ dataId: listensTo, group: 'G', tenant: '', md5: md5Of(this.#known) }]
    const { changedConfigs } = await this.#ask('ConfigBatchListenRequest', {
      listen: true,
      configListenContexts: contexts,
    })
    if ((changedConfigs as unknown[]).length > 0) await this.#read()
  }

  async #read(): Promise<void> {
    const { content } = await this.#ask('ConfigQueryRequest', {
      dataId: this.spec.listensTo,
      group: 'G',
      tenant: '',
    })
    this.#known = String(content)
    this.heard(this.#known)
    // A library listens with what it knows now: a change meanwhile is answered at once.
    const contexts = [{ dataId: this.spec.listensTo, group: 'G', tenant: '', md5: md5Of(this.#known) }]
    const { changedConfigs } = await this.#ask('ConfigBatchListenRequest', {
      listen: true,
      configListenContexts: contexts,
    })
    if ((changedConfigs as unknown[]).length > 0) await this.#read()
  }

  async #ask(type: string, body: object): Promise<Record<string, unknown>> {
    const { body: answer } = await this.#client!.ask(type, { ...body })
    if (answer['success'] !== true) throw new Error(`${type}: ${JSON.stringify(answer)}`)
    return answer
  }
}
