import { md5 } from '../../../interface/client.ts'
import { ask, type Reply } from '../load/ask.ts'
import { CHANGING } from '../load/clients.ts'
import { CONNECTED } from '../load/connected.ts'
import { TAGGED, taggedKey } from '../load/gray-clients.ts'
import { STEADY } from '../load/beating.ts'
import type { Operation } from '../load/recording.ts'
import type { FinalGrayItem, GrayItemRecord } from './gray-history.ts'
import type { FinalItem } from './item-history.ts'

const PAGE = 500

/** Everything that a server answers about data, by what was asked for. */
export type Picture = ReadonlyMap<string, string>

/** All items with all pages of their history, all lists of instances and services, the catalog and the namespaces. */
export async function pictureOf(
  url: string,
  items: readonly string[],
  grayItems: readonly string[] = [],
): Promise<Picture> {
  const picture = new Map<string, string>()
  const note = async (path: string, query: Record<string, string | number> = {}): Promise<string> => {
    const text = shownText(await ask(url, { method: 'GET', path, query }))
    picture.set(`${path}?${JSON.stringify(query)}`, text)
    return text
  }
  for (const dataId of grayItems) {
    const query = { dataId, group: 'G' }
    const reply = await ask(url, { method: 'GET', path: '/svc/v1/cs/configs', query, headers: TAGGED })
    picture.set(taggedKey(dataId), shownText(reply))
  }
  for (const dataId of [...items, ...grayItems]) {
    await note('/svc/v1/cs/configs', { dataId, group: 'G' })
    for (let pageNo = 1, pages = 1; pageNo <= pages; pageNo++) {
      const page = await note('/svc/v1/cs/history', historyQuery(dataId, pageNo))
      pages = page.startsWith('{') ? (JSON.parse(page) as HistoryPage).pagesAvailable : 0
    }
  }
  await note('/svc/v1/console/namespaces')
  await note('/svc/v1/ns/service/list', { pageNo: 1, pageSize: PAGE })
  for (const serviceName of [STEADY, CHANGING, CONNECTED])
    await note('/svc/v1/ns/instance/list', { serviceName })
  for (const [asked, text] of picture) picture.set(asked, withoutTimes(text))
  return picture
}

function shownText(reply: Reply): string {
  if (reply.kind !== 'answered') return reply.kind
  return reply.status === 200 ? reply.text : `status ${reply.status}`
}

/** The addresses of the instances of connections in a picture, sorted. */
export function connectedIn(picture: Picture): string[] {
  const text = picture.get(`/svc/v1/ns/instance/list?${JSON.stringify({ serviceName: CONNECTED })}`)!
  if (!text.startsWith('{')) return [text]
  const { hosts } = JSON.parse(text) as { hosts: { ip: string; port: number }[] }
  return hosts.map(({ ip, port }) => `${ip}:${port}`).sort()
}

/** A server that has just loaded may have a later `lastRefTime`. */
function withoutTimes(text: string): string {
  return text.replace(/"lastRefTime":\d+/, '"lastRefTime":0')
}

/** The md5 of a picture. */
export function digestOf(picture: Picture): string {
  return md5(JSON.stringify([...picture]))
}

/** The differences in another picture. */
export function differences(one: Picture, other: Picture): string[] {
  const asked = new Set([...one.keys(), ...other.keys()])
  return [...asked]
    .filter((each) => one.get(each) !== other.get(each))
    .map((each) => `${each}: ${one.get(each)?.slice(0, 300)} but ${other.get(each)?.slice(0, 300)}`)
}

interface HistoryPage {
  readonly pagesAvailable: number
  readonly pageItems: readonly {
    readonly id: string
    readonly opType: string
    readonly srcUser: string | null
    readonly publishType?: 'gray'
  }[]
}

function historyQuery(dataId: string, pageNo: number) {
  return { search: 'accurate', dataId, group: 'G', pageNo, pageSize: PAGE }
}

/** The items with their records, from a picture. */
export function itemsIn(picture: Picture, items: readonly string[]): FinalItem[] {
  return items.map((item) => {
    return { item, records: recordsIn(picture, item), present: contentIn(picture, item) }
  })
}

/** The items that may have a gray version. */
export function grayItemsIn(picture: Picture, items: readonly string[]): FinalGrayItem[] {
  return items.map((item) => {
    const tagged = presentIn(picture.get(taggedKey(item)))
    return { item, records: recordsIn(picture, item), formal: contentIn(picture, item), tagged }
  })
}

function recordsIn(picture: Picture, item: string): GrayItemRecord[] {
  const records: GrayItemRecord[] = []
  for (let pageNo = 1; ; pageNo++) {
    const page = picture.get(`/svc/v1/cs/history?${JSON.stringify(historyQuery(item, pageNo))}`)
    if (page === undefined) return records.reverse()
    for (const { id, opType, srcUser, publishType } of (JSON.parse(page) as HistoryPage).pageItems)
      records.push({
        id: Number(id),
        op: opType.trim(),
        by: srcUser ?? '',
        isGray: publishType !== undefined,
      })
  }
}

function contentIn(picture: Picture, item: string): string | undefined {
  return presentIn(picture.get(`/svc/v1/cs/configs?${JSON.stringify({ dataId: item, group: 'G' })}`))
}

function presentIn(content: string | undefined): string | undefined {
  return content === 'status 404' ? undefined : content
}

/** The reads of a picture as operations: of the items, and of the instances that come and go. */
export function finalReads(picture: Picture, server: number, keys: FinalKeys): Operation[] {
  const nowMs = performance.now()
  const read = (key: string, seen: string | undefined): Operation => {
    const about = { client: `final-${server}`, server, kind: 'read' as const, outcome: 'ok' as const }
    return { ...about, id: `final-${server}.${key}`, key, seen, begunMs: nowMs, endedMs: nowMs + 1 }
  }
  const list = JSON.parse(
    picture.get(`/svc/v1/ns/instance/list?${JSON.stringify({ serviceName: CHANGING })}`)!,
  ) as {
    hosts: { ip: string; port: number; weight: number }[]
  }
  const weights = new Map(list.hosts.map(({ ip, port, weight }) => [`${ip}:${port}`, String(weight)]))
  return [
    ...itemsIn(picture, keys.items).map(({ item, present }) => read(item, present)),
    ...grayItemsIn(picture, keys.grayItems).flatMap(({ item, formal, tagged }) => [
      read(item, formal),
      read(taggedKey(item), tagged),
    ]),
    ...keys.instances.map((key) => read(key, weights.get(key))),
  ]
}

/** The data read at the end. */
export interface FinalKeys {
  readonly items: readonly string[]
  readonly grayItems: readonly string[]
  readonly instances: readonly string[]
}
