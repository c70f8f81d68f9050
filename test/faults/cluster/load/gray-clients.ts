import { between } from '../../random.ts'
import { PATH_OF_ITEMS, type RecordedClient } from './clients.ts'

/** Clients with this tag get the gray version of an item, if there is one. */
export const TAG = 'x'
/** The header by which a client says its tag. */
export const TAGGED = { 'Vipserver-Tag': TAG }
/** Where gray versions are published, promoted and stopped. */
export const PATH_OF_GRAY = `${PATH_OF_ITEMS}/gray`
/** The clients that a gray version is for. */
export const RULE = { grayName: `tag_${TAG}`, grayType: 'tag', grayMatchRuleExp: TAG }

/** The view of an item for clients with the tag, as a key of recorded reads. */
export function taggedKey(item: string): string {
  return `${item}@${TAG}`
}

/**
 * Publishes some items at its server for all and for clients with the tag, promotes and stops the gray version, deletes the item, and
 * reads it with the tag and without. Each content is new.
 */
export async function grayClient(client: RecordedClient, items: readonly string[]): Promise<void> {
  const { random, home: server } = client.parts
  await client.run(async () => {
    const key = items[between(random, 0, items.length - 1)]!
    const id = client.nextId()
    const query = { dataId: key, group: 'G', src_user: id }
    const gray = { ...query, grayName: RULE.grayName }
    const about = { id, server, key }
    const choice = random()
    if (choice < 0.2)
      return client.ask({ ...about, kind: 'read' }, { method: 'GET', path: PATH_OF_ITEMS, query })
    if (choice < 0.45) {
      const request = { method: 'GET', path: PATH_OF_ITEMS, query, headers: TAGGED }
      return client.ask({ ...about, key: taggedKey(key), kind: 'read' }, request)
    }
    if (choice < 0.7) {
      const rule = { ...query, ...RULE, content: id }
      return client.ask(
        { ...about, kind: 'publish-gray', value: id },
        { method: 'POST', path: PATH_OF_GRAY, query: rule },
      )
    }
    if (choice < 0.8) {
      const request = { method: 'POST', path: PATH_OF_ITEMS, query: { ...query, content: id } }
      return client.ask({ ...about, kind: 'publish', value: id }, request)
    }
    if (choice < 0.89)
      return client.ask(
        { ...about, kind: 'promote' },
        { method: 'POST', path: `${PATH_OF_GRAY}/promote`, query: gray },
      )
    if (choice < 0.97)
      return client.ask({ ...about, kind: 'stop' }, { method: 'DELETE', path: PATH_OF_GRAY, query: gray })
    return client.ask({ ...about, kind: 'delete' }, { method: 'DELETE', path: PATH_OF_ITEMS, query })
  })
}
