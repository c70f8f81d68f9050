import type { FieldSchema, FieldValue, ParameterRules } from './parameter-field.ts'

/** Carries the type of a field's value for the compiler; absent at run time. */
declare const VALUE: unique symbol
/** Marks a field that may be absent. A symbol, so that the published schema does not contain it. */
const OPTIONAL: unique symbol = Symbol('optional')

/** One parameter: the JSON Schema that checks it and is published, and the type that a handler sees. */
export interface Schema<T extends FieldValue = FieldValue> extends FieldSchema {
  readonly [VALUE]?: T
  readonly [OPTIONAL]?: boolean
}

/** A parameter that may be absent. */
export type Optional<S extends Schema = Schema> = S & { readonly [OPTIONAL]: true }

/** Parameters by name. */
export type Properties = Readonly<Record<string, Schema>>

/** All parameters of an operation. */
export interface ObjectSchema<P extends Properties = Properties> {
  readonly type: 'object'
  readonly properties: P
  readonly required: readonly string[]
}

type ValueOf<S> = S extends { readonly [VALUE]?: infer T } ? Exclude<T, undefined> : never
type OptionalNames<P> = { [N in keyof P]: P[N] extends { readonly [OPTIONAL]: true } ? N : never }[keyof P]

/** The parameters as a handler sees them; absent optional ones are missing keys. */
export type Static<O extends ObjectSchema> =
  O extends ObjectSchema<infer P>
    ? { [N in Exclude<keyof P, OptionalNames<P>>]: ValueOf<P[N]> } & {
        [N in OptionalNames<P>]?: ValueOf<P[N]>
      }
    : never

type Keywords = Omit<FieldSchema, 'type' | 'enum'>

/** Builds the parameter schemas. Each is plain JSON Schema with the keywords of `FieldSchema`. */
export const Type = {
  String: (keywords: Keywords = {}): Schema<string> => ({ type: 'string', ...keywords }),
  Integer: (keywords: Keywords = {}): Schema<number> => ({ type: 'integer', ...keywords }),
  Number: (keywords: Keywords = {}): Schema<number> => ({ type: 'number', ...keywords }),
  Boolean: (keywords: Keywords = {}): Schema<boolean> => ({ type: 'boolean', ...keywords }),
  /** One of the words, in exactly this case. */
  Enum: <const T extends string>(words: readonly T[], keywords: Keywords = {}): Schema<T> => ({
    enum: words,
    ...keywords,
  }),
  Optional: <S extends Schema>(schema: S): Optional<S> => ({ ...schema, [OPTIONAL]: true }),
  Object: <P extends Properties>(properties: P): ObjectSchema<P> => ({
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => properties[name]?.[OPTIONAL] !== true),
  }),
}

/** Outside the dialects: values as they are, booleans by their known spellings only. */
export const PLAIN_RULES: ParameterRules = Object.freeze({ trim: false, lenientBooleans: false })

/** `/svc`: the same, bodies of a type that is not read are refused, and answers say what was trimmed. */
export const SVC_RULES: ParameterRules = Object.freeze({
  ...PLAIN_RULES,
  otherBodies: 'refused',
  saysTrimmed: true,
})

/** `/nacos` configuration, console and core: values as they are, any unreadable boolean is false. */
export const NACOS_CONFIG_RULES: ParameterRules = Object.freeze({
  trim: false,
  lenientBooleans: true,
  otherBodies: 'fields',
})

/**
 * `/nacos` naming: values trimmed, any unreadable boolean is false (http-compat.md section 0). The Python
 * client sends `None` for a cluster that its user has not named. Elsewhere it omits the parameter, so its instances
 * could not be deregistered if the word were a name.
 */
export const NACOS_NAMING_RULES: ParameterRules = Object.freeze({
  trim: true,
  lenientBooleans: true,
  absentText: 'None',
  otherBodies: 'fields',
})
