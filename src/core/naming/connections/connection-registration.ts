import { isSameIp } from '../../text/ip-address.ts'
import { type Due, NOT_DUE } from '../../work/due-book.ts'
import type { InstanceReplacement, PublishedInstance } from '../commands/replace-instances.ts'
import { type ConnectionName, connectionPublisher } from '../state/connection-publisher.ts'
import { addressText, type InstanceAddress, type Publisher } from '../state/instance.ts'
import type { ServiceKey } from '../state/service.ts'

/** The client of a connection, as people are shown it. */
export interface PublishingClient {
  /** The name and version of its library as sent; ''. */
  readonly library: string
  readonly ip: string
  readonly port: number
  /** Epoch ms. */
  readonly connectedMs: number
}

/** How long a connected client has said nothing, though clients say something every five seconds. */
export interface ClientSilence {
  readonly silentMs: number
  /** How much longer it is waited for. */
  readonly leavesInMs: number
}

/** Instances of a replacement, as one of the commands that carry it out names them. */
export type ReplacementPart = Pick<InstanceReplacement, 'instances' | 'leaving' | 'takesOver'>

/**
 * The publishers of an address, as the state says. `this connection`: it has the address, or waits for it. `another publisher`: it
 * has to be claimed. `too many publishers`: there is no room for a claim.
 */
export type AddressOwner = 'nobody' | 'this connection' | 'another publisher' | 'too many publishers'

/** `withheld`: its user may not have the instances now. They come back when the user may. `ended`: with its connection. */
type Phase = 'connected' | 'withheld' | 'ended'

/**
 * - `registered`: wanted, and there as far as this server knows, or waiting there behind another publisher.
 * - `missing`: wanted, and neither there nor waiting.
 * - `taken`: wanted, but too many publishers have or claim the address.
 * - `removing`: it must go, and may still be there.
 * - `away`: withheld, and certainly not there.
 */
type PlaceState = 'registered' | 'missing' | 'taken' | 'removing' | 'away'

/** An address at which the connection wants, has or may have an instance. A change replaces it. */
interface RegistrationPlace {
  readonly address: InstanceAddress
  /** The last instance that the client published here; undefined: it does not want the address any longer. */
  readonly wanted: PublishedInstance | undefined
  readonly state: PlaceState
}

/** The most addresses withdrawn by name that are remembered. */
const MOST_WITHDRAWN = 100

/** By the `addressText` of each. */
type Places = Map<string, RegistrationPlace>

const NO_PLACES: Readonly<Record<PlaceState, number>> = {
  registered: 0,
  missing: 0,
  taken: 0,
  removing: 0,
  away: 0,
}

/**
 * The registration of a connection in a service: the wanted instances, and the state of each address. It writes
 * nothing. `ConnectionInstances` calls a method for each event, and carries out what must be registered and removed.
 *
 * | event: method                        | while connected                         | while withheld                    | once ended              |
 * | ------------------------------------ | --------------------------------------- | --------------------------------- | ----------------------- |
 * | its client publishes: `publish`      | the set is `registered`, all else `removing` | the same, and connected      | (refused)               |
 * | that set is refused: the returned function | the set before; new ones `removing` | (was withheld) withheld again   | nothing                 |
 * | its client withdraws: `withdraw`     | all `removing`                          | the same, and connected           | nothing                 |
 * | it withdraws some: `withdrawNamed`   | these `removing`                        | these forgotten or `removing`     | nothing                 |
 * | rights of its user end: `withhold`   | all `removing`, and withheld            | nothing                           | not kept any longer     |
 * | rights of its user return: `allow`   | nothing                                 | wanted `missing`, and connected   | nothing                 |
 * | its connection ends: `end`           | all `removing`, and ended               | the same; `away` is forgotten     | (never)                 |
 * | a wanted address is looked at: `found` | `registered`, `missing` or `taken`    | nothing                           | nothing                 |
 * | a removal is committed: `removed`    | forgotten                               | wanted `away`, others forgotten   | forgotten               |
 * | the store refuses a removal          | stays `removing`                        | stays `removing`                  | stays `removing`        |
 * | time passes: `repairs`               | `missing` and `removing` are carried out | the same                         | the same, once not kept |
 *
 * A registration without places is over. A restart of the server ends all connections without any method: their instances
 * then belong to a process that is gone (`ConnectionProcesses`).
 */
