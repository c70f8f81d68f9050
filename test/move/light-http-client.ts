import { LightClient, type LightClientSpec, md5Of } from './light-clients.ts'

/** As the libraries of 1.x do. */
const BEAT_EVERY_MS = 5_000
const LIST_EVERY_MS = 3_000
/** After a failed poll they wait. */
const POLL_AGAIN_MS = 2_000
const POLL_MS = 10_000

/** A client as those of 1.x: it beats, asks for its list again and again, and listens by long polls. */
export class LightHttpClient extends LightClient {
  readonly #base: string
  #known = ''

  constructor(spec: LightClientSpec, serverPort: number) {
    super(spec)
    this.#base = `http://127.0.0.1:${serverPort}/nacos/v1`
  }

  protected override async begin(): Promise<void> {
    await this.#register()
    await this.#list()
    this.loop(BEAT_EVERY_MS, () => this.spec.record.taken('beat', () => this.#beat()))
    this.loop(LIST_EVERY_MS, () => this.spec.record.taken('list', () => this.#list()))
    this.loop(0, () => this.#poll())
  }

  protected override async end(): Promise<void> {}

  protected override async publish(content: string): Promise<void> {
    const form = { dataId: this.spec.item, group: 'G', content }
    if ((await this.#call('POST', '/cs/configs', form)) !== 'true') throw new Error('not published')
  }

  get #instance(): Record<string, string> {
    const { service, port } = this.spec
    return { serviceName: service, ip: '10.9.0.1', port: String(port), clusterName: 'DEFAULT' }
  }

  async #register(): Promise<void> {
    await this.#call('POST', '/ns/instance', { ...this.#instance, ephemeral: 'true' })
  }

  /** A server that does not know the instance asks to register it. */
  async #beat(): Promise<void> {
    const { code } = JSON.parse(await this.#call('PUT', '/ns/instance/beat', this.#instance)) as {
      code: number
    }
    if (code === 20_404) await this.#register()
  }

  async #list(): Promise<void> {
    const text = await this.#call('GET', '/ns/instance/list', { serviceName: this.spec.service })
    this.listed((JSON.parse(text) as { hosts: { port: number }[] }).hosts)
  }

  async #poll(): Promise<void> {
    const { record, listensTo } = this.spec
    const watched = `${listensTo}\u0002G\u0002${md5Of(this.#known)}\u0001`
    const changed = await record.taken('listen', () =>
      this.#call('POST', '/cs/configs/listener', { 'Listening-Configs': watched }),
    )
    if (changed === undefined) return void (await new Promise((done) => setTimeout(done, POLL_AGAIN_MS)))
    if (changed.trim() === '') return
    const content = await record.taken('read', () =>
      this.#call('GET', '/cs/configs', { dataId: listensTo, group: 'G' }),
    )
    if (content === undefined) return
    this.#known = content
    this.heard(content)
  }

  async #call(method: string, path: string, params: Record<string, string>): Promise<string> {
    const query = new URLSearchParams(params)
    const isForm = method === 'POST'
    const response = await fetch(`${this.#base}${path}${isForm ? '' : `?${query}`}`, {
      method,
      ...(isForm && { body: query }),
      headers: { 'Long-Pulling-Timeout': String(POLL_MS) },
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return text
  }
}
