import {
  NOTE_KINDS,
  PLAN_VERSION,
  SOURCE_KINDS,
  type PlanChecker,
  type PlanCluster,
  type PlanHead,
  type PlanLine,
  type PlanNote,
  type PlanSource,
  type PlanThing,
} from './plan.ts'

/** A line of a plan is not what the format says. The message names the line and the field. */
export class PlanError extends Error {}

/** Reads the value of a field. Throws a PlanError that says what the field must be. */
type Reader<T> = (value: unknown) => T

/** A reader for each field of a line. */
type Readers<T> = { readonly [Field in keyof T]-?: Reader<T[Field]> }

/** Half a surrogate pair would become another letter in UTF-8. */
const text: Reader<string> = (value) => {
  if (typeof value === 'string' && value.isWellFormed()) return value
  throw new PlanError('must be a text of whole letters')
}

const name: Reader<string> = (value) => {
  if (value !== '') return text(value)
  throw new PlanError('must be a text that is not empty')
}

const flag: Reader<boolean> = (value) => {
  if (typeof value === 'boolean') return value
  throw new PlanError('must be true or false')
}

const digits: Reader<string> = (value) => {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return value
  throw new PlanError('must be a text of 1 to 20 digits')
}

const numberOf: Reader<number> = (value) => {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new PlanError('must be a number')
}

/** The latest time that a Date can be. */
const LATEST_MS = 8_640_000_000_000_000

const time = wholeNumber(0, LATEST_MS)
const count = wholeNumber(0, Number.MAX_SAFE_INTEGER)
const port = wholeNumber(0, 65_535)

function wholeNumber(least: number, most: number): Reader<number> {
  return (value) => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)
      return value as number
    throw new PlanError(`must be a whole number from ${least} to ${most}`)
  }
}

function orNull<T>(reader: Reader<T>): Reader<T | null> {
  return (value) => (value === null ? null : reader(value))
}

function oneOf<T extends string>(words: readonly T[]): Reader<T> {
  return (value) => {
    if (words.includes(value as T)) return value as T
    throw new PlanError(`must be one of ${words.join(', ')}`)
  }
}

function listOf<T>(reader: Reader<T>): Reader<readonly T[]> {
  return (value) => {
    if (Array.isArray(value)) return value.map(reader)
    throw new PlanError('must be a list')
  }
}

function mapOf<T>(reader: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value) => {
    const entries = Object.entries(objectOf(value))
    // A key such as `__proto__` becomes a field like others.
    return Object.fromEntries(entries.map(([key, one]) => [key, inField(key, () => reader(one))]))
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new PlanError('must be an object')
}

function inField<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof PlanError) throw new PlanError(`${field} ${error.message}`)
    throw error
  }
}

/** Reads an object field by field. Fields that are not known are left out: a later version may have them. */
function fieldsOf<T>(readers: Readers<T>): Reader<T> {
  const entries = Object.entries(readers) as [string, Reader<unknown>][]
  return (value) => {
    const fields = objectOf(value)
    const read = entries.map(([field, reader]) => [field, inField(field, () => reader(fields[field]))])
    return Object.fromEntries(read) as T
  }
}

const texts = mapOf(text)

const checker: Reader<PlanChecker> = (value) => ({
  ...objectOf(value),
  type: inField('type', () => name(objectOf(value)['type'])),
})

const cluster = fieldsOf<PlanCluster>({
  name,
  checker,
  checkPort: port,
  useInstancePort: flag,
  metadata: texts,
})

const source = fieldsOf<PlanSource>({ url: name, kind: oneOf(SOURCE_KINDS), version: orNull(text) })

const ITEM = { namespace: text, group: name, dataId: name }
const CONTENT = { content: text, md5: orNull(text), encryptedDataKey: text, appName: text }
const AUTHOR = { user: orNull(text), ip: orNull(text) }

/** The line of a kind. */
type OfKind<Kind extends PlanLine['kind']> = Extract<PlanLine, { readonly kind: Kind }>