export class ConnectionRegistration implements Due {
  readonly serviceKey: ServiceKey
  readonly connectionId: string
  /** One object for all of its instances: a comparison of publishers begins with it. */
  readonly publisher: Publisher
  client: PublishingClient | undefined
  /** The user who has published it; undefined: nobody had to sign in. */
  username: string | undefined
  /** When it was last logged that a registration has replaced another one, monotonic ms. */
  replacementLoggedMs = -Infinity
  dueTick = NOT_DUE
  #phase: Phase = 'connected'
  #keptUntilMs = -Infinity
  #places: Places = new Map()
  /** How many places are in each state. */
  #counts: Record<PlaceState, number> = { ...NO_PLACES }
  /** The addresses withdrawn by name since the last publication: to withdraw such an address again changes nothing. */
  #withdrawn: readonly string[] = NONE
  #underway: Promise<void> | undefined

  constructor(serviceKey: ServiceKey, connection: ConnectionName) {
    this.serviceKey = serviceKey
    this.connectionId = connection.connectionId
    this.publisher = connectionPublisher(connection)
  }

  /** How many instances it publishes. */
  get size(): number {
    const { registered, missing, taken } = this.#counts
    return registered + missing + taken
  }

  /** The number of addresses at which it has, or may have, an instance. */
  get addresses(): number {
    return this.#places.size
  }

  /** Whether its instances are withheld from it, because the rights of its user have ended. */
  get isWithheld(): boolean {
    return this.#phase === 'withheld'
  }

  /** Whether its connection has ended. */
  get hasEnded(): boolean {
    return this.#phase === 'ended'
  }

  /** Once its connection has ended: until when its instances are kept (health time). */
  get keptUntilMs(): number {
    return this.#keptUntilMs
  }

  /** Whether a change of it is underway. */
  get isChanging(): boolean {
    return this.#underway !== undefined
  }

  /** Whether there is nothing to remember. */
  get isOver(): boolean {
    return this.#places.size === 0 && !this.isChanging
  }

  /** Whether something must be registered again, or removed. */
  get needsRepair(): boolean {
    return this.#counts.missing > 0 || this.#counts.removing > 0
  }

  /** Whether too many others publish an address that this connection wants too. */
  get isWaiting(): boolean {
    return this.#counts.taken > 0
  }

  /** The addresses from which an instance of this connection must be removed. */
  get removing(): readonly InstanceAddress[] {
    return this.#inState('removing').map(({ address }) => address)
  }

  /** The changes that repair it now. At an address of another publisher it waits. */
  get repairs(): ReplacementPart {
    const instances = this.#inState('missing').flatMap(({ wanted }) => wanted ?? [])
    return { instances, leaving: this.removing, takesOver: false }
  }

