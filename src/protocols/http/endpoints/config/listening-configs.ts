import { isUtf8 } from 'node:buffer'
import { configKey } from '../../../../core/config/state/config-item.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { ownText } from '../../../../core/text/own-text.ts'
import type { WatchedItem } from '../../../../core/config/state/config-view.ts'
import { trimmedName } from '../../../parameters/parameter-reader.ts'
import { decodePercents } from '../../../parameters/percent-bytes.ts'
import { KnownTexts } from '../../../../core/text/known-texts.ts'

/** The name of the parameter, which is its name in every dialect. */
export const LISTENING_CONFIGS = 'Listening-Configs'

const FIELD_END = '\u0002'
const ITEM_END = '\u0001'
const LONGEST_DATA_ID = 256
const LONGEST_GROUP = 128
const LONGEST_TENANT = 128
const LONGEST_MD5 = 64
const LONGEST_ITEM = LONGEST_DATA_ID + LONGEST_GROUP + LONGEST_MD5 + LONGEST_TENANT + 3
const ALLOWED = 'items of dataId ^2 group ^2 md5 [^2 tenant] ^1 (^n: the character with code n)'

/** Some 3 MB at worst. */
const KNOWN = new KnownTexts<readonly WatchedItem[]>({ longest: 4_096, most: 64 })

/**
 * The watched items of a text, as `parseListeningConfigs` reads them. Clients that watch the same send the same text,
 * and their held polls share one list. That saves memory and, when thousands are compared, looking it up there.
 */
export function listeningConfigsOf(text: string, maxItems: number): readonly WatchedItem[] {
  const known = KNOWN.get(text)
  if (known !== undefined && known.length <= maxItems) return known
  return KNOWN.keep(text, parseListeningConfigs(text, maxItems))
}

/**
 * Reads the watched items (interface.md, Listen for configurations). Clients encode them twice or once, so they are
 * decoded here once more: no name can hold a percent sign. The text after the last ^1 was cut off on its way, and is
 * dropped. Throws Refusal `invalid-parameter` for no items, malformed or too many ones.
 */
export function parseListeningConfigs(text: string, maxItems: number): WatchedItem[] {
  const decoded = text.includes('%') ? decode(text) : text
  // An answer repeats the names, and half of a character cannot be written.
  if (!decoded.isWellFormed()) throw malformed('well-formed text', 'is not')
  const items: WatchedItem[] = []
  let start = 0
  for (let end = decoded.indexOf(ITEM_END); end >= 0; end = decoded.indexOf(ITEM_END, start)) {
    if (items.length === maxItems) throw malformed(`at most ${maxItems} items`, 'has more')
    if (end - start > LONGEST_ITEM) throw malformed(ALLOWED, 'has one that is too long')
    items.push(parseItem(decoded.slice(start, end)))
    start = end + 1
  }
  if (items.length === 0) throw malformed(ALLOWED, 'has none that is complete')
  return items
}

function parseItem(text: string): WatchedItem {
  // A piece must not keep the text of the whole request alive while the poll is held.
  const fields = ownText(text).split(FIELD_END)
  const [dataId = '', group = '', md5 = '', tenant] = fields
  // As in all requests about an item. The answer has the name as the client spells it.
  const [id, groupName] = [trimmedName(dataId), trimmedName(group)]
  const isNamed = fits(id, LONGEST_DATA_ID) && fits(groupName, LONGEST_GROUP)
  const isWhole = fields.length === 3 || (fields.length === 4 && tenant!.length <= LONGEST_TENANT)
  if (!isNamed || !isWhole) throw malformed(ALLOWED, 'has one that is not so')
  const key = configKey(toNamespaceId(tenant), groupName, id)
  return { key, md5, echo: echoOf(dataId, group, tenant) }
}

/** The name as the client spells it: an empty tenant stays an empty field, a missing one stays missing. */
function echoOf(dataId: string, group: string, tenant: string | undefined): string {
  const name = tenant === undefined ? [dataId, group] : [dataId, group, tenant]
  return name.join(FIELD_END) + ITEM_END
}

function fits(name: string, longest: number): boolean {
  return name.length > 0 && name.length <= longest
}

/** Longer texts are decoded as bytes: a text of very many percent signs would take V8 long. */
const LONGEST_TEXT = 4_096

function decode(text: string): string {
  if (text.length > LONGEST_TEXT) return decodeBytes(text)
  try {
    return decodeURIComponent(text.replace(/%(?![0-9A-Fa-f]{2})/g, '%25'))
  } catch {
    throw malformed('percent-encoded UTF-8', 'is not')
  }
}

function decodeBytes(text: string): string {
  const bytes = decodePercents(Buffer.from(text))
  if (!isUtf8(bytes)) throw malformed('percent-encoded UTF-8', 'is not')
  return bytes.toString('utf8')
}

function malformed(allowed: string, instead: string): Refusal {
  const message = `${LISTENING_CONFIGS} must be ${allowed}, but ${instead}.`
  return new Refusal('invalid-parameter', message, { parameter: LISTENING_CONFIGS, allowed })
}
