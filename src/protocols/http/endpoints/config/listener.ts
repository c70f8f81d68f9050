import type { Operations } from '../../../../operations/operations.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { WatchedItem } from '../../../../core/config/state/config-view.ts'
import type { PollHold, PollRequest } from '../../../../operations/config/config-listening.ts'
import { asciiAnswer, answersJson, Json, withMissing } from '../../routing/answers.ts'
import {
  type HttpCaller,
  type HeaderNote,
  type Held,
  type Request,
  type Answer,
  type Endpoint,
  endpoint,
} from '../../routing/route.ts'
import { agentOf, headerText, TAG_HEADER } from './http-viewer.ts'
import { listeningConfigsOf, LISTENING_CONFIGS } from './listening-configs.ts'
import { toNamespaceId, toTenant } from '../../../../core/namespaces/namespace.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/publish-params.ts'

/** Dependencies of the endpoints of listening. */
export interface ListenerParts {
  readonly listening: Operations['listening']
  /** The clock that polls are due by, in milliseconds. */
  readonly nowMs: () => number
  readonly maxListeningItems: number
}

/** How a dialect answers polls. */
export interface PollAnswers {
  /** The answer with the names of the items that differ, if any. */
  readonly of: (changed: readonly WatchedItem[]) => Answer
  /** The answer to a poll without a time-out; throws if the dialect requires a time-out. */
  readonly withoutTimeout: (changed: readonly WatchedItem[]) => Answer
}

/**
 * Makes answers of the encoded names of items, which are ASCII. The last answer is used again while the names are the
 * same: a change of an item answers thousands of polls one after the other.
 */
export function answersOfNames(
  toAnswer: (names: string) => Answer,
): (changed: readonly WatchedItem[]) => Answer {
  let last: { readonly names: string; readonly answer: Answer } | undefined
  return (changed) => {
    const names = changed.length === 1 ? changed[0]!.echo : changed.map((item) => item.echo).join('')
    if (last?.names !== names) last = { names, answer: asciiAnswer(toAnswer(encodeURIComponent(names))) }
    return last.answer
  }
}

/** No library has a longer name. */
const MOST_AGENT_CHARACTERS = 128

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

/** A poll is answered this long before its client gives it up. */
const ANSWER_BEFORE_MS = 500
const SHORTEST_TIMEOUT_MS = 1_000
const LONGEST_TIMEOUT_MS = 60_000

/** Body of a poll: 10,000 items with names of ordinary length, encoded. */
export const MAX_LISTEN_BODY_BYTES = 8 * 1024 * 1024

/** Answers a poll at once where something differs, else holds it; a poll of many items is held until all are compared. */
export function listen(
  request: ListenRequest,
  parts: ListenerParts,
  answers: PollAnswers,
): Answer | undefined {
  const { params, caller } = request
  const timeoutMs = timeoutOf(caller)
  const waits = timeoutMs !== undefined && !mustNotHang(caller)
  const items = listeningConfigsOf(params[LISTENING_CONFIGS], parts.maxListeningItems)
  const dueMs = waits ? parts.nowMs() + timeoutMs - ANSWER_BEFORE_MS : 0
  const client = { port: caller.socketPort, agent: shortened(agentOf(caller)) }
  const tag = headerText(caller, TAG_HEADER)
  const answerOf = timeoutMs === undefined ? answers.withoutTimeout : answers.of
  // Where the dialect requires a time-out, a poll without one is refused before it is compared.
  if (timeoutMs === undefined) answerOf([])
  const poll = new ListeningPoll({ items, ip: caller.ip, tag, client, dueMs, waits }, answerOf)
  const polled = parts.listening.poll(poll, caller)
  switch (polled.kind) {
    case 'compared':
      return answerOf(polled.changed)
    case 'held':
      return poll.holdRequest(request, polled.handle)
    case 'too-many':
      throw tooManyPolls()
  }
}

/** A poll and, while it is held, the request that waits for its answer. */
class ListeningPoll implements PollRequest {
  readonly items: readonly WatchedItem[]
  readonly ip: string
  readonly tag: string | undefined
  readonly client: PollRequest['client']
  readonly dueMs: number
  readonly waits: boolean
  readonly #answerOf: PollAnswers['of']
  #held: Held | undefined
  #early: Answer | undefined

