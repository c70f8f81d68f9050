/** Compares texts of JSON by their keys and by the kinds of values that these have. */

/** The type of a value. Some clients do not take an integer for a decimal number. */
type Kind = 'null' | 'boolean' | 'text' | 'integer' | 'decimal' | 'list' | 'object'

/** A text of JSON without its values: a list has what all its elements have. */
export interface Shape {
  readonly kind: Kind
  readonly keys?: ReadonlyMap<string, Shape>
  readonly elements?: readonly Shape[]
}

/** Texts and numbers. Texts are matched so that the digits in them are left alone. */
const SCALARS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g
const NUMBER = '\u0000number '

/** The shape of a text; undefined where it is no object and no list in JSON. */
export function shapeOf(text: string): Shape | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  const marked = text.replaceAll(SCALARS, (scalar) =>
    scalar.startsWith('"') ? scalar : JSON.stringify(NUMBER + (/[.eE]/.test(scalar) ? 'decimal' : 'integer')),
  )
  try {
    return shaped(JSON.parse(marked))
  } catch {
    return undefined
  }
}

function shaped(value: unknown): Shape {
  if (value === null) return { kind: 'null' }
  if (typeof value === 'boolean') return { kind: 'boolean' }
  if (typeof value === 'string') {
    if (!value.startsWith(NUMBER)) return { kind: 'text' }
    return { kind: value.endsWith('decimal') ? 'decimal' : 'integer' }
  }
  if (Array.isArray(value)) return { kind: 'list', elements: value.map(shaped) }
  const keys = Object.entries(value as object).map(([key, each]) => [key, shaped(each)] as const)
  return { kind: 'object', keys: new Map(keys) }
}

/**
 * The keys of `theirs` that `ours` lacks, as paths, each with the value there instead. Further keys of ours do not count.
 * A null of theirs tells no kind.
 */
export function lacksOf(theirs: Shape, ours: Shape | undefined, path = ''): string[] {
  const place = path === '' ? 'body' : path
  if (ours === undefined) return [`${place}: missing`]
  if (theirs.kind === 'null') return []
  if (theirs.kind !== ours.kind) return [`${place}: ${ours.kind}, not ${theirs.kind}`]
  if (theirs.elements !== undefined) return lacksOfList(theirs.elements, ours.elements ?? [], path)
  return Array.from(theirs.keys ?? [], ([key, each]) => {
    return lacksOf(each, ours.keys?.get(key), path === '' ? key : `${path}.${key}`)
  }).flat()
}

/** Both have their elements in an order of their own: each of ours must have what all of theirs have. */
function lacksOfList(theirs: readonly Shape[], ours: readonly Shape[], path: string): string[] {
  if (theirs.length === 0) return []
  if (ours.length === 0) return [`${path === '' ? 'body' : path}: empty`]
  const common = theirs.reduce(commonOf)
  return [...new Set(ours.flatMap((element) => lacksOf(common, element, `${path}[]`)))]
}

/** The common part of both. */
function commonOf(a: Shape, b: Shape): Shape {
  if (a.kind !== b.kind) return { kind: 'null' }
  if (a.keys === undefined || b.keys === undefined) return a
  const keys = Array.from(a.keys).flatMap(([key, each]) => {
    const other = b.keys?.get(key)
    return other === undefined ? [] : [[key, commonOf(each, other)] as const]
  })
  return { kind: 'object', keys: new Map(keys) }
}
