import type { LiveEvent, Timeline, TimelineEntry } from '../answers.ts'
import { type CommandResult, DiffersError, EXIT, timeText } from '../../command-line.ts'
import { type Paint, type Part, painted } from '../../terminal-text.ts'
import { liveMessages, printLine, sayWatching, untilInterrupted, type WatchFlags } from '../live-events.ts'
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
    const services = message.kind === 'changed' ? watched.serviceOf(message.event) : await watched.all()
    const isFirst = message.kind === 'begun'
    for (const service of services)
      for (const entry of await watched.entriesOf(service, { isFirst })) {
        await printLine({ ...service, ...entry }, lineOf(service, entry), flags)
        if (flags.once === true) return { code: EXIT.done }
      }
    if (isFirst) sayWatching(client)
  }
  return { code: EXIT.done }
}

const PAINTS: Readonly<Record<string, Paint>> = {
  registered: 'green',
  healthy: 'green',
  enabled: 'green',
  removed: 'red',
  unhealthy: 'red',
  disabled: 'yellow',
}

function lineOf(service: ServiceName, entry: TimelineEntry): readonly Part[] {
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

  constructor(client: SvcClient, flags: ServiceFlags, words: readonly string[]) {
    this.#client = client
    this.#names = words.map((word) => serviceOf(word, flags))
    this.#group = flags.group
  }

  /** The watched services that there are. */
  async all(): Promise<readonly ServiceName[]> {
    if (this.#names.length > 0) return this.#names
    const found = await allServices(this.#client, { groupName: this.#group })
    return found.map(({ groupName, name }) => ({ groupName, serviceName: name }))
  }

  /** The watched service that an event is about; empty for other events. */
  serviceOf({ kind, namespaceId = '', groupName = '', serviceName = '' }: LiveEvent): readonly ServiceName[] {
    const isHere = (namespaceId === 'public' ? '' : namespaceId) === this.#client.namespace
    const name = { groupName, serviceName }
    return kind === 'service' && isHere && this.#isWatched(name) ? [name] : []
  }

  /** The new entries in the timeline of a service, oldest first. The first call returns none. */
  async entriesOf(
    service: ServiceName,
    { isFirst }: { isFirst: boolean },
  ): Promise<readonly TimelineEntry[]> {
    const entries = await timelineOf(this.#client, service)
    const key = serviceText(service)
    const before = this.#seen.get(key) ?? new Set()
    this.#seen.set(key, new Set(entries.map((entry) => JSON.stringify(entry))))
    if (isFirst) return []
    return entries.filter((entry) => !before.has(JSON.stringify(entry))).toSorted((a, b) => a.atMs - b.atMs)
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
