import { KeyPattern } from '../../../core/text/key-pattern.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import { JsonValues } from '../../parameters/json-values.ts'
import { invalid } from '../../parameters/parameter-field.ts'
import type { JsonObject } from '../wire/json.ts'

/** A pattern as a client writes it: `<namespace>>><group pattern>>><name pattern>`. */
export interface SentPattern {
  /** As sent: it names the pattern in everything that is pushed. */
  readonly text: string
  /** The namespace as the client spells it; `public` where it is empty. */
  readonly namespace: string
  readonly pattern: KeyPattern
}

/** A client's request about a pattern. */
export interface FuzzyRequest {
  readonly sent: SentPattern
  /** False: it stops watching the pattern. */
  readonly isWatching: boolean
  /** The names that it knows already: they were pushed to it. */
  readonly received: ReadonlySet<string>
  /** It waits for the message that it knows everything. */
  readonly isInitializing: boolean
}

const SEPARATOR = '>>'
const PATTERN = 'groupKeyPattern'
const ALLOWED = '<namespace>>><group pattern>>><name pattern>, of at most 1024 characters'
const LONGEST_PATTERN = 1_024
/** The most names that a client may know: more than one pattern may match. */
const MOST_RECEIVED = 20_000
const LONGEST_NAME = 1_024

/** Reads a `…FuzzyWatchRequest`. Throws Refusal `invalid-parameter`. */
export function readFuzzyRequest(body: JsonObject): FuzzyRequest {
  const values = new JsonValues(body)
  return {
    sent: sentPattern(values.get(PATTERN) ?? ''),
    isWatching: values.get('watchType') !== 'CANCEL_WATCH',
    received: receivedOf(body['receivedGroupKeys']),
    isInitializing: values.get('initializing') === 'true',
  }
}

function sentPattern(text: string): SentPattern {
  const parts = text.split(SEPARATOR)
  const [sentNamespace = '', group = '', name = ''] = parts
  if (text.length > LONGEST_PATTERN || parts.length !== 3 || group === '' || name === '')
    throw invalid(PATTERN, ALLOWED, text)
  const namespaceId = toNamespaceId(sentNamespace)
  const namespace = sentNamespace === '' ? namespaceId : sentNamespace
  return { text, namespace, pattern: new KeyPattern({ namespaceId, group, name }) }
}

function receivedOf(sent: unknown): ReadonlySet<string> {
  if (sent === undefined || sent === null) return new Set()
  const allowed = `at most ${MOST_RECEIVED} names`
  const isList = Array.isArray(sent) && sent.length <= MOST_RECEIVED
  if (!isList || !sent.every(isName)) throw invalid('receivedGroupKeys', allowed, 'something else')
  return new Set(sent)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_NAME
}
