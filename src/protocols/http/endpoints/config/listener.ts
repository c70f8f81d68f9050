import type { ConfigKey } from '../../../../core/config/config-item.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { asciiAnswer } from '../../routing/answers.ts'
import type { Answer, Caller, HeaderNote, Held, Request } from '../../routing/route.ts'
import { headerText } from './header-text.ts'
import { listeningConfigsOf, LISTENING_CONFIGS, type WatchedItem } from './listening-configs.ts'

/** A poll to hold: `answer` is called once, with the items that differ or with none. */
export interface HoldablePoll {
  readonly items: readonly WatchedItem[]
  readonly ip: string
  /** When it is answered at the latest, on the clock of `nowMs`. */
  readonly dueMs: number
  answer(changed: readonly WatchedItem[]): void
}

/** Who compares and holds polls. */
export interface PollHolder {
  /** The items that differ from what the client has. */
  compare(items: readonly WatchedItem[]): readonly WatchedItem[]
  /** Holds a poll that was just compared. A holder that stops may answer it before it returns. */
  hold(poll: HoldablePoll): { cancel(): void } | 'too-many'
  /** Who watches an item: the md5 that each address has. */
  watchersOf(key: ConfigKey): ReadonlyMap<string, string>
  /** What an address watches. */
  watchedBy(ip: string): readonly WatchedItem[]
}

/** What listening works on. */
export interface ListenerParts {
  readonly polls: PollHolder
  /** The clock that polls are due by, in milliseconds. */
  readonly nowMs: () => number
  readonly maxListeningItems: number
}

/** How a dialect answers polls. */
export interface ListenerManners {
  /** The answer that names the items that differ, or none. */
  readonly tell: (changed: readonly WatchedItem[]) => Answer
  /** The answer to a poll that does not say how long it waits; throws where the dialect insists. */
  readonly tellWithoutTimeout: (changed: readonly WatchedItem[]) => Answer
}

/**
 * Makes answers of the names of items, encoded and so in ASCII, and gives the last one again where the names are the same: thousands of
 * polls of one item are answered with it one after the other.
 */
export function tellingNames(
  toAnswer: (names: string) => Answer,
): (changed: readonly WatchedItem[]) => Answer {
  let last: { readonly names: string; readonly answer: Answer } | undefined
  return (changed) => {
    const names = changed.length === 1 ? changed[0]!.echo : changed.map((item) => item.echo).join('')
    if (last?.names !== names) last = { names, answer: asciiAnswer(toAnswer(names)) }
    return last.answer
  }
}

/** A request that polls. */
export type ListenRequest = Request<{ [LISTENING_CONFIGS]: string }>

/** The header that says how long the client waits, in milliseconds. */
export const TIMEOUT_HEADER = 'Long-Pulling-Timeout'
export const TIMEOUT_ALLOWED = 'a number of milliseconds, e.g. 30000'
const NO_HANGUP_HEADER = 'Long-Pulling-Timeout-No-Hangup'

/** The header fields of a poll; the time-out is required on one dialect only. */
export function listenerHeaders(timeoutRequired: boolean): Record<string, HeaderNote> {
  return {
    [TIMEOUT_HEADER]: {
      description: 'How long the client waits, in milliseconds, from 1000 to 60000; answered 500 ms before.',
      required: timeoutRequired,
    },
    [NO_HANGUP_HEADER]: {
      description: 'true: answer at once, whether anything differs or not.',
      required: false,
    },
  }
}

/** A poll is answered so long before its client gives up. */
const ANSWER_BEFORE_MS = 500
const SHORTEST_TIMEOUT_MS = 1_000
const LONGEST_TIMEOUT_MS = 60_000

/** Body of a poll: 10,000 items with names of ordinary length, encoded. */
export const MAX_LISTEN_BODY_BYTES = 8 * 1024 * 1024

/**
 * Answers a poll at once where something differs, else holds it. Nothing may be awaited in here: a change
 * between the comparison and the holding would be missed.
 */
export function listen(
  request: ListenRequest,
  parts: ListenerParts,
  manners: ListenerManners,
): Answer | undefined {
  const { params, caller } = request
  const timeoutMs = timeoutOf(caller)
  const items = listeningConfigsOf(params[LISTENING_CONFIGS], parts.maxListeningItems)
  const changed = parts.polls.compare(items)
  if (timeoutMs === undefined) return manners.tellWithoutTimeout(changed)
  if (changed.length > 0 || mustNotHang(caller)) return manners.tell(changed)
  const dueMs = parts.nowMs() + timeoutMs - ANSWER_BEFORE_MS
  return new ListeningPoll({ items, ip: caller.ip, dueMs }, manners).wait(request, parts.polls)
}

/** A poll and, while it is held, the request that waits for its answer. */
class ListeningPoll implements HoldablePoll {
  readonly items: readonly WatchedItem[]
  readonly ip: string
  readonly dueMs: number
  readonly #manners: ListenerManners
  #held: Held | undefined
  #early: Answer | undefined

  constructor({ items, ip, dueMs }: Omit<HoldablePoll, 'answer'>, manners: ListenerManners) {
    this.items = items
    this.ip = ip
    this.dueMs = dueMs
    this.#manners = manners
  }

  /** Has the poll held; gives the answer where the holder gave it there and then. */
  wait(request: ListenRequest, polls: PollHolder): Answer | undefined {
    const handle = polls.hold(this)
    if (handle === 'too-many') throw tooManyPolls()
    if (this.#early !== undefined) return this.#early
    this.#held = request.hold()
    this.#held.onGone(() => handle.cancel())
    return undefined
  }

  answer(changed: readonly WatchedItem[]): void {
    const answer = this.#manners.tell(changed)
    if (this.#held === undefined) this.#early = answer
    else this.#held.answer(answer)
  }
}

/** The time-out of a poll, in milliseconds; undefined where the client gives none. */
function timeoutOf(caller: Caller): number | undefined {
  const text = headerText(caller, TIMEOUT_HEADER)
  if (text === undefined) return undefined
  if (!/^[+-]?\d{1,18}$/.test(text)) {
    const message = `The header ${TIMEOUT_HEADER} must be ${TIMEOUT_ALLOWED}.`
    throw new Refusal('invalid-parameter', message, { parameter: TIMEOUT_HEADER, allowed: TIMEOUT_ALLOWED })
  }
  return Math.min(Math.max(Number(text), SHORTEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS)
}

function mustNotHang(caller: Caller): boolean {
  return headerText(caller, NO_HANGUP_HEADER)?.toLowerCase() === 'true'
}

/** A 503: the client is not to blame, and waits a little before it tries again. */
function tooManyPolls(): Refusal {
  const message = 'The server holds as many polls as it may: try again in a moment.'
  return new Refusal('server-status', message, { names: { status: 'BUSY' } })
}
