import { ownText } from '../../../core/text/own-text.ts'
import type { JsonObject } from '../wire/json.ts'
import type { ClientFacts } from './client-connection.ts'

/** More or longer texts that a client says of itself are cut: they are kept as long as it is connected. */
const MOST_LABELS = 64
const LONGEST = 256
/** The most characters of all labels, with their names. */
const MOST_OF_LABELS = 8 * 1024

/** Reads the facts in a ConnectionSetupRequest; `clientIp` comes from the message. Keys of a wrong type are ignored. */
export function clientFactsOf(setup: JsonObject, clientIp: string): ClientFacts {
  const labels = labelsOf(setup['labels'])
  return {
    version: textOf(setup['clientVersion']),
    module: labels.get('module') ?? '',
    appName: labels.get('AppName') ?? '',
    clientIp: own(clientIp),
    labels,
    abilities: abilitiesOf(setup['abilityTable']),
  }
}

function labelsOf(sent: unknown): ReadonlyMap<string, string> {
  if (!isObject(sent)) return new Map()
  const texts = Object.entries(sent).filter(([, value]) => typeof value === 'string') as [string, string][]
  const labels = new Map<string, string>()
  let left = MOST_OF_LABELS
  for (const [name, value] of texts.slice(0, MOST_LABELS)) {
    left -= Math.min(name.length, LONGEST) + Math.min(value.length, LONGEST)
    if (left >= 0) labels.set(own(name), own(value))
  }
  return labels
}

/** Which abilities are true. A client that negotiates sends a table, though it may be empty. */
function abilitiesOf(sent: unknown): ReadonlySet<string> | undefined {
  if (!isObject(sent)) return undefined
  const names = Object.entries(sent).filter(([, value]) => value === true)
  return new Set(names.slice(0, MOST_LABELS).map(([name]) => own(name)))
}

function textOf(sent: unknown): string {
  return typeof sent === 'string' ? own(sent) : ''
}

function own(text: string): string {
  return ownText(text.slice(0, LONGEST))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
