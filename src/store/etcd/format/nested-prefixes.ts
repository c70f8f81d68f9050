import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'
import { NotExaminable } from '../../local-file.ts'

/** How many keys one request reads. */
const PAGE_SIZE = 5_000
/** How many folders of others are checked below a prefix that is in use. */
const MOST_FOLDERS = 1_000
const FORMAT = 'format'

type Client = Pick<EtcdClient, 'range' | 'pages'>

/** Another installation has a prefix above or below this one: each would take the other's keys for its own. */
class NestedPrefix extends NotExaminable {
  override readonly name = 'NestedPrefix'
}

/** Refuses to begin with this prefix if another installation is above or below it. Throws {@link NestedPrefix}. */
export async function refuseNested(client: Client, keys: Keys): Promise<void> {
  const { prefix } = keys
  const [other] = [...(await above(client, prefix)), ...(await allBelow(client, prefix))]
  if (other === undefined) return
  throw new NestedPrefix(
    `Another installation uses the prefix ${other} of this etcd, which is ${other.length < prefix.length ? 'above' : 'below'} ` +
      `the prefix ${prefix}. Choose a prefix beside it, such as ${besideOf(prefix, other)}.`,
  )
}

/** The prefixes of other installations above and below one that is in use, as far as few requests find them. */
export async function nestedPrefixes(client: Client, keys: Keys): Promise<string[]> {
  const { prefix } = keys
  const below: string[] = []
  for (const folder of [...keys.folders, ...(await foldersOfOthers(client, keys))])
    if (await isInstallation(client, folder)) below.push(folder)
  return [...(await above(client, prefix)), ...below]
}

/** The same for all other installations. It reads every key below the prefix. */
export async function allNestedPrefixes(client: Client, { prefix }: Keys): Promise<string[]> {
  return [...(await above(client, prefix)), ...(await allBelow(client, prefix))]
}

async function above(client: Client, prefix: string): Promise<string[]> {
  const found: string[] = []
  for (let at = prefix.indexOf('/'); at < prefix.length - 1; at = prefix.indexOf('/', at + 1)) {
    const parent = prefix.slice(0, at + 1)
    if (await isInstallation(client, parent)) found.push(parent)
  }
  return found
}

async function allBelow(client: Client, prefix: string): Promise<string[]> {
  const found: string[] = []
  const range = { key: prefix, end: prefixEnd(prefix), pageSize: PAGE_SIZE, keysOnly: true }
  for await (const { kvs } of client.pages(range))
    for (const { key } of kvs) {
      const folder = key.slice(0, -FORMAT.length)
      if (!key.endsWith(`/${FORMAT}`) || folder === prefix) continue
      if (!found.some((one) => folder.startsWith(one)) && (await isInstallation(client, folder)))
        found.push(folder)
    }
  return found
}

/** The folders below a prefix that no key of this layout is in. Our own folders are skipped. */
async function foldersOfOthers(client: Client, keys: Keys): Promise<string[]> {
  const found: string[] = []
  for (const { key: begin, end } of keys.gaps)
    for (let key = begin; key < end && found.length < MOST_FOLDERS;) {
      const { kvs } = await client.range({ key, end, limit: 1, keysOnly: true })
      const next = kvs[0]?.key
      if (next === undefined) break
      const slash = next.indexOf('/', keys.prefix.length)
      if (slash < 0) {
        key = `${next}\0`
        continue
      }
      found.push(next.slice(0, slash + 1))
      key = prefixEnd(next.slice(0, slash + 1))
    }
  return found
}

/** Whether the key that every installation has is there. Without the permission to read it: no. */
async function isInstallation(client: Client, folder: string): Promise<boolean> {
  try {
    const { kvs } = await client.range({ key: folder + FORMAT, mayBeDenied: true })
    const text = kvs[0] && Buffer.from(kvs[0].value).toString()
    return text !== undefined && /^([1-9]\d*$|\{"copy":)/.test(text)
  } catch (error) {
    if (error instanceof EtcdError && error.kind === 'denied') return false
    throw error
  }
}

/** A prefix that is neither above nor below. */
function besideOf(prefix: string, other: string): string {
  const [upper, lower] = prefix.length < other.length ? [prefix, other] : [other, prefix]
  return `${upper.slice(0, -1)}-${lower.slice(upper.length, -1).replaceAll('/', '-')}`
}
