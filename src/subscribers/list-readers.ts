import type { ListedSubscriber } from '../core/clients/client-views.ts'
import { isOwnTool } from '../core/clients/own-tool.ts'
import { textBytes } from '../core/memory/bytes-of.ts'
import { ClientMemory } from '../core/memory/client-memory.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import { ownText } from '../core/text/own-text.ts'

/** A client that reads a list again and again, because it gets no pushes. */
export type ListReader = Pick<ListedSubscriber, 'address' | 'agent' | 'app'>

/** The readers of one service, by address and agent. */
type ServiceReaders = Map<string, ListReader>
type Generation = Map<string, Map<string, ServiceReaders>>

/** The objects of a reader, and of the service that it alone has read. */
const READER_BYTES = 480

/** More are not remembered: it is for people to look at. */
const MOST_READERS = 20_000
const MOST_CHARACTERS = 128
/** The share of the memory of clients that they may take: subscriptions are of more use. */
const MOST_SHARE = 1 / 4

/**
 * The clients that have read the list of a service lately, for people. There are two generations, the current and the
 * previous one. Lists are read very often, so a known reader costs one lookup only.
 */
export class ListReaders {
  #now: Generation = new Map()
  #before: Generation = new Map()
  #count = 0
  /** The memory of each generation. */
  #bytes = { now: 0, before: 0 }
  readonly #memory: ClientMemory

  constructor(memory = new ClientMemory()) {
    this.#memory = memory
    memory.joinInforming(() => this.#forgetGeneration())
  }

  /** Notes that somebody has read the list of a service. */
  note({ namespaceId, groupedName }: ServiceKey, reader: ListReader): void {
    if (isOwnTool(reader)) return
    const { address, agent } = reader
    const id =
      agent.length > MOST_CHARACTERS ? `${address} ${agent.slice(0, MOST_CHARACTERS)}` : `${address} ${agent}`
    const readers = this.#now.get(namespaceId)?.get(groupedName)
    if (readers?.has(id) === true || this.#count >= MOST_READERS) return
    const one = kept(reader)
    const bytes =
      READER_BYTES + [groupedName, id, one.agent, one.app].reduce((sum, text) => sum + textBytes(text), 0)
    const { now, before } = this.#bytes
    if (now + before + bytes > this.#memory.limitBytes * MOST_SHARE) return
    if (!this.#memory.takeSpare(bytes)) return
    this.#bytes.now += bytes
    this.#count++
    const target = readers ?? this.#begin(namespaceId, groupedName)
    target.set(ownText(id), one)
  }

  /** Begins a generation, and forgets the one before the last. Call it regularly. */
  turn(): void {
    this.#memory.free(this.#bytes.before)
    this.#bytes = { now: 0, before: this.#bytes.now }
    this.#before = this.#now
    this.#now = new Map()
    this.#count = 0
  }

  /** Others need the memory: forgets the older generation. False: there is nothing to forget. */
  #forgetGeneration(): boolean {
    const { now, before } = this.#bytes
    if (now + before === 0) return false
    this.turn()
    return true
  }

  /** The clients that have read the list of a service, in this generation or the one before. */
  of({ namespaceId, groupedName }: ServiceKey): ListedSubscriber[] {
    const found: ServiceReaders = new Map()
    for (const generation of [this.#before, this.#now])
      for (const [id, reader] of generation.get(namespaceId)?.get(groupedName) ?? []) found.set(id, reader)
    return Array.from(found.values(), (reader) => {
      const { address, agent, app } = reader
      const place = { address, port: 0, toldIp: address }
      return { ...place, agent, app, clusters: '', namespaceId, groupedName, via: 'poll' }
    })
  }

  #begin(namespaceId: string, groupedName: string): ServiceReaders {
    const readersOf = this.#now.get(namespaceId) ?? new Map<string, ServiceReaders>()
    const readers: ServiceReaders = new Map()
    readersOf.set(ownText(groupedName), readers)
    this.#now.set(ownText(namespaceId), readersOf)
    return readers
  }
}

/** Texts of its own: those of a request would keep all of its head in memory. */
function kept({ address, agent, app }: ListReader): ListReader {
  const short = (text: string): string => ownText(text.slice(0, MOST_CHARACTERS))
  return { address: ownText(address), agent: short(agent), app: short(app) }
}
