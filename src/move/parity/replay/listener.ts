import type { PlanItem } from '../../../plan/plan.ts'
import type { KnownServer } from '../../old/detect-server.ts'
import { CallError } from '../../old/fields.ts'
import type { ComparedFields } from '../compared-fields.ts'
import { type BothServers, Replayed } from './replayed.ts'

/** An item, and the md5 of the content that both servers have. */
export interface ListenedItem {
  readonly name: string
  readonly item: PlanItem
  readonly md5: string
}

/** The items of a call: old servers take forms of 2 MB. */
const ITEMS_OF_A_CALL = 200
/** An md5 that no content has. */
const WRONG_MD5 = '0'.repeat(32)
const WORD = '\u0002'
const END = '\u0001'
/** The header fields of a client that begins to listen: the server answers at once with the changes. */
const HEADERS = { 'Long-Pulling-Timeout': '10000', 'Long-Pulling-Timeout-No-Hangup': 'true' }

/** Listens to each item with the right md5, which must report no change, and with a wrong md5. */
export async function replayListener(
  servers: BothServers,
  items: readonly ListenedItem[],
  show: (done: number, total: number) => void,
): Promise<Replayed> {
  const replayed = new Replayed('listener')
  for (let from = 0; from < items.length; from += ITEMS_OF_A_CALL) {
    const some = items.slice(from, from + ITEMS_OF_A_CALL)
    const name = `${some[0]!.name} and ${some.length - 1} more`
    const asked = await Promise.all([listen(servers.old, some), listen(servers.new, some)]).catch(
      (error: unknown) => {
        if (!(error instanceof CallError)) throw error
        replayed.failed.push({ kind: 'cannot-come', about: 'listener', name, reason: error.message })
        return undefined
      },
    )
    if (asked !== undefined) await compareEach(replayed, servers, { some, asked })
    show(Math.min(from + ITEMS_OF_A_CALL, items.length), items.length)
  }
  return replayed
}

type Answer = (item: ListenedItem) => ComparedFields

async function compareEach(
  replayed: Replayed,
  servers: BothServers,
  {
    some,
    asked: [old, other],
  }: { readonly some: readonly ListenedItem[]; readonly asked: readonly [Answer, Answer] },
): Promise<void> {
  for (const item of some)
    await replayed.compare(item.name, servers, async (server) => (server === servers.old ? old : other)(item))
}

/** The server's answer about each item, by the md5 that a client has. */
async function listen(server: KnownServer, some: readonly ListenedItem[]): Promise<Answer> {
  const right = await changedOf(
    server,
    some.map((one) => entryOf(one.item, one.md5)),
  )
  const wrong = await changedOf(
    server,
    some.map((one) => entryOf(one.item, WRONG_MD5)),
  )
  return ({ item }) => ({
    'with the right md5': right.has(keyOf(item)) ? 'changed' : 'unchanged',
    'with a wrong md5': wrong.has(keyOf(item)) ? 'changed' : 'unchanged',
  })
}

async function changedOf({ server }: KnownServer, entries: readonly string[]): Promise<ReadonlySet<string>> {
  const path = '/v1/cs/configs/listener'
  const form = { 'Listening-Configs': entries.join('') }
  const { status, text } = await server.send({ method: 'POST', path, form, headers: HEADERS })
  if (status !== 200)
    throw new CallError(`POST ${server.url}${path} answers ${status}: ${text.slice(0, 300)}`, status)
  const changed = decodeURIComponent(text.trim()).split(END)
  return new Set(changed.filter((one) => one !== '').map(withoutEmptyTenant))
}

function entryOf(item: PlanItem, md5: string): string {
  const tenant = item.namespace === '' ? '' : `${WORD}${item.namespace}`
  return `${item.dataId}${WORD}${item.group}${WORD}${md5}${tenant}${END}`
}

function keyOf({ dataId, group, namespace }: PlanItem): string {
  return [dataId, group, ...(namespace === '' ? [] : [namespace])].join(WORD)
}

/** Some servers name the default namespace by an empty word. */
function withoutEmptyTenant(entry: string): string {
  return entry.endsWith(WORD) ? entry.slice(0, -1) : entry
}