  constructor(
    { items, ip, tag, client, dueMs, waits }: Omit<PollRequest, 'answer' | 'giveWay'>,
    answerOf: PollAnswers['of'],
  ) {
    this.items = items
    this.ip = ip
    this.tag = tag
    this.client = client
    this.dueMs = dueMs
    this.waits = waits
    this.#answerOf = answerOf
  }

  /** Holds the request of a poll that is held, unless the holder has answered it already. */
  holdRequest(request: ListenRequest, handle: PollHold): Answer | undefined {
    if (this.#early !== undefined) return this.#early
    this.#held = request.hold()
    this.#held.onGone(() => handle.cancel())
    return undefined
  }

  answer(changed: readonly WatchedItem[]): void {
    const answer = this.#answerOf(changed)
    if (this.#held === undefined) this.#early = answer
    else this.#held.answer(answer)
  }

  giveWay(): void {
    this.#held?.refuse(tooManyPolls())
  }
}

/** It is kept as long as the poll, and a little longer. */
function shortened(agent: string): string {
  return agent.length > MOST_AGENT_CHARACTERS ? agent.slice(0, MOST_AGENT_CHARACTERS) : agent
}

/** The time-out of a poll, in milliseconds; undefined if the client gives no time-out. */
function timeoutOf(caller: HttpCaller): number | undefined {
  const text = headerText(caller, TIMEOUT_HEADER)
  if (text === undefined) return undefined
  if (!/^[+-]?\d{1,18}$/.test(text)) {
    const message = `The header ${TIMEOUT_HEADER} must be ${TIMEOUT_ALLOWED}.`
    throw new Refusal('invalid-parameter', message, { parameter: TIMEOUT_HEADER, allowed: TIMEOUT_ALLOWED })
  }
  return Math.min(Math.max(Number(text), SHORTEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS)
}

function mustNotHang(caller: HttpCaller): boolean {
  return headerText(caller, NO_HANGUP_HEADER)?.toLowerCase() === 'true'
}

/** A 503: it is no fault of the client, which waits a little before it tries again. */
function tooManyPolls(): Refusal {
  const message = 'The server holds as many polls as it may: try again in a moment.'
  return new Refusal('server-status', message, { names: { status: 'BUSY' } })
}

const WATCHING = Json.named(
  'Listening',
  Json.object({
    collectStatus: Json.constant(200),
    lisentersGroupkeyStatus: Json.map(Json.string('The md5 that the client has.')),
  }),
)

/**
 * The watchers of items, and the items of a watcher (http-compat.md section 2); `json` labels the answers as
 * the dialect does.
 */
export function watchingEndpoints(listening: Operations['listening'], json: (value: object) => Answer) {
  return {
    watchersOf: endpoint({
      summary: 'The addresses that watch an item, each with its md5',
      permission: listening.watchersOf.permission,
      answers: answersJson(WATCHING),
      params: Type.Object(KEY_PARAMS),
      handle: ({ params, caller }) =>
        afterwards(listening.watchersOf(toConfigKey(params), caller), ({ value, missing }) =>
          withMissing(json(watchJson(value)), missing),
        ),
    }),
    watchedBy: endpoint({
      summary: 'The items of a namespace that an address watches, each with its md5',
      permission: listening.watchedBy.permission,
      answers: answersJson(WATCHING),
      params: Type.Object({
        ip: Type.String({ maxLength: 128, description: 'The address of the client.' }),
        tenant: Type.Optional(fields.tenant),
        all: Type.Optional(Type.Boolean({ description: 'The items of every namespace.' })),
      }),
      handle: ({ params, caller }) => {
        const namespaceId = params.all === true ? undefined : toNamespaceId(params.tenant)
        return afterwards(
          listening.watchedBy({ ip: params.ip, namespaceId }, caller),
          ({ value: items, missing }) =>
            withMissing(json(watchJson(items.map((item) => [nameOf(item), item.md5]))), missing),
        )
      },
    }),
  } satisfies Record<string, Endpoint>
}

/** `dataId+group`, and `+tenant` outside the default namespace. */
function nameOf({ key }: WatchedItem): string {
  const tenant = toTenant(key.namespaceId)
  return [key.dataId, key.group, ...(tenant === '' ? [] : [tenant])].join('+')
}

/** Tools look for this name of the field. */
function watchJson(md5ByName: Iterable<readonly [string, string]>): object {
  return { collectStatus: 200, lisentersGroupkeyStatus: Object.fromEntries(md5ByName) }
}
