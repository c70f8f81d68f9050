import { type CommandResult, EXIT, timeText } from '../../command/command-line.ts'
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
import { RefusedError } from '../server-session.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import { type ItemFlags, type ItemName, itemOf, nameText, readItem } from './item.ts'
import { type WatchedChange, WatchedConfigs } from './watched-configs.ts'

/** `config watch`: prints changes as they come, until it is interrupted; with `--once`, until the first change. */
export function watchConfigs(
  flags: ItemFlags & WatchFlags,
  words: readonly string[],
): Promise<CommandResult> {
  return untilInterrupted(() => watch(flags, words))
}

async function watch(flags: ItemFlags & WatchFlags, words: readonly string[]): Promise<CommandResult> {
  const client = clientOf(flags)
  const watched = new WatchedConfigs(client, flags, words)
  for (const word of words) await requireReadable(client, itemOf(word, flags))
  for await (const message of liveMessages(client)) {
    if (message.kind === 'changed' && isUnknown(message.event, client))
      await printUnknown(message.event, flags)
    const changes = await changesOf(watched, message)
    if (message.kind === 'begun') sayWatching(client)
    for (const change of changes) {
      await printLine(change, lineOf(change), flags)
      if (flags.once === true) return { code: EXIT.done, text: '' }
    }
  }
  return { code: EXIT.done }
}

/** Throws the refusal of an item that the user may not read: no change of it would ever come. */
async function requireReadable(client: SvcClient, name: ItemName): Promise<void> {
  await readItem(client, name).catch((error: unknown) => {
    // An item that is not there yet, or is damaged, can be watched.
    if (error instanceof RefusedError) throw error
  })
}

/** The changes of a message. Only the first message may fail: no event ends a watch. */
async function changesOf(watched: WatchedConfigs, message: LiveMessage): Promise<readonly WatchedChange[]> {
  try {
    return message.kind === 'changed' ? await watched.changesOf(message.event) : await watched.compared()
  } catch (error) {
    if (message.kind === 'begun') throw error
    watched.missed()
    sayUnread(error)
    return []
  }
}

const PAINTS: Readonly<Record<WatchedChange['change'], Paint>> = {
  published: 'green',
  promoted: 'green',
  gray: 'yellow',
  'gray-stopped': 'yellow',
  deleted: 'red',
}

function lineOf(watchedChange: WatchedChange): readonly Part[] {
  const { change, atMs, group, dataId, md5, size, grayName, grayMatchRuleExp, user, comment } = watchedChange
  const parts = [grayName, grayMatchRuleExp, ...(md5 === null ? [] : [md5, `${size} bytes`])]
  const why = [user === null ? undefined : `by ${user}`, comment ? `"${comment}"` : undefined]
  const about = [...parts, ...why].filter((part) => part !== undefined)
  return [timeText(atMs), painted(change, PAINTS[change]), nameText({ group, dataId }), ...about]
}
