import type { Client, Json } from '../../interface/client.ts'

/** The answers of a server by request, to compare before and after. */
export type Picture = ReadonlyMap<string, string>

const MOST = 500

/**
 * Reads every item with its history, the namespaces, the services and their instances; and what `earlier` has besides:
 * records whose page cannot be read are asked for one by one.
 */
export async function pictureOf(client: Client, earlier: Picture = new Map()): Promise<Picture> {
  const picture = new Map<string, string>()
  const note = async (path: string, query: Record<string, string | number>): Promise<Json> => {
    const { status, text } = await client.get(path, query)
    picture.set(`${path} ${JSON.stringify(query)}`, status === 200 ? text : `status ${status}`)
    return status === 200 && text.startsWith('{') ? JSON.parse(text) : undefined
  }
  for (let n = 0; n < MOST; n++) {
    const item = { dataId: `item.${n}`, group: 'G' }
    if ((await client.get('/cs/configs', item)).status === 404) break
    await note('/cs/configs', item)
    const page = await note('/cs/history', { search: 'accurate', ...item })
    for (const { id } of page?.pageItems ?? []) await note('/cs/history', { ...item, nid: id })
  }
  await note('/console/namespaces', {})
  await note('/ns/service/list', { pageNo: 1, pageSize: MOST })
  const list = await client.get('/ns/instance/list', { serviceName: 'kept' })
  const hosts: Json[] = list.status === 200 ? list.json().hosts : []
  for (const asked of earlier.keys()) {
    const at = asked.indexOf(' ')
    if (at > 0 && !picture.has(asked)) await note(asked.slice(0, at), JSON.parse(asked.slice(at + 1)))
  }
  picture.set('ports', JSON.stringify(hosts.map(({ ip, port }) => `${ip}:${port}`).sort()))
  return picture
}

/** The earlier answers that are missing or different now, with the current answer. */
export function differences(before: Picture, now: Picture): string[] {
  return [...before]
    .filter(([asked, answer]) => now.get(asked) !== answer)
    .map(([asked, answer]) => `${asked}: ${now.get(asked)?.slice(0, 80)} for ${answer.slice(0, 80)}`)
}
