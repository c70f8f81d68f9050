import type { CertificateFiles } from '../../support/certificates.ts'
import type { DrivenProgram } from './driven-program.ts'
import type { Watch } from './watch.ts'

/** How a client reaches its servers. */
export interface ClientSpec {
  /** `host:port` of HTTP, one or several. */
  readonly servers: readonly string[]
  readonly namespace?: string
  readonly username?: string
  readonly password?: string
  /** The client speaks TLS and trusts this authority. */
  readonly caFile?: string
  /** A certificate of its own: some libraries do not speak TLS without one. */
  readonly certificate?: CertificateFiles
  /** How long the libraries of npm and of Go 1.x wait for an answer, ms. */
  readonly requestTimeout?: number
}

/** An item of configuration; the group is `DEFAULT_GROUP` by default. */
export interface ItemName {
  readonly dataId: string
  readonly group?: string
}

/** A service; the group is `DEFAULT_GROUP` by default. */
export interface ServiceName {
  readonly service: string
  readonly group?: string
}

/** An instance to register on the loopback address. */
export interface OwnInstance {
  readonly port: number
  readonly cluster?: string
  readonly weight?: number
  readonly metadata?: Readonly<Record<string, string>>
  readonly ephemeral?: boolean
}

/** An instance as a library shows it. */
export interface SeenInstance {
  readonly ip: string
  readonly port: number
  readonly weight: number
  readonly healthy: boolean
  readonly enabled: boolean
  readonly ephemeral: boolean
  readonly cluster: string
  readonly metadata: Readonly<Record<string, string>>
}

const GROUP = 'DEFAULT_GROUP'
let watches = 0

/** One client of a library: a connection for configurations and one for naming, each made when it is first used. */
export class DrivenClient {
  readonly #program: DrivenProgram
  readonly #name: string

  private constructor(program: DrivenProgram, name: string) {
    this.#program = program
    this.#name = name
  }

  /** Makes a client; the name is unique within the program. */
  static async open(program: DrivenProgram, name: string, spec: ClientSpec): Promise<DrivenClient> {
    const { namespace = '', username = '', password = '', caFile = '', requestTimeout } = spec
    const { cert = '', key = '' } = spec.certificate ?? {}
    const user = { username, password }
    const tls = { caFile, certFile: cert, keyFile: key }
    await program.do({
      do: 'open',
      client: name,
      servers: spec.servers.join(','),
      namespace,
      ...user,
      ...tls,
      requestTimeout,
    })
    return new DrivenClient(program, name)
  }

  /** `casMd5`: only if the present content has this md5. Resolves with whether it was published. */
  async publish(item: ItemName, content: string, casMd5 = ''): Promise<boolean> {
    return (await this.#do('publish', { ...named(item), content, casMd5 })) as boolean
  }

  /** Resolves with the content, or null where there is none. */
  async read(item: ItemName): Promise<string | null> {
    return contentOf(await this.#do('read', named(item)))
  }

  /** Resolves with whether the server took it. */
  async remove(item: ItemName): Promise<boolean> {
    return (await this.#do('remove', named(item))) as boolean
  }

  /** Resolves with what the listener hears from now on: contents, or '' where there is none any more. */
  async listen(item: ItemName): Promise<Watch<string>> {
    return this.#watch('listen', named(item))
  }

  /** Ends the listener that was added last for this item. */
  async unlisten(item: ItemName): Promise<void> {
    await this.#do('unlisten', named(item))
  }

  /** Registers one instance on the loopback address. */
  async register(service: ServiceName, instance: OwnInstance): Promise<void> {
    await this.#accepted('register', { ...named(service), instance: full(instance) })
  }

  /** Registers several instances together. */
  async registerAll(service: ServiceName, instances: readonly OwnInstance[]): Promise<void> {
    await this.#accepted('registerAll', { ...named(service), instances: instances.map(full) })
  }

  /** Takes an instance away. */
  async deregister(service: ServiceName, instance: OwnInstance): Promise<void> {
    await this.#accepted('deregister', { ...named(service), instance: full(instance) })
  }

  /** Asks the server, and not a cache of the library. */
  async instances(service: ServiceName, asked: InstancesAsked = {}): Promise<readonly SeenInstance[]> {
    const { clusters = [], healthyOnly = false } = asked
    return (await this.#do('instances', { ...named(service), clusters, healthyOnly })) as SeenInstance[]
  }

  /** Asks as applications do: most libraries answer from the list that they keep. */
  async list(service: ServiceName): Promise<readonly SeenInstance[]> {
    return (await this.#do('list', named(service))) as SeenInstance[]
  }

  /** The names of the services of a group, page by page. */
  async services(group: string, pageNo: number, pageSize: number): Promise<ServicePage> {
    return (await this.#do('services', { group, pageNo, pageSize })) as ServicePage
  }

  /** Resolves with what the subscriber hears from now on. */
  async subscribe(
    service: ServiceName,
    clusters: readonly string[] = [],
  ): Promise<Watch<readonly SeenInstance[]>> {
    return this.#watch('subscribe', { ...named(service), clusters })
  }

  /** Ends the subscription that was made last for this service. */
  async unsubscribe(service: ServiceName): Promise<void> {
    await this.#do('unsubscribe', named(service))
  }

  /** Ends the client in order. */
  async close(): Promise<void> {
    await this.#do('close', {})
  }

  async #watch<T>(what: string, of: object): Promise<Watch<T>> {
    const watch = `w${++watches}`
    await this.#do(what, { ...of, watch })
    return this.#program.watch<T>(watch)
  }

  /** Some libraries fail with an error, others answer false. */
  async #accepted(what: string, of: object): Promise<void> {
    if ((await this.#do(what, of)) !== true) throw new Error(`${what} was refused`)
  }

  #do(what: string, of: object): Promise<unknown> {
    return this.#program.do({ ...of, do: what, client: this.#name })
  }
}

/** Which instances of a service. */
export interface InstancesAsked {
  readonly clusters?: readonly string[]
  readonly healthyOnly?: boolean
}

/** A page of names of services, and how many there are in all. */
export interface ServicePage {
  readonly count: number
  readonly names: readonly string[]
}

function named<T extends { readonly group?: string }>(name: T): T & { group: string } {
  return { ...name, group: name.group ?? GROUP }
}

function full(instance: OwnInstance): Required<OwnInstance> & { ip: string } {
  return { ip: '127.0.0.1', cluster: 'DEFAULT', weight: 1, metadata: {}, ephemeral: true, ...instance }
}

/** Some libraries say '' where others say null. */
function contentOf(value: unknown): string | null {
  return value === '' || value === undefined ? null : (value as string | null)
}