  /** Runs a change after the earlier ones, so that the last request counts. Then calls `settled`. */
  inTurn<T>(run: () => T | Promise<T>, settled: () => void): T | Promise<T> {
    const outcome = this.#underway === undefined ? runNow(run, settled) : this.#underway.then(run)
    if (!(outcome instanceof Promise)) return outcome
    const finish = (): void => {
      if (this.#underway === mine) this.#underway = undefined
      settled()
    }
    const mine: Promise<void> = outcome.then(finish, finish)
    this.#underway = mine
    return outcome
  }

  /** Calls a function when the change underway has ended. False if no change is underway. */
  afterChange(run: () => void): boolean {
    void this.#underway?.then(run)
    return this.isChanging
  }

  /** Its client publishes these, and nothing else. Call the result if they are refused: some may be there. */
  publish(instances: readonly PublishedInstance[]): () => void {
    const [phase, before] = [this.#phase, this.#places]
    this.#phase = 'connected'
    this.#withdrawn = NONE
    this.#places = new Map()
    this.#counts = { ...NO_PLACES }
    for (const wanted of instances)
      this.#put(addressText(wanted.address), { address: wanted.address, wanted, state: 'registered' })
    for (const [text, { address, state }] of before)
      if (state !== 'away' && !this.#places.has(text))
        this.#put(text, { address, wanted: undefined, state: 'removing' })
    return () => this.#undo(phase, before)
  }

  /** Its client wants nothing any longer. */
  withdraw(): void {
    if (this.isWithheld) this.#phase = 'connected'
    for (const text of this.#places.keys()) this.#giveUp(text)
  }

  /**
   * Its client wants these addresses no longer. An address that was not in the set means the only one with that ip and port.
   * False: none is in the set.
   */
  withdrawNamed(named: readonly InstanceAddress[]): boolean {
    const meant = named.flatMap((address) => this.#meant(address) ?? [])
    for (const text of meant) this.#giveUp(text)
    if (meant.length > 0) this.#withdrawn = [...this.#withdrawn, ...meant].slice(-MOST_WITHDRAWN)
    return meant.length > 0
  }

  #meant(named: InstanceAddress): string | undefined {
    const text = addressText(named)
    if (this.#places.get(text)?.wanted !== undefined) return text
    if (this.#withdrawn.includes(text)) return undefined
    const others = [...this.#places.values()].filter(
      ({ address: { ip, port }, wanted }) =>
        wanted !== undefined && port === named.port && isSameIp(ip, named.ip),
    )
    return others.length === 1 ? addressText(others[0]!.address) : undefined
  }

  /** An address of its set besides this one. */
  otherThan(address: InstanceAddress): InstanceAddress | undefined {
    const text = addressText(address)
    for (const [other, place] of this.#places)
      if (other !== text && place.wanted !== undefined) return place.address
    return undefined
  }

  /** The rights of its user have ended. */
  withhold(): void {
    this.#keptUntilMs = -Infinity
    if (this.hasEnded) return
    this.#phase = 'withheld'
    for (const [text, place] of this.#places)
      if (place.state !== 'away') this.#put(text, { ...place, state: 'removing' })
  }

  /** The rights of its user are back. */
  allow(): void {
    if (!this.isWithheld) return
    this.#phase = 'connected'
    for (const [text, place] of this.#places)
      if (place.wanted !== undefined) this.#put(text, { ...place, state: 'missing' })
  }

  /** Its connection has ended. Its instances are kept until then (health time). */
  end(keptUntilMs: number): void {
    this.#keptUntilMs = keptUntilMs
    this.#phase = 'ended'
    for (const text of this.#places.keys()) this.#giveUp(text)
  }

  /**
   * Notes who publishes an address. An address of another publisher stays wanted: that may be an older connection of the
   * same client, whose server is late.
   */
  found(address: InstanceAddress, owner: AddressOwner): void {
    if (owner === 'this connection' && this.#counts.registered === this.#places.size) return
    const text = addressText(address)
    const place = this.#places.get(text)
    if (this.#phase !== 'connected' || place?.wanted === undefined) return
    const state = STATE_FOUND[owner]
    if (state !== place.state) this.#put(text, { ...place, state })
  }

  /** Looks again at the addresses that too many others had. */
  lookAgain(ownerAt: (address: InstanceAddress) => AddressOwner): void {
    for (const { address } of this.#inState('taken')) this.found(address, ownerAt(address))
  }

  /** No instance of this connection is at these addresses any more. */
  removed(addresses: readonly InstanceAddress[]): void {
    for (const address of addresses) {
      const text = addressText(address)
      const place = this.#places.get(text)
      if (place?.state !== 'removing') continue
      if (place.wanted === undefined) this.#forget(text)
      else this.#put(text, { ...place, state: 'away' })
    }
  }

  /** The last publication has been refused. */
  #undo(phase: Phase, before: Places): void {
    if (this.hasEnded) return
    this.#phase = phase
    for (const text of this.#places.keys()) this.#giveUp(text)
    for (const [text, place] of before) {
      if (place.wanted === undefined) continue
      const mayBeThere = this.#places.has(text)
      const state = phase !== 'withheld' ? place.state : mayBeThere ? 'removing' : 'away'
      this.#put(text, { ...place, state })
    }
  }

  /** An address is not wanted any more. */
  #giveUp(text: string): void {
    const place = this.#places.get(text)
    if (place?.state === 'away') this.#forget(text)
    else if (place !== undefined) this.#put(text, { ...place, wanted: undefined, state: 'removing' })
  }

  #inState(state: PlaceState): RegistrationPlace[] {
    // A registration may have very many places, and is looked at for each that is lost.
    if (this.#counts[state] === 0) return []
    return [...this.#places.values()].filter((place) => place.state === state)
  }

  #put(text: string, place: RegistrationPlace): void {
    const before = this.#places.get(text)
    if (before !== undefined) this.#counts[before.state]--
    this.#counts[place.state]++
    this.#places.set(text, place)
  }

  #forget(text: string): void {
    const before = this.#places.get(text)
    if (before !== undefined) this.#counts[before.state]--
    this.#places.delete(text)
  }
}

const NONE: readonly string[] = []

const STATE_FOUND: Readonly<Record<AddressOwner, PlaceState>> = {
  'this connection': 'registered',
  nobody: 'missing',
  'another publisher': 'missing',
  'too many publishers': 'taken',
}

function runNow<T>(run: () => T | Promise<T>, settled: () => void): T | Promise<T> {
  try {
    const outcome = run()
    if (!(outcome instanceof Promise)) settled()
    return outcome
  } catch (error) {
    settled()
    throw error
  }
}

/** A replacement in parts of at most `most` instances; removals come first. */
export function replacementParts(whole: ReplacementPart, most: number): ReplacementPart[] {
  const { instances, leaving } = whole
  if (instances.length + leaving.length <= most) return [whole]
  const parts: ReplacementPart[] = []
  for (let from = 0; from < leaving.length; from += most)
    parts.push({ ...whole, instances: [], leaving: leaving.slice(from, from + most) })
  for (let from = 0; from < instances.length; from += most)
    parts.push({ ...whole, instances: instances.slice(from, from + most), leaving: [] })
  return parts
}
