import {
  fieldsOf,
  flag,
  list,
  map,
  number,
  object,
  oneOf,
  optional,
  orNull,
  type Shape,
  ShapeError,
  type Shapes,
  wholeNumber,
  within,
} from '../core/records/shape.ts'
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

/** Half a surrogate pair would become another letter in UTF-8. */
const text: Shape<string> = (value) => {
  if (typeof value === 'string' && value.isWellFormed()) return value
  throw new ShapeError('must be a text of whole letters')
}

const name: Shape<string> = (value) => {
  if (value !== '') return text(value)
  throw new ShapeError('must be a text that is not empty')
}

const digits: Shape<string> = (value) => {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return value
  throw new ShapeError('must be a text of 1 to 20 digits')
}

/** The latest time that a Date can be. */
const LATEST_MS = 8_640_000_000_000_000

const time = wholeNumber(0, LATEST_MS)
const count = wholeNumber(0, Number.MAX_SAFE_INTEGER)
const port = wholeNumber(0, 65_535)

const texts = map(text)

const checker: Shape<PlanChecker> = (value) => ({
  ...fieldsOf(value),
  type: within('type', () => name(fieldsOf(value)['type'])),
})

const cluster = object<PlanCluster>({
  name,
  checker,
  checkPort: port,
  useInstancePort: flag,
  metadata: texts,
})

const source = object<PlanSource>({ url: name, kind: oneOf(SOURCE_KINDS), version: orNull(text) })

const ITEM = { namespace: text, group: name, dataId: name }
const CONTENT = { content: text, md5: orNull(text), encryptedDataKey: text, appName: text }
const AUTHOR = { user: orNull(text), ip: orNull(text) }

/** The line of a kind. */
type OfKind<Kind extends PlanLine['kind']> = Extract<PlanLine, { readonly kind: Kind }>

const THINGS: { readonly [Kind in PlanThing['kind']]: Shapes<Omit<OfKind<Kind>, 'kind'>> } = {
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
    priority: orNull(number),
    modifiedMs: orNull(time),
  },
  service: {
    namespace: text,
    group: name,
    name,
    protectThreshold: number,
    selector: object({ type: name, expression: text }),
    metadata: texts,
    clusters: list(cluster),
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
    weight: number,
    enabled: flag,
    healthy: flag,
    metadata: texts,
    app: text,
    seenMs: time,
  },
}

const HEAD: Shapes<Omit<PlanHead, 'kind'>> = {
  format: count,
  madeMs: time,
  sources: list(source),
  counts: map(count),
  lastRefMs: time,
  endedMs: optional(time, 0),
}

const NOTE: Shapes<Omit<PlanNote, 'kind'>> = {
  about: name,
  name: text,
  reason: text,
  missed: optional(flag),
}

const READERS = new Map<string, Shape<object>>([
  ['plan', object(HEAD)],
  ['end', object({})],
  ...Object.entries(THINGS).map(([kind, readers]): [string, Shape<object>] => [
    kind,
    object<object>(readers),
  ]),
  ...NOTE_KINDS.map((kind): [string, Shape<object>] => [kind, object(NOTE)]),
])

/**
 * Reads a line; `number` begins at 1. The first line must be the head. Throws a ShapeError that names the line. The server
 * decides, thing by thing, which names, addresses and contents it allows.
 */
export function readPlanLine(line: string, number: number): PlanLine {
  const read = within(`line ${number} of the plan:`, () => checkedLine(jsonOf(line)))
  if (number === 1 && read.kind !== 'plan')
    throw new ShapeError(
      'line 1 of the plan: kind must be plan: this is no plan, or its beginning is missing',
    )
  if (number !== 1 && read.kind === 'plan')
    throw new ShapeError(`line ${number} of the plan: kind plan is that of the first line only`)
  return read
}

/** The line with the fields of the format. Throws a ShapeError that names an invalid field. */
export function checkedLine(value: unknown): PlanLine {
  const { kind } = fieldsOf(value)
  const reader = READERS.get(String(kind))
  if (reader === undefined)
    throw new ShapeError(
      `kind must be one of ${[...READERS.keys()].join(', ')}, but is ${shownKind(kind)}: the plan is of a later version, or damaged`,
    )
  const read = { kind, ...reader(value) } as PlanLine
  if (read.kind === 'plan' && read.format !== PLAN_VERSION)
    throw new ShapeError(`format must be ${PLAN_VERSION}, but is ${read.format}: it is of another version`)
  return read
}

function shownKind(kind: unknown): string {
  return kind === undefined ? 'missing' : JSON.stringify(kind).slice(0, 40)
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new ShapeError('the line is not JSON: it may be cut')
  }
}
