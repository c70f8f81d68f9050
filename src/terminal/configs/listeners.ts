import { setTimeout as sleep } from 'node:timers/promises'
import type { Watcher, Watchers } from '../answers.ts'
import { type CommandResult, DiffersError, listed, timeText } from '../../command/command-line.ts'
import { tell } from '../../command/standard-error.ts'
import { addressText } from '../services/service-name.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import { type ItemFlags, type ItemName, itemOf, itemParams, nameText } from './item.ts'

/** How often the listeners of an item are asked for, milliseconds. */
const ASK_MS = 500

/** A client whose poll was answered polls again at once, but may be busy with the answer for this long. */
const RETURN_MS = 5_000

const HAS: Readonly<Record<Watcher['has'], string>> = {
  formal: 'the formal version',
  gray: 'its gray version',
  behind: 'another text',
  away: 'has not come back',
  unknown: 'unknown',
}

/** `config listeners`: the clients that listen for an item, and which version each has. */
export async function listenersOf(flags: ItemFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const { watchers, missingServers } = await watchersOf(client, itemOf(word, flags))
  tellMissing(missingServers)
  return listed<Watcher>(
    watchers,
    [
      ['CLIENT', clientText],
      ['LIBRARY', ({ agent }) => agent],
      ['VIA', ({ via }) => via],
      ['HAS', hasText],
      ['MD5', ({ md5 }) => md5],
      ['HEARD', ({ lastSeenMs }) => timeText(lastSeenMs)],
    ],
    clientText,
  )
}

function hasText({ has, grayName, lastSeenMs }: Watcher): string {
  if (has === 'away') return `${HAS.away} since ${timeText(lastSeenMs)}`
  return has === 'gray' ? `the gray version ${grayName}` : HAS[has]
}

/** The clients that listen for an item now, and those whose poll was answered so lately that they may be about to return. */
export function presentListeners({
  nowMs,
  watchers,
}: Pick<Watchers, 'nowMs' | 'watchers'>): readonly Watcher[] {
  return watchers.filter(({ listens, lastSeenMs }) => listens || nowMs - lastSeenMs < RETURN_MS)
}

/** The clients that listened for an item before it was changed. */
export class FormerListeners {
  readonly #client: SvcClient
  readonly #name: ItemName
  readonly #before: readonly Watcher[]

  private constructor(client: SvcClient, name: ItemName, before: readonly Watcher[]) {
    this.#client = client
    this.#name = name
    this.#before = before
  }

  /** Remembers who listens now. */
  static async of(client: SvcClient, name: ItemName): Promise<FormerListeners> {
    const found = await watchersOf(client, name)
    tellMissing(found.missingServers)
    return new FormerListeners(client, name, presentListeners(found))
  }

  /**
   * Waits until each of the former listeners has come back with the version that is for it. Resolves with a sentence about it.
   * Rejects with a DiffersError that names the late ones once `timeoutMs` has passed.
   */
  async haveIt(timeoutMs: number): Promise<string> {
    const count = this.#before.length
    if (count === 0) return 'Nobody listened for it.'
    const untilMs = performance.now() + timeoutMs
    for (;;) {
      const { watchers } = await watchersOf(this.#client, this.#name)
      const late = lateOf(this.#before, watchers)
      if (late.length === 0)
        return count === 1
          ? 'The client that listened has it.'
          : `All ${count} clients that listened have it.`
      if (performance.now() >= untilMs)
        throw new DiffersError(
          `${nameText(this.#name)} is published. After ${timeoutMs / 1_000} s these clients do not have it: ${late.join(', ')}.`,
        )
      await sleep(ASK_MS)
    }
  }
}

/** The clients that lack the version that is for them, each with the reason. */
function lateOf(before: readonly Watcher[], now: readonly Watcher[]): readonly string[] {
  const nowBy = byIdentity(now)
  return [...byIdentity(before)].flatMap(([identity, clients]) => {
    const found = nowBy.get(identity) ?? []
    const missing = clients.length - found.filter(({ has }) => isCurrent(has)).length
    const behind = found.filter(({ has }) => has !== 'away' && !isCurrent(has)).length
    return clients
      .slice(0, Math.max(0, missing))
      .map(
        (client, at) => `${clientText(client)} (${at < behind ? 'has another text' : 'has not come back'})`,
      )
  })
}

const isCurrent = (has: Watcher['has']): boolean => has === 'formal' || has === 'gray'

function byIdentity(clients: readonly Watcher[]): Map<string, Watcher[]> {
  const found = new Map<string, Watcher[]>()
  for (const client of clients) {
    const identity = identityOf(client)
    found.set(identity, [...(found.get(identity) ?? []), client])
  }
  return found
}

/** A client that polls may have another port at each poll, so its address and its library tell. */
function identityOf({ ip, ruleIp, port, agent, via }: Watcher): string {
  return JSON.stringify([via, ip, ruleIp, agent, via === 'poll' ? '' : port])
}

/** The clients that listen for an item. */
export function watchersOf(client: SvcClient, name: ItemName, rule: GrayRule | {} = {}): Promise<Watchers> {
  return client.get<Watchers>('/console/config/watchers', { ...itemParams(client, name), ...rule })
}

/** The address that rules of gray versions compare, and the one of the socket where that is another. */
function clientText({ ip, port, ruleIp }: Watcher): string {
  const socket = port === null ? ip : addressText({ ip, port })
  return ruleIp === ip ? socket : `${ruleIp} (${socket})`
}

/** A rule of a gray version; a name where it is for a version that is out. */
export interface GrayRule {
  readonly grayType: string
  readonly grayMatchRuleExp: string
  readonly grayName?: string
}

/** How many of the clients that listen a rule is for; empty if nobody can tell. */
export function matchingText({ matching, count }: Watchers): string {
  if (matching === null) return ''
  return `matches ${matching} of ${count === 1 ? '1 client that listens' : `${count} clients that listen`}`
}

function tellMissing(servers: readonly string[]): void {
  if (servers.length > 0) tell(`These servers did not name their clients: ${servers.join(', ')}.\n`)
}