const THINGS: { readonly [Kind in PlanThing['kind']]: Readers<Omit<OfKind<Kind>, 'kind'>> } = {
  namespace: { id: name, name: text, desc: text },
  switch: { name, value: text },
  user: { username: name, passwordHash: orNull(name), enabled: flag },
  role: { username: name, role: name },
  permission: { role: name, resource: text, action: oneOf(['r', 'w', 'rw']) },
  history: {
    ...ITEM,
    ...CONTENT,
    ...AUTHOR,
    oldId: digits,
    op: oneOf(['I', 'U', 'D']),
    type: orNull(text),
    atMs: time,
  },
  config: {
    ...ITEM,
    ...CONTENT,
    ...AUTHOR,
    type: orNull(text),
    desc: orNull(text),
    use: orNull(text),
    effect: orNull(text),
    schema: orNull(text),
    tags: orNull(text),
    createdMs: orNull(time),
    modifiedMs: orNull(time),
  },
  gray: {
    ...ITEM,
    ...CONTENT,
    name,
    rule: name,
    expression: text,
    priority: orNull(numberOf),
    modifiedMs: orNull(time),
  },
  service: {
    namespace: text,
    group: name,
    name,
    protectThreshold: numberOf,
    selector: fieldsOf({ type: name, expression: text }),
    metadata: texts,
    clusters: listOf(cluster),
    ephemeral: orNull(flag),
  },
  instance: {
    namespace: text,
    group: name,
    service: name,
    cluster: name,
    ip: name,
    port,
    ephemeral: flag,
    weight: numberOf,
    enabled: flag,
    healthy: flag,
    metadata: texts,
    app: text,
    seenMs: time,
  },
}

const HEAD: Readers<Omit<PlanHead, 'kind'>> = {
  format: count,
  madeMs: time,
  sources: listOf(source),
  counts: mapOf(count),
  lastRefMs: time,
  endedMs: (value) => (value === undefined ? 0 : time(value)),
}

const NOTE: Readers<Omit<PlanNote, 'kind'>> = {
  about: name,
  name: text,
  reason: text,
  missed: (value) => (value === undefined ? undefined : flag(value)),
}

const READERS = new Map<string, Reader<object>>([
  ['plan', fieldsOf(HEAD)],
  ['end', fieldsOf({})],
  ...Object.entries(THINGS).map(([kind, readers]): [string, Reader<object>] => [
    kind,
    fieldsOf<object>(readers),
  ]),
  ...NOTE_KINDS.map((kind): [string, Reader<object>] => [kind, fieldsOf(NOTE)]),
])

/**
 * Reads a line; `number` begins at 1. The first line must be the head. Throws a PlanError that names the line. What is allowed
 * as a name, an address or a content is decided by the server, thing by thing.
 */
export function readPlanLine(line: string, number: number): PlanLine {
  const read = inField(`line ${number} of the plan:`, () => checkedLine(jsonOf(line)))
  if (number === 1 && read.kind !== 'plan')
    throw new PlanError('line 1 of the plan: kind must be plan: this is no plan, or its beginning is missing')
  if (number !== 1 && read.kind === 'plan')
    throw new PlanError(`line ${number} of the plan: kind plan is that of the first line only`)
  return read
}

/** The line with the fields that the format has. Throws a PlanError that names a field that is not as the format says. */
export function checkedLine(value: unknown): PlanLine {
  const fields = objectOf(value)
  const { kind } = fields
  const reader = READERS.get(String(kind))
  if (reader === undefined)
    throw new PlanError(
      `kind must be one of ${[...READERS.keys()].join(', ')}, but is ${shownKind(kind)}: the plan is of a later version, or damaged`,
    )
  const read = { kind, ...reader(fields) } as PlanLine
  if (read.kind === 'plan' && read.format !== PLAN_VERSION)
    throw new PlanError(`format must be ${PLAN_VERSION}, but is ${read.format}: it is of another version`)
  return read
}

function shownKind(kind: unknown): string {
  return kind === undefined ? 'missing' : JSON.stringify(kind).slice(0, 40)
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new PlanError('the line is not JSON: it may be cut')
  }
}
