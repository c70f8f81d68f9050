import type { Finding } from './finding.ts'

/** A part of a text: places count characters. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** A value that has no others in it. */
export interface Scalar extends Range {
  readonly kind: 'scalar'
  /** The value as it is written: with its quotes, digits and escapes, but without its place, such as its indentation. */
  readonly text: string
  /** Where the text is in lines below the mark of a block of YAML. */
  readonly isBlock?: boolean
  /** The range that people may take for a part of it: for readers of YAML `#x`, `!x` and `&x` are no values. */
  readonly beside?: Range
}

/** A map, an object, a table, an element; or a list. */
export interface Collection extends Range {
  readonly kind: 'map' | 'list'
  readonly members: Member[]
  /** A tag of YAML. */
  readonly tag?: string
  /** Whether it is the text itself, which is a map without keys too. */
  readonly isText?: boolean
  /** Whether it is between brackets. */
  readonly isFlow?: boolean
}

/** A value that is written elsewhere in the text. */
export interface Alias extends Range {
  readonly kind: 'alias'
  /** Known once the text is read; undefined where the text has no such anchor. */
  readonly target: () => Tree | undefined
}

/** A value of a text, with the values in it. */
export type Tree = Scalar | Collection | Alias

/** A value in a collection. */
export interface Member {
  /** The key, decoded; in a list, the index. */
  readonly name: string
  /** The part of a path for it. */
  readonly step: string
  /** The place of the key. */
  readonly key: Range
  readonly value: Tree
  /** Whether its keys are taken into the map around it: `<<` of YAML. */
  readonly isMerge?: boolean
}

/** A value of a declaration of XML: the text of an entity, or of an attribute that elements without it have. */
export interface DeclaredValue extends Range {
  readonly name: string
  readonly kind: 'entity' | 'parameter' | 'attribute'
}

/** The result of reading a text. All places are in that text. */
export interface Reading {
  /** The documents: several in YAML alone. As much as was read, where the text is wrong. */
  readonly roots: readonly Tree[]
  readonly findings: readonly Finding[]
  readonly comments: readonly Range[]
  readonly declared?: readonly DeclaredValue[]
}

/** A key that needs no quotes in a path. */
const PLAIN_STEP = /^[^\s.[\]"'()#?@&][^\s.[\]"'()]*$/

/** The part of a path for a key: in quotes where it could be taken for another path. */
export const stepOf = (name: string): string => (PLAIN_STEP.test(name) ? name : JSON.stringify(name))

/** The part of a path for an entry of a list. */
export const stepAt = (index: number): string => `[${index}]`
