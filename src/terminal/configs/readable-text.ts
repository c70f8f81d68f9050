import { typeOfName, typeOfWord } from '../../core/config/state/type-names.ts'
import { check } from '../../formats/check.ts'
import { findingText } from '../../formats/finding-texts.ts'
import { isWarning } from '../../formats/finding.ts'
import { DiffersError, UsageError } from '../../command/command-line.ts'
import type { ConfigItem } from '../answers.ts'
import { tell } from '../../command/standard-error.ts'
import { RefusedError } from '../server-session.ts'
import type { SvcClient } from '../session-of-flags.ts'
import { type ItemName, nameText, readItem } from './item.ts'

/** A text that somebody publishes. */
export interface NewText {
  readonly name: ItemName
  readonly content: string
  /** The type that somebody has named; undefined: the type of the item, or else of its name. */
  readonly type?: string | undefined
}

/** The flag that publishes a text which readers refuse. */
export interface ForceFlags {
  readonly force?: boolean
}

/** Throws UsageError with line and column for a text that readers of its format refuse, unless the server has it. */
export async function requireReadable(
  client: SvcClient,
  text: NewText,
  { force = false }: ForceFlags,
): Promise<void> {
  if (force) return
  const present = text.type === undefined ? await presentItem(client, text.name) : undefined
  const fault = await faultIn(text, present?.type)
  if (fault === undefined) return
  if ((present ?? (await presentItem(client, text.name)))?.content === text.content) return
  throw unreadable([fault])
}

/** The error about texts that readers refuse. */
export function unreadable(faults: readonly string[]): UsageError {
  return new UsageError(`${faults.join('\n')}\nNothing was changed. --force publishes it all the same.`)
}

/** The item that there is, as far as the caller may read it. */
async function presentItem(client: SvcClient, name: ItemName): Promise<ConfigItem | undefined> {
  try {
    return await readItem(client, name)
  } catch (error) {
    if (error instanceof DiffersError || error instanceof RefusedError) return undefined
    throw error
  }
}

/** Texts that a program completes before anything reads them. */
const TEMPLATE = /\{\{.*?\}\}|\{%.*?%\}|<%.*?%>/s
/** Parts that a program replaces: readers of many formats take them as they are. */
const REPLACED = /\$\{[^}]*\}|@[\w.-]+@/
/** Clients encrypt items of these names. */
const ENCRYPTED = /^cipher-/

/**
 * Why readers of its format refuse a text; undefined: they take it, it has no format, or it is a template. A key that
 * occurs twice, and is taken, is written to standard error.
 */
export async function faultIn(
  { name, content, type }: NewText,
  presentType = 'text',
): Promise<string | undefined> {
  const format = type === undefined ? formatOf(presentType, name.dataId) : (typeOfWord(type) ?? type)
  // Readers of the other formats drop the mark.
  const unmarked = format === 'toml' ? content : content.replace(/^\uFEFF/, '')
  const text = unmarked.replaceAll(/\r\n?/g, '\n')
  const findings = await check(format, text)
  const [first] = findings.filter((one) => !isWarning(one)).toSorted((a, b) => a.from - b.from)
  for (const finding of findings)
    if (finding.code === 'lastCounts') tell(`${nameText(name)}: ${findingText(finding)}\n`)
  if (first === undefined || TEMPLATE.test(text) || ENCRYPTED.test(name.dataId)) return undefined
  const before = text.slice(0, first.from).split('\n')
  if (REPLACED.test(text.split('\n')[before.length - 1] ?? '')) return undefined
  const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`
  return `${nameText(name)} is no valid ${format.toUpperCase()}: ${place}: ${findingText(first)}`
}

/** The format of a type. Clients of other servers publish without a type, as text: the name counts then. */
function formatOf(type: string, dataId: string): string {
  return type === 'text' || type === 'unset' ? (typeOfName(dataId) ?? type) : type
}
