import { publishOverHttp } from './config-steps.ts'
import type { SeenInstance } from './driven-client.ts'
import { portsOf } from './naming-steps.ts'
import type { Ground } from './step.ts'
import type { Watch } from './watch.ts'

/** The ties of a library to its server: an item that it listens to, an instance, and a subscription to its service. */
export class Ties {
  readonly service: string
  readonly hosts: Watch<readonly SeenInstance[]>
  readonly #dataId: string
  readonly #items: Watch<string>

  private constructor(run: string, items: Watch<string>, hosts: Watch<readonly SeenInstance[]>) {
    this.service = serviceOf(run)
    this.#dataId = itemOf(run)
    this.#items = items
    this.hosts = hosts
  }

  /** Listens, registers an instance with the port 1, and subscribes; resolves when that has come through. */
  static async make({ run, client, ask }: Ground): Promise<Ties> {
    const [one, other] = [await client('a'), await client('b')]
    const [item, service] = [{ dataId: itemOf(run) }, { service: serviceOf(run) }]
    await publishOverHttp(ask, item, 'before')
    const items = await other.listen(item)
    // Some libraries begin to listen later: what has changed once was listened for.
    await publishOverHttp(ask, item, 'before, too')
    await items.until('the change before', (seen) => seen === 'before, too')
    await one.register(service, { port: 1 })
    const hosts = await other.subscribe(service)
    await hosts.until('the instance', (seen) => portsOf(seen).join() === '1')
    return new Ties(run, items, hosts)
  }

  /** Changes the item that is listened to. */
  publish(ask: Ground['ask'], content: string): Promise<void> {
    return publishOverHttp(ask, { dataId: this.#dataId }, content)
  }

  /** Resolves when the listener has heard of the content. */
  async heard(content: string): Promise<void> {
    await this.#items.until(`the change to ${content}`, (seen) => seen === content)
  }
}

function itemOf(run: string): string {
  return `heard-${run}`
}

function serviceOf(run: string): string {
  return `tied-${run}`
}

/** The ports of the instances that a server lists. */
export async function listedPorts(ask: Ground['ask'], service: string): Promise<number[]> {
  const text = await ask('GET', `/svc/v1/ns/instance/list?serviceName=${service}`)
  return portsOf((JSON.parse(text) as { hosts: SeenInstance[] }).hosts)
}
