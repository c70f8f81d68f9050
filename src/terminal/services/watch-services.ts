import type { LiveEvent, Timeline, TimelineEntry } from '../answers.ts'
import { type CommandResult, DiffersError, EXIT, timeText } from '../../command/command-line.ts'
import { type Paint, type Part, painted } from '../../command/terminal-text.ts'
import {
  isUnknown,
  type LiveMessage,
  liveMessages,
  printLine,
  printUnknown,
  sayUnread,
  sayWatching,
  untilInterrupted,
  type WatchFlags,
} from '../live-events.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import { allServices, type ServiceFlags } from './services.ts'
import { addressText, type ServiceName, serviceOf, serviceParams, serviceText } from './service-name.ts'

/** `service watch`: prints changes of instances as they come, until it is interrupted. */
export function watchServices(
  flags: ServiceFlags & WatchFlags,
  words: readonly string[],
): Promise<CommandResult> {
  return untilInterrupted(() => watch(flags, words))
}

async function watch(flags: ServiceFlags & WatchFlags, words: readonly string[]): Promise<CommandResult> {
  const client = clientOf(flags)
  const watched = new WatchedServices(client, flags, words)
  for await (const message of liveMessages(client)) {
    if (message.kind === 'changed' && isUnknown(message.event, client))
      await printUnknown(message.event, flags)
    for (const { service, entry } of await entriesOf(watched, message)) {
      await printLine({ ...service, ...entry }, lineOf(service, entry), flags)
      if (flags.once === true) return { code: EXIT.done }
    }
    if (message.kind === 'begun') sayWatching(client)
  }
  return { code: EXIT.done }
}

/** An entry of a timeline, or the end of a service. */
interface WatchedEntry {
  readonly service: ServiceName
  readonly entry: TimelineEntry | ServiceDeleted
}

/** The end of a service. */
interface ServiceDeleted {
  readonly kind: 'service-deleted'
  /** When this program noticed it. */
  readonly atMs: number
}

/** The entries of a message. Only the first message may fail: no event ends a watch. */
async function entriesOf(watched: WatchedServices, message: LiveMessage): Promise<readonly WatchedEntry[]> {
  const isFirst = message.kind === 'begun'
  try {
    return await watched.entriesOf(message, { isFirst })
  } catch (error) {
    if (isFirst) throw error
    watched.missed()
    sayUnread(error)
    return []
  }
}

const PAINTS: Readonly<Record<string, Paint>> = {
  registered: 'green',
  healthy: 'green',
  enabled: 'green',
  removed: 'red',
  unhealthy: 'red',
  disabled: 'yellow',
}

function lineOf(service: ServiceName, entry: WatchedEntry['entry']): readonly Part[] {
  if (entry.kind === 'service-deleted')
    return [timeText(entry.atMs), painted(entry.kind, 'red'), serviceText(service)]
  const { atMs, kind, clusterName, cause, user, text } = entry
  const paint = PAINTS[kind]
  const about = [serviceText(service), addressText(entry), clusterName, cause, user ?? '', text]
  return [timeText(atMs), painted(kind, paint), ...about.filter((part) => part !== '')]
}

/** The watched services, with the entries of their timelines that were printed already. */
class WatchedServices {
  readonly #client: SvcClient
  readonly #names: readonly ServiceName[]
  readonly #group: string | undefined
  readonly #seen = new Map<string, ReadonlySet<string>>()
  /** The watched services that were there at the last look. */
  readonly #known = new Map<string, ServiceName>()
  /** Whether an event could not be read. */
  #isStale = false

  constructor(client: SvcClient, flags: ServiceFlags, words: readonly string[]) {
    this.#client = client
    this.#names = words.map((word) => serviceOf(word, flags))
    this.#group = flags.group
  }

  /** The next call compares everything. */
  missed(): void {
    this.#isStale = true
  }

  /** The new entries of the services that a message is about. */
  async entriesOf(message: LiveMessage, { isFirst }: { isFirst: boolean }): Promise<readonly WatchedEntry[]> {
    const isOne = message.kind === 'changed' && !this.#isStale
    const services = isOne ? this.#serviceOf(message.event) : await this.#all()
    const found: WatchedEntry[] = []
    for (const service of services)
      for (const entry of await this.#newEntries(service, { isFirst })) found.push({ service, entry })
    this.#isStale = false
    return found
  }

  /** The watched services, and the services that were there before. */
  async #all(): Promise<readonly ServiceName[]> {
    if (this.#names.length > 0) return this.#names
    const found = await allServices(this.#client, { groupName: this.#group })
    const present = found.map(({ groupName, name }) => ({ groupName, serviceName: name }))
    const names = new Set(present.map(serviceText))
    return [...present, ...[...this.#known.values()].filter((service) => !names.has(serviceText(service)))]
  }

  /** The watched service that an event is about; empty for other events. */
  #serviceOf({
    kind,
    namespaceId = '',
    groupName = '',
    serviceName = '',
  }: LiveEvent): readonly ServiceName[] {
    const isHere = (namespaceId === 'public' ? '' : namespaceId) === this.#client.namespace
    const name = { groupName, serviceName }
    return kind === 'service' && isHere && this.#isWatched(name) ? [name] : []
  }

  /** The new entries in the timeline of a service, oldest first. The first call returns none. */
  async #newEntries(
    service: ServiceName,
    { isFirst }: { isFirst: boolean },
  ): Promise<readonly WatchedEntry['entry'][]> {
    const [entries, isThere] = await Promise.all([
      timelineOf(this.#client, service),
      existsOn(this.#client, service),
    ])
    const key = serviceText(service)
    const before = this.#seen.get(key) ?? new Set()
    this.#seen.set(key, new Set(entries.map((entry) => JSON.stringify(entry))))
    const isDeleted = !isThere && this.#known.delete(key)
    if (isThere) this.#known.set(key, service)
    if (isFirst) return []
    const newer = entries.filter((entry) => !before.has(JSON.stringify(entry)))
    const end: ServiceDeleted[] = isDeleted ? [{ kind: 'service-deleted', atMs: Date.now() }] : []
    return [...newer.toReversed(), ...end]
  }

  #isWatched(name: ServiceName): boolean {
    if (this.#names.length > 0) return this.#names.some((one) => serviceText(one) === serviceText(name))
    return this.#group === undefined || name.groupName === this.#group
  }
}

async function timelineOf(client: SvcClient, service: ServiceName): Promise<readonly TimelineEntry[]> {
  try {
    const params = serviceParams(client, service)
    return (await client.get<Timeline>('/console/timeline', params)).entries
  } catch (error) {
    if (error instanceof DiffersError) return []
    throw error
  }
}

async function existsOn(client: SvcClient, service: ServiceName): Promise<boolean> {
  try {
    await client.get('/ns/service', serviceParams(client, service))
    return true
  } catch (error) {
    if (error instanceof DiffersError) return false
    throw error
  }
}
