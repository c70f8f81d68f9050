/** Compares two texts of JSON by the keys and the kinds of values that they have. */

/** A number as it is written: clients of some languages do not take one for the other. */
type NumberKind = 'integer' | 'decimal'

/** A text of JSON whose numbers are replaced by the way that they are written. */
export type Shape =
  | null
  | boolean
  | string
  | WrittenNumber
  | readonly Shape[]
  | { readonly [key: string]: Shape }

/** A number in a shape. */
class WrittenNumber {
  readonly kind: NumberKind

  constructor(kind: NumberKind) {
    this.kind = kind
  }
}

const DECIMAL = new WrittenNumber('decimal')
const INTEGER = new WrittenNumber('integer')
/** Texts and numbers. Texts are matched so that the digits in them are left alone. */
const SCALARS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g
const MARK = '\u0000number:'

/** The shape of a text; undefined where it is no object or list in JSON. */
export function shapeOf(text: string): Shape | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  const marked = text.replaceAll(SCALARS, (scalar) =>
    scalar.startsWith('"') ? scalar : JSON.stringify(MARK + (/[.eE]/.test(scalar) ? 'decimal' : 'integer')),
  )
  try {
    return JSON.parse(marked, (_key, value: unknown) => unmarked(value)) as Shape
  } catch {
    return undefined
  }
}

function unmarked(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith(MARK)) return value
  return value === `${MARK}decimal` ? DECIMAL : INTEGER
}

/** What `ours` lacks of `theirs`: a line for each key that is missing or of another kind. What we have besides does not count. */
export function lacksOf(theirs: Shape, ours: Shape | undefined, path = ''): string[] {
  if (ours === undefined) return [`${path} is missing`]
  // Null tells no type: this value was not known there.
  if (theirs === null) return []
  const [wanted, found] = [kindOf(theirs), kindOf(ours)]
  if (wanted !== found) return [`${path} is ${found}, not ${wanted}`]
  if (Array.isArray(theirs)) return lacksOfList(theirs as readonly Shape[], ours as readonly Shape[], path)
  if (!isObject(theirs)) return []
  return Object.entries(theirs).flatMap(([key, value]) =>
    lacksOf(value, (ours as Keyed)[key], `${path}.${key}`),
  )
}

/** Lists are in no order that both share: each of our elements must have what all of theirs have. */
function lacksOfList(theirs: readonly Shape[], ours: readonly Shape[], path: string): string[] {
  if (theirs.length === 0) return []
  if (ours.length === 0) return [`${path} is empty`]
  const common = theirs.reduce(commonOf)
  return [...new Set(ours.flatMap((element) => lacksOf(common, element, `${path}[]`)))]
}

function commonOf(a: Shape, b: Shape): Shape {
  if (!isObject(a) || !isObject(b)) return a
  return Object.fromEntries(Object.entries(a).flatMap(([key, value]) => (key in b ? [[key, value]] : [])))
}

type Keyed = Readonly<Record<string, Shape>>

function isObject(shape: Shape): shape is Keyed {
  return (
    typeof shape === 'object' && shape !== null && !Array.isArray(shape) && !(shape instanceof WrittenNumber)
  )
}

function kindOf(shape: Shape): string {
  if (shape === null) return 'null'
  if (Array.isArray(shape)) return 'list'
  if (shape instanceof WrittenNumber) return shape.kind
  return typeof shape
}
