import type { LiveEvent } from './answers.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, type CommandResult, EXIT, print } from '../command/command-line.ts'
import { RefusedError } from './server-session.ts'
import type { SvcClient } from './session-of-flags.ts'
import { FORMATS, jsonLine, yamlText } from '../command/output.ts'
import { tell } from '../command/standard-error.ts'
import { type Part, Painted, painted, printableWord } from '../command/terminal-text.ts'
import type { ClientFlags } from './server-options.ts'

/** A message of the server: a change; or `begun` and `reset`, after which everything may be different. */
export type LiveMessage =
  | { readonly kind: 'begun' | 'reset' }
  | { readonly kind: 'changed'; readonly event: LiveEvent }

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 15_000

/**
 * The changes on the server, until the caller stops. A broken stream is opened again, where it was: servers restart and
 * proxies cut. A token is renewed then. Throws if the first stream cannot be opened, or if the user is not signed in any
 * more.
 */
export async function* liveMessages(client: SvcClient): AsyncGenerator<LiveMessage> {
  let lastId = ''
  let hasBegun = false
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
    try {
      for await (const part of eventParts(await client.stream('/console/events', lastId))) {
        retryMs = FIRST_RETRY_MS
        lastId = part.id ?? lastId
        const isFirst: boolean = part.event === 'begun' && !hasBegun
        hasBegun ||= isFirst
        if (part.event === 'changed') yield { kind: 'changed', event: JSON.parse(part.data) as LiveEvent }
        else if (part.event === 'reset' || isFirst) yield { kind: isFirst ? 'begun' : 'reset' }
      }
    } catch (error) {
      if (!hasBegun || error instanceof RefusedError) throw error
      tell(`waypost: ${messageOf(error)} Trying again.\n`)
    }
    await sleep(retryMs)
  }
}

/** One server-sent event. */
interface EventPart {
  readonly event: string
  readonly data: string
  readonly id: string | undefined
}

async function* eventParts(stream: ReadableStream<Uint8Array>): AsyncGenerator<EventPart> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      yield eventPart(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
}

function eventPart(block: string): EventPart {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const
    }),
  )
  return { event: fields.get('event') ?? '', data: fields.get('data') ?? '', id: fields.get('id') }
}

const KNOWN_KINDS: ReadonlySet<string> = new Set(
  Object.keys({
    config: true,
    service: true,
    namespace: true,
    switch: true,
    user: true,
    role: true,
    permission: true,
    server: true,
    rights: true,
    watchers: true,
    condition: true,
    audit: true,
  } satisfies Record<LiveEvent['kind'], true>),
)

/** Whether only a later version knows this kind of event. A watch prints such an event as it is. */
export function isUnknown({ kind, namespaceId = '' }: LiveEvent, { namespace }: SvcClient): boolean {
  const isElsewhere = namespaceId !== '' && namespaceId !== (namespace || 'public')
  return !KNOWN_KINDS.has(kind) && !isElsewhere
}

/** Prints an event whose kind is unknown. */
export function printUnknown(event: LiveEvent, flags: WatchFlags): Promise<void> {
  const { revision: _, ...about } = event
  return printLine({ change: 'unknown', ...event }, ['unknown', ...Object.values(about).map(String)], flags)
}

/** Reports why a change could not be read. The watch continues: the next event finds what is missing. */
export function sayUnread(error: unknown): void {
  tell(`waypost: ${printableWord(messageOf(error))} Watching continues.\n`)
}

/** The flags of commands that watch. */
export interface WatchFlags extends ClientFlags {
  readonly once?: boolean
}

/** Prints a change: one line of words, one line of JSON, or one document of YAML. */
export async function printLine(
  change: object,
  words: readonly Part[],
  { output }: WatchFlags,
): Promise<void> {
  if (output === FORMATS.json) return print(jsonLine(change))
  if (output === FORMATS.yaml) return print(`---\n${await yamlText(change)}`)
  return print(Painted.lines([painted(words.flatMap((word, at) => (at === 0 ? [word] : ['  ', word])))]))
}

/**
 * Watches until SIGINT or SIGTERM, which is no failure: the output until then is whole. A second signal ends the process
 * at once.
 */
export async function untilInterrupted(watch: () => Promise<CommandResult>): Promise<CommandResult> {
  const interrupted = new Promise<CommandResult>((resolve) => {
    const end = (): void => {
      // A terminal has shown ^C on this line.
      if (process.stderr.isTTY) tell('\n')
      resolve({ code: EXIT.done })
    }
    process.once('SIGINT', end).once('SIGTERM', end)
  })
  return Promise.race([watch(), interrupted])
}

/** Reports on standard error that no change is missed from now on. */
export function sayWatching({ session, namespace }: SvcClient): void {
  tell(`watching ${printableWord(namespace || 'public')} on ${session.url}; Ctrl-C ends it\n`)
}
